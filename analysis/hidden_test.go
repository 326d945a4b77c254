package analysis_test

import (
	"slices"
	"strings"
	"testing"

	"ompp-attach/analysis"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// stormy is a run of 10 sec on 2 threads, in tasks. Probes took cost (ns) of each thread.
func stormy(cost, processor, noCore int64) *profile.Profile {
	stats := func(thread int) profile.ThreadStats {
		return profile.ThreadStats{Thread: thread, Exec: profile.Sum{T: 10e9, C: 1}, Cost: &profile.Cost{Exec: cost},
			NoCore: &profile.Cost{Exec: noCore}}
	}
	both := []profile.ThreadStats{stats(0), stats(1)}
	root := []profile.ThreadStats{stats(0), stats(1)}
	root[0].Exec, root[1].Exec = profile.Sum{}, profile.Sum{}
	p := &profile.Profile{Threads: []profile.Thread{{TIDs: []int{1}}, {Num: 1, TIDs: []int{2}}},
		Regions: []profile.Region{{Construct: event.Parallel}, {Construct: event.TaskExec}},
		Nodes: []profile.Node{{Parent: -1, Region: -1, Stats: root}, {Parent: 0, Region: 0, Stats: both},
			{Parent: 1, Region: 1, Stats: both}}}
	p.Meta.Duration, p.Meta.UserTime = 10e9, processor
	p.Meta.Overhead = &profile.Overhead{Probes: []profile.ProbeHits{{Hits: uint64(2 * cost), Before: 1}}}
	return p
}

// Where probes took most of the time, nothing is told of the rest, as long as the rest is not so
// little for another reason.
func TestHiddenByProbes(t *testing.T) {
	for _, c := range []struct {
		what                    string
		cost, processor, noCore int64
		says                    string // empty: nothing is hidden
	}{
		{"most of the processor time", 3e9, 8e9, 0, "took 75% of the processor time."},
		{"more than there was", 3e9, 5e9, 0, "took more than all of the processor time."},
		{"half of it", 2e9, 8e9, 0, ""},
		{"of idle threads", 2e8, 5e8, 0, ""},
		{"of threads that mostly lacked a core", 2e8, 5e8, 95e8, "took 80% of the processor time."},
		{"of the wall time, while others spin", 8e9, 200e9, 0, "took 80% of the wall time."},
		{"of threads that never had a core, by another clock", 0, 0, 10e9 + 1e3, ""},
	} {
		p := stormy(c.cost, c.processor, c.noCore)
		if got := analysis.HiddenByProbes(p); got != nil {
			t.Errorf("%s: times as measured: %s", c.what, got.Says())
		}
		got := analysis.HiddenByProbes(analysis.Adjust(p))
		if got == nil || c.says == "" {
			if (got == nil) != (c.says == "") {
				t.Errorf("%s: %+v", c.what, got)
			}
			continue
		}
		if says := got.Says(); !strings.Contains(says, c.says) || !strings.Contains(says, "--disable task ") {
			t.Errorf("%s: %s", c.what, says)
		}
	}
}

// All findings but the lack of cores are left out then.
func TestHiddenFindings(t *testing.T) {
	p := stormy(2e8, 5e8, 95e8)
	p.Nodes[1].Stats[0].Barrier.T = 2e8
	f := analysis.Disjoint.Findings(analysis.Adjust(p))
	if len(f.Hold) != 1 || f.Hold[0].Name != analysis.WaitForCore {
		t.Errorf("%+v", f)
	}
}

// Constructs and MPI operations are named until they have most of the cost. Counts are said to be
// exact only if they are.
func TestHiddenSays(t *testing.T) {
	p := stormy(3e9, 8e9, 0)
	for i, c := range []struct {
		region profile.Region
		cost   int64
	}{{profile.Region{Construct: event.MPI, Name: "MPI_Test"}, 12e8}, {profile.Region{Construct: event.Lock}, 13e8},
		{profile.Region{Construct: event.MPI, Name: "MPI_Testsome"}, 5e8}, {profile.Region{Construct: event.MPI, Name: "MPI_Send"}, 1e7}} {
		p.Regions = append(p.Regions, c.region)
		p.Nodes = append(p.Nodes, profile.Node{Parent: 1, Region: 2 + i, Stats: []profile.ThreadStats{{Cost: &profile.Cost{Exec: c.cost}}}})
	}
	// What PARALLEL took cannot be left out: it is little here.
	p.Nodes[1].Stats[0].Cost, p.Nodes[1].Stats[1].Cost, p.Nodes[2].Stats = &profile.Cost{Exec: 1e8}, nil, nil
	p.Nodes[0].Stats[0].Cost, p.Nodes[0].Stats[1].Cost = p.Nodes[1].Stats[0].Cost, nil
	h := analysis.HiddenByProbes(analysis.Adjust(p))
	if h == nil || !strings.Contains(h.Says(), "Counts are exact. Measure again with --disable lock,MPI_Test,MPI_Testsome for") {
		t.Fatalf("%+v", h)
	}
	p.Meta.MPI = &profile.MPIJob{Rank: 3}
	if h := analysis.HiddenByProbes(analysis.Adjust(p)); !strings.Contains(h.Says(), "on rank 3. That rank's counts are exact. Measure") {
		t.Errorf("of a job: %s", h.Says())
	}
	p.Meta.Observations = []profile.Observation{{}}
	if h := analysis.HiddenByProbes(analysis.Adjust(p)); strings.Contains(h.Says(), "exact") {
		t.Errorf("not all was observed: %s", h.Says())
	}
	p.Meta.Observations, p.Meta.LostHits = nil, 1
	if h := analysis.HiddenByProbes(analysis.Adjust(p)); strings.Contains(h.Says(), "exact") {
		t.Errorf("hits were lost: %s", h.Says())
	}
}

// The cost that probes of a construct take outside of the construct is that of the construct, as
// far as the executions around do not account for the cost. So it is with all of the cost of
// constructs that are only counted.
func TestHiddenByInner(t *testing.T) {
	for _, c := range []struct {
		what           string
		inner          event.Construct
		inside, chunks int64 // cost within the inner construct; executions of the loop's body
		want           []string
	}{
		{"counted only", event.Atomic, 0, 1, []string{"atomic"}},
		{"half of the cost around", event.Lock, 2e9, 1, []string{"lock"}},
		{"the loop's own", event.Lock, 1e8, 1e6, []string{"loop"}},
		{"of PARALLEL, which cannot be left out", event.Parallel, 2e9, 1, nil},
	} {
		p := stormy(3e9, 8e9, 0)
		stats := func(own, inside int64, executions, bodies uint64) []profile.ThreadStats {
			return []profile.ThreadStats{{Exec: profile.Sum{C: executions}, Body: profile.Sum{C: bodies},
				Cost: &profile.Cost{Exec: own + inside, Child: inside}}}
		}
		p.Regions[1].Construct = event.Loop
		p.Regions = append(p.Regions, profile.Region{Construct: c.inner})
		p.Nodes[1].Stats = stats(0, 3e9+c.inside, 1, 1)
		p.Nodes[2].Stats = stats(3e9, c.inside, 1, uint64(c.chunks))
		p.Nodes = append(p.Nodes, profile.Node{Parent: 2, Region: 2, Stats: stats(c.inside, 0, 1e6, 1e6)})
		p.Meta.Overhead.Probes = []profile.ProbeHits{{Hits: 6e6, Before: 700, After: 300}}
		if got := analysis.HiddenByProbes(analysis.Adjust(p)); got == nil || !slices.Equal(got.Disable, c.want) {
			t.Errorf("%s: %+v, want %v", c.what, got, c.want)
		}
	}
}

// Of the cost of teams, workers share hits of the primary thread. That does not lessen the cost
// that the primary thread has outside of regions, by locks there.
func TestHiddenOutside(t *testing.T) {
	p := stormy(3e9, 8e9, 0)
	p.Regions[1].Construct = event.Lock
	p.Nodes[2].Parent, p.Nodes[2].Stats = 0, slices.Clone(p.Nodes[2].Stats)
	// Of the root, of PARALLEL, of LOCK; by thread.
	for i, cost := range [][2]int64{{4e9, 1e8}, {2e8, 3e9}, {1e9, 0}} {
		for thread := range cost {
			s := &p.Nodes[i].Stats[thread]
			s.Cost, s.NoCore = &profile.Cost{Exec: cost[thread]}, nil
		}
	}
	p.Nodes[2].Stats[0].Exec.C = 1e6
	p.Meta.Overhead.Probes = []profile.ProbeHits{{Hits: 6e6, Before: 700, After: 300}}
	if got := analysis.HiddenByProbes(analysis.Adjust(p)); got == nil || !slices.Equal(got.Disable, []string{"lock"}) {
		t.Errorf("%+v", got)
	}
}
