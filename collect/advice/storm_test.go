package advice

import (
	"math"
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
			r := NewRates(costs)
			over := false
			for at := uint64(1); at < 3e9 && !over; at += tc.every {
				over = r.Add(&event.Event{Time: at, TID: 1, Construct: event.Critical, Probe: event.ProbeEmulated})
			}
			if !over {
				t.Error("still looking")
			}
			said := r.Sentence(math.MaxInt64)
			if len(tc.want) == 0 && said != "" {
				t.Errorf("said %q", said)
			}
			for _, w := range tc.want {
				if !strings.Contains(said, w) {
					t.Errorf("%q does not say %q", said, w)
				}
			}
		})
	}
}

// A budget takes no probes away of MPI calls and parallel regions, and the advice does not say so.
func TestBudgetOfStorms(t *testing.T) {
	costs := &event.HitCosts{}
	costs.Kinds[event.ProbeEmulated] = event.HitCost{Before: 400, After: 300}
	for _, c := range []struct {
		other event.Construct
		every uint64 // of so many hits, one is of the other construct
		want  string
	}{
		{event.Critical, 1, "; --max-overhead 5% keeps the cost below 5%"},
		{event.MPI, 100, "; --max-overhead 5% keeps the cost below 5%"},
		{event.MPI, 10, "; --max-overhead does not bound the cost of MPI calls and parallel regions, 7% of all threads' time here; reports"},
		{event.Parallel, 2, "; --max-overhead does not bound the cost of MPI calls and parallel regions, 35% of all threads' time here; reports"},
	} {
		r := NewRates(costs)
		for i := uint64(0); ; i++ {
			ev := &event.Event{Time: 1 + 1000*i, TID: 1, Construct: event.Critical, Probe: event.ProbeEmulated}
			if i%c.every == 0 {
				ev.Construct = c.other
			}
			if r.Add(ev) {
				break
			}
		}
		if said := r.Sentence(math.MaxInt64); !strings.Contains(said, c.want) {
			t.Errorf("%v, one of %d: %q does not say %q", c.other, c.every, said, c.want)
		}
	}
}

// TestDearFunctions: in a storm, the functions of levels that take most are named, with what leaves
// them out.
func TestDearFunctions(t *testing.T) {
	costs := &event.HitCosts{}
	costs.Kinds[event.ProbeEmulated] = event.HitCost{Before: 400, After: 300}
	r := NewRates(costs)
	r.Function = func(fn uint64) (name, without string) {
		return map[uint64]string{1: "blas: ddot_", 2: "blas: dgemm_"}[fn], "leave it out"
	}
	for i := uint64(0); ; i++ {
		fn := uint64(1) // nine of ten hits; of the others, one in two hundred is dgemm_
		if i%10 == 0 {
			fn = 3 // of no level
		}
		if i%200 == 0 {
			fn = 2
		}
		if r.Add(&event.Event{Time: 1 + 1000*i, TID: 1, Construct: event.UserRegion, Probe: event.ProbeEmulated, Fn: fn}) {
			break
		}
	}
	said := r.Sentence(math.MaxInt64)
	if want := "blas: ddot_ takes 63% by itself (900000 hits): leave it out; "; !strings.Contains(said, want) || strings.Contains(said, "dgemm_") {
		t.Errorf("%q does not say %q alone", said, want)
	}
}

// A budget is each thread's. MPI calls of one thread may exceed it, though they take less than that
// share of all threads' time.
func TestBudgetOfOneThread(t *testing.T) {
	costs := &event.HitCosts{}
	costs.Kinds[event.ProbeEmulated] = event.HitCost{After: 700}
	r := NewRates(costs)
	for at := uint64(1); ; at += 1000 {
		ended := false
		for tid := range uint32(8) {
			ev := &event.Event{Time: at, TID: 1 + tid, Construct: event.Critical, Probe: event.ProbeEmulated}
			if tid == 0 && at%3000 == 1 { // 23 % of this thread's time, 3 % of all
				ev.Construct = event.MPI
			}
			ended = ended || r.Add(ev)
		}
		if ended {
			break
		}
	}
	if said := r.Sentence(math.MaxInt64); !strings.Contains(said, "does not bound the cost of MPI calls and parallel regions, 3% of all threads' time here") {
		t.Errorf("%q", said)
	}
}

// Hits take no more time than the process had, and threads no more than their own.
func TestStormWithinItsTime(t *testing.T) {
	for _, tc := range []struct {
		name  string
		cost  int64 // of a hit, by the calibration; there is one each 1000 ns
		most  int64
		want  []string
		never string
	}{
		{"as calibrated", 700, 8e8, []string{"probes take 70% of"}, "calibration"},
		{"more than the processor time", 700, 6e8, []string{"probes take at most about 60% of", "critical 60% (1000001 hits)", "--disable critical saves up to 60%",
			"by the calibration it would be more, but the process had time for only 0.86 of that"}, "70%"},
		{"no storm by the processor time", 700, 4e8, nil, "probes"},
		{"more than all of the threads' time", 2000, math.MaxInt64, []string{"probes take at most about 100% of", "only 0.50 of that"}, "200%"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			costs := &event.HitCosts{}
			costs.Kinds[event.ProbeEmulated] = event.HitCost{After: tc.cost}
			r := NewRates(costs)
			for at := uint64(1); !r.Add(&event.Event{Time: at, TID: 1, Construct: event.Critical, Probe: event.ProbeEmulated}); at += 1000 {
			}
			said := r.Sentence(tc.most)
			for _, w := range tc.want {
				if !strings.Contains(said, w) {
					t.Errorf("%q does not say %q", said, w)
				}
			}
			if len(tc.want) == 0 && said != "" || strings.Contains(said, tc.never) {
				t.Errorf("said %q", said)
			}
		})
	}
}
