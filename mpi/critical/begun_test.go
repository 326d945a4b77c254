package critical

import (
	"maps"
	"testing"

	"ompp-attach/mpi"
	"ompp-attach/mpi/match"
)

// TestBegunOperations: MPI_Startall begins two operations, which have no place. The work before
// them is told before the rank's next call: 90 ns, and 5 ns until that call.
func TestBegunOperations(t *testing.T) {
	meet := func(at uint64) match.Call {
		return match.Call{Op: op("Barrier"), Start: at, End: at + 10, To: mpi.NoPeer, From: mpi.NoPeer, Comm: 0}
	}
	begun := func(request uint64) match.Call {
		return match.Call{Op: op("Isend"), Start: 100, End: 100, To: 1, From: mpi.NoPeer, Sends: true, Later: true, Request: request, Site: 1}
	}
	recv := func(at uint64) match.Call {
		return match.Call{Op: op("Recv"), Start: at, End: at + 1, To: mpi.NoPeer, From: 0, Receives: true, Site: 1}
	}
	wait := match.Call{Op: op("Waitall"), Start: 105, End: 110, To: mpi.NoPeer, From: mpi.NoPeer, Completes: []uint64{1, 2}, Site: 2}
	logs := logsOf([]match.Call{meet(0), begun(1), begun(2), wait, meet(200)}, []match.Call{meet(0), recv(20), recv(30), meet(150)})
	p := New(logs, func(rank, site int) int {
		if rank == 0 && site == 1 {
			return -1
		}
		return site
	})
	match.RunWith(logs, nil, p)
	r := p.Finish()
	before := map[Stretch]int64{}
	for s, n := range r.Stretches {
		if s.Rank == 0 && s.Site == 2 {
			before[s] = n
		}
	}
	if want := map[Stretch]int64{{0, 2, 0}: 90, {0, 2, -1}: 5}; !maps.Equal(before, want) || r.Times[Place{0, 2, false}].Path != 95 {
		t.Errorf("%v, %+v", r.Stretches, r.Times)
	}
	for at, x := range r.Times {
		if at.Rank == 0 && at.Site == 1 && x.Path > 0 {
			t.Errorf("%d ns at operations without a place", x.Path)
		}
	}
}
