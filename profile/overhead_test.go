package profile

import (
	"math"
	"testing"
)

// Hits take no more of a process than it had processor time.
func TestCostWithinProcessorTime(t *testing.T) {
	const sec = 1e9
	for _, c := range []struct {
		hits uint64 // of 1 us
		want float64
	}{{0, 0}, {14.5e6, 2}, {58e6, 0.5}} {
		o := Overhead{Probes: []ProbeHits{{Probe: "call", Hits: c.hits, Before: 600, After: 400}}}
		o.Bound(math.MaxInt64)
		if o.AtMost != 0 {
			t.Errorf("at most %f times as long, which is not known", o.AtMost)
		}
		o.Bound(MostInHits(29 * sec))
		if o.AtMost < c.want*0.95 || o.AtMost > c.want*1.05 {
			t.Errorf("%d hits took at most %f times as long, want %f", c.hits, o.AtMost, c.want)
		}
	}
}
