package collect

import (
	"strings"
	"testing"

	"ompp-attach/event"
)

func TestStorm(t *testing.T) {
	costs := &event.HitCosts{}
	costs.Kinds[event.ProbeEmulated] = event.HitCost{Before: 400, After: 300}
	for _, tc := range []struct {
		name  string
		every uint64 // ns between a thread's hits
		want  []string
	}{
		{"a storm", 1000, []string{"take 70%", "critical 70% (1000001 hits)", "--disable critical saves 70%"}},
		{"half a storm", 2000, nil},
		{"a thread's few hits", 10000, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := &Process{pid: 7, rates: newRates(costs)}
			var said []string
			say := func(s string) { said = append(said, s) }
			for at := uint64(1); at < 3e9; at += tc.every {
				p.watchRates(&event.Event{Time: at, TID: 1, Construct: event.Critical, Probe: event.ProbeEmulated}, say)
			}
			if p.rates != nil {
				t.Error("still looking")
			}
			if len(tc.want) == 0 {
				if len(said) > 0 {
					t.Errorf("said %q", said)
				}
				return
			}
			if len(said) != 1 {
				t.Fatalf("said %q", said)
			}
			for _, w := range append(tc.want, "process 7") {
				if !strings.Contains(said[0], w) {
					t.Errorf("%q does not say %q", said[0], w)
				}
			}
		})
	}
}
