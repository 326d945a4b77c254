package critical

import (
	"maps"
	"testing"

	"ompp-attach/mpi"
	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/reader"
)

// TestBegunOperations: MPI_Startall begins two operations, which have no call site. The rank works
// for 90 ns before MPI_Startall, which takes 3 ns, and for 5 ns before its next call. The work of
// 90 ns is told before MPI_Startall. If an older version recorded the log, this work is told before
// the next call.
func TestBegunOperations(t *testing.T) {
	for _, old := range []bool{true, false} {
		checkBegun(t, old)
	}
}

func checkBegun(t *testing.T, old bool) {
	t.Helper()
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
	all := match.Call{Op: op("Startall"), Start: 100, End: 103, To: mpi.NoPeer, From: mpi.NoPeer, Site: 3}
	calls := []match.Call{meet(0), begun(1), begun(2), all, wait, meet(200)}
	if old {
		calls = append(calls[:3:3], calls[4:]...)
	}
	logs := logsOf(calls, []match.Call{meet(0), recv(20), recv(30), meet(150)})
	p := New(logs, func(rank, site int) int {
		if rank == 0 && site == 1 {
			return -1
		}
		return site
	})
	reader.RunWith(logs, nil, p)
	r := p.Finish()
	before := map[Stretch]int64{}
	for s, n := range r.Stretches {
		if s.Rank == 0 && s.Site >= 2 {
			before[s] = n
		}
	}
	want := map[Stretch]int64{{0, 3, 0}: 90, {0, 2, 3}: 2}
	if old {
		want = map[Stretch]int64{{0, 2, 0}: 90, {0, 2, -1}: 5}
	}
	if !maps.Equal(before, want) || !old && r.Times[Place{0, 3, true}].Path != 3 {
		t.Errorf("old %t: %v, %+v", old, r.Stretches, r.Times)
	}
	for at, x := range r.Times {
		if at.Rank == 0 && at.Site == 1 && x.Path > 0 {
			t.Errorf("%d ns at operations without a place", x.Path)
		}
	}
}
