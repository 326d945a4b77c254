package analysis_test

import (
	"testing"

	"ompp-attach/analysis"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// A loop that leaves a thread without work mostly has too few iterations, or one that is too long.
func TestStarving(t *testing.T) {
	for _, c := range []struct {
		what      string
		construct event.Construct
		bodies    []int64
		want      bool
	}{
		{"one iteration", event.Loop, []int64{0, 1e9}, true},
		{"three iterations on four threads", event.ParallelLoop, []int64{5e8, 5e8, 5e8, 1e4}, true},
		{"uneven", event.Loop, []int64{1e9, 1e8}, false},
		{"one thread", event.Loop, []int64{1e9}, false},
		{"never executed", event.Loop, []int64{0, 0}, false},
		{"no loop", event.Sections, []int64{0, 1e9}, false},
	} {
		p := &profile.Profile{Regions: []profile.Region{{Construct: c.construct}},
			Nodes: []profile.Node{{Parent: -1, Region: -1}, {Region: 0}}}
		for i, body := range c.bodies {
			p.Threads = append(p.Threads, profile.Thread{Num: i})
			p.Nodes[1].Stats = append(p.Nodes[1].Stats, profile.ThreadStats{Thread: i, Exec: profile.Sum{T: 1e9, C: 1}, Body: profile.Sum{T: body, C: 1}})
		}
		if got := analysis.Starving(p)[0]; got != c.want {
			t.Errorf("%s: %t", c.what, got)
		}
	}
}
