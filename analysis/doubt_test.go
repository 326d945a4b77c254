package analysis

import (
	"testing"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// waiting is a region of two threads. One waits at the end for the other.
func waiting(t *testing.T, wait, probes int64) *profile.Profile {
	p := profileOf(t, 1000, two, []event.Construct{event.Parallel, event.TaskWait}, []profile.Node{
		{Parent: 0, Region: 0, Stats: []stats{
			{Exec: span(1000, 1), Body: span(1000-wait, 1), Barrier: span(wait, 1), Child: 100},
			{Thread: 1, Exec: span(1000, 1), Body: span(1000, 1), Cost: &profile.Cost{Exec: probes, Body: probes}}}},
		{Parent: 1, Region: 1, Stats: []stats{{Exec: span(100, 1), Barrier: span(100, 1)}}},
	})
	p.Meta.Overhead = &profile.Overhead{Probes: []profile.ProbeHits{{Probe: "emulated", Hits: 1, Before: probes}}}
	return p
}

// Only those findings are left out that probes may have made.
func TestFindingsOfProbes(t *testing.T) {
	for _, c := range []struct {
		name           string
		wait, probes   int64
		hold, doubtful int
	}{
		{"hardly any probes", 400, 10, 2, 0},
		{"probes may have made all of the waiting", 400, 700, 0, 2},
		{"the waiting is more than probes can have made", 900, 300, 1, 1},
	} {
		p := waiting(t, c.wait, c.probes)
		hold, doubtful := Properties(p), Disjoint.Findings(p).Probe
		if len(hold) != c.hold || len(doubtful) != c.doubtful {
			t.Errorf("%s: %+v hold, %+v are left out", c.name, hold, doubtful)
		}
		if much := MuchProbed(p); (len(much) > 0) != (c.probes > 200) {
			t.Errorf("%s: %+v", c.name, much)
		}
	}
}

func TestProbeCostBySamples(t *testing.T) {
	for _, c := range []struct {
		name          string
		unit          string
		count, weight uint64
		want          int64
	}{
		{"no samples", "ns", 0, 0, 700},
		{"clearly more", "ns", 1000, 1400, 1400},
		{"more, by too few", "ns", 30, 1400, 700},
		{"as much", "ns", 1000, 750, 700},
		{"less, for some were lost", "ns", 1000, 300, 700},
		{"another event", "", 1000, 1400, 700},
	} {
		p := waiting(t, 400, 700)
		p.Meta.Sampling = &profile.Sampling{Unit: c.unit}
		p.Samples = []profile.Sample{{Node: 1, Phase: profile.PhaseProbe, Count: c.count, Weight: c.weight}, {Node: 1, Phase: profile.PhaseBody, Count: 9, Weight: 9}}
		if got := ProbeCost(p); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
		p.Threads[1].Root = 1 // an initial thread, whose end is not another one's
		p.Threads[1].Num = 0
		if got := Adjust(p).Nodes[1].Stats[1].Exec.T; got != 1000-min(c.want, 1000) {
			t.Errorf("%s: %d ns are left", c.name, got)
		}
	}
}

// Where the process had too little processor time for the calibrated cost of hits, all costs are
// lower: in the sum, in the times of regions and waits, and in MPI calls.
func TestProbeCostByProcessorTime(t *testing.T) {
	for _, c := range []struct {
		name   string
		atMost float64
		weight uint64 // of samples in probes
		want   int64
	}{
		{"no bound", 0, 0, 600},
		{"half as long", 0.5, 0, 300},
		{"half as long, though samples say more", 0.5, 1200, 300},
		{"time for more", 2, 0, 600},
	} {
		p := waiting(t, 400, 600)
		p.Meta.Overhead.AtMost = c.atMost
		p.Meta.Sampling = &profile.Sampling{Unit: "ns"}
		p.Samples = []profile.Sample{{Node: 1, Phase: profile.PhaseProbe, Count: 1000, Weight: c.weight}}
		first, second := &p.Nodes[1].Stats[0], &p.Nodes[1].Stats[1]
		first.Cost = &profile.Cost{Exec: 200, Barrier: 200, Wait: 200}
		second.MPI = &profile.MPIStats{T: 500, Cost: 100}
		if got := ProbeCost(p); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
		p.Threads[1].Root = 1 // an initial thread, whose end is not another one's
		p.Threads[1].Num = 0
		share := func(cost int64) int64 { return cost * c.want / 600 }
		a := Adjust(p).Nodes[1].Stats
		if got, want := a[1].Exec.T, 1000-share(600); got != want {
			t.Errorf("%s: %d ns are left, want %d", c.name, got, want)
		}
		if got, want := a[0].Barrier.T, 400-share(200); got != want {
			t.Errorf("%s: %d ns of the wait are left, want %d", c.name, got, want)
		}
		if got, want := a[1].MPI.T, 500-share(100); got != want {
			t.Errorf("%s: %d ns of MPI are left, want %d", c.name, got, want)
		}
	}
}

// Where samples say that hits took longer, time in MPI loses as much as the call's region does.
func TestProbeCostOfCallsBySamples(t *testing.T) {
	p := waiting(t, 400, 600)
	p.Meta.Sampling = &profile.Sampling{Unit: "ns"}
	p.Samples = []profile.Sample{{Node: 1, Phase: profile.PhaseProbe, Count: 1000, Weight: 900}}
	p.Nodes[1].Stats[1].MPI = &profile.MPIStats{T: 500, Cost: 100}
	if got := Adjust(p).Nodes[1].Stats[1].MPI.T; got != 500-150 {
		t.Errorf("%d ns of MPI are left, want 350", got)
	}
}
