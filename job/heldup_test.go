package job

import (
	"testing"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// In each team, the thread that lacked a core for longest holds up the others. Time in MPI, and of
// workers outside of teams, does not count.
func TestHeldUp(t *testing.T) {
	lack := func(thread int, ns, inMPI int64) profile.ThreadStats {
		return profile.ThreadStats{Thread: thread, NoCore: &profile.Cost{Exec: ns}, MPI: &profile.MPIStats{NoCore: inMPI}}
	}
	team := profile.Region{Construct: event.Parallel}
	p := &profile.Profile{
		Threads: []profile.Thread{{Num: 0}, {Num: 1}, {Num: 2}},
		Regions: []profile.Region{team, team, {Construct: event.Loop}},
		Nodes: []profile.Node{
			// The initial thread: 5 outside of teams, after 7 in MPI.
			{Region: -1, Parent: -1, Stats: []profile.ThreadStats{lack(0, 5+7+20, 7), lack(1, 5000, 0), lack(2, 5000, 0)}},
			{Region: 0, Parent: 0, Stats: []profile.ThreadStats{lack(0, 10, 0), lack(1, 300, 0), lack(2, 100, 0)}},
			{Region: 1, Parent: 0, Stats: []profile.ThreadStats{lack(0, 10, 0), lack(1, 200, 0), lack(2, 4000, 1000)}},
			{Region: 2, Parent: 1, Stats: []profile.ThreadStats{lack(1, 300, 0)}},
			{Region: 0, Parent: 2, Stats: []profile.ThreadStats{lack(1, 200, 0)}},
		},
	}
	if got := heldUp(p); got != 5+300+3000 {
		t.Errorf("%d ns", got)
	}
	if got := heldUp(&profile.Profile{Nodes: []profile.Node{{Region: -1, Parent: -1}}}); got != 0 {
		t.Errorf("%d ns of nothing", got)
	}
}
