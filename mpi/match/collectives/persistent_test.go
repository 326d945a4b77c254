package collectives_test

import (
	"strings"
	"testing"

	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/matchtest"
)

// TestPersistent: persistent collective operations are matched by the order in which their requests
// were made. The order in which they are started does not matter.
func TestPersistent(t *testing.T) {
	prepared := func(c *match.Call) { c.Untold = true }
	rank := func(first, second uint64, at ...uint64) []match.Call {
		names := map[uint64]string{1: "Barrier_init", 2: "Allreduce_init"}
		return []match.Call{call(names[1], 1, 2, as(1), prepared), call(names[2], 2, 3, as(2), prepared),
			call(names[first], at[0], at[0], as(first)), call(names[second], at[1], at[1], as(second)), call("Waitall", at[2], at[3], of(1, 2)), call("Barrier", at[4], at[5])}
	}
	logs := func() []*match.RankCalls {
		return world(rank(1, 2, 10, 11, 12, 31, 32, 35), rank(2, 1, 20, 30, 31, 32, 33, 34))
	}
	r := matchtest.Run(logs())
	if n := r.Collectives; n.Calls != 6 || n.Matched != 6 {
		t.Errorf("%+v", n)
	}
	if got, want := show(r.Waits), "barrier 0@12<1@30 18 x1; barrier 0@32<1@33 1 x1; barrier done 0@32 1 x1"; got != want {
		t.Errorf("%s, not %s", got, want)
	}
	// The requests were made before the ranks were attached to.
	late := logs()
	for _, l := range late {
		list := l.Threads[0].(*match.List)
		*list = (*list)[2:]
		attached(l).Start = match.Start{Known: true}
	}
	if n := matchtest.Run(late).Collectives; n.Calls != 6 || n.Matched != 2 || n.Left[match.OldRequest] != 4 {
		t.Errorf("%+v", n)
	}
	// The first request was freed, and its handle is that of a request on an older communicator.
	reused := func(old bool) []*match.RankCalls {
		calls := func(at uint64) []match.Call {
			return []match.Call{call("Barrier_init", 1, 2, as(1), prepared), call("Barrier", 3, 4), call("Barrier_init", 5, 6, as(1), prepared, comm(1)),
				call("Barrier_init", at, at, as(1), comm(1)), call("Wait", at, 60, of(1))}
		}
		logs := world(calls(10), calls(50))
		for rank, l := range logs {
			l.Comms = append(l.Comms, match.Comm{Name: "pair", Size: 2, Rank: int32(rank), Old: old})
		}
		return logs
	}
	if r := matchtest.Run(reused(true)); r.Collectives.Matched != 2 || r.Collectives.Left[match.OldComm] != 2 || strings.Contains(show(r.Waits), "@10") {
		t.Errorf("%+v, %s", r.Collectives, show(r.Waits))
	}
	if r := matchtest.Run(reused(false)); r.Collectives.Matched != 4 || show(r.Waits) != "barrier 0@10<1@50 40 x1" {
		t.Errorf("%+v, %s", r.Collectives, show(r.Waits))
	}
	// Rank 1 has made one request only.
	short := logs()
	list := short[1].Threads[0].(*match.List)
	*list = append((*list)[:1:1], (*list)[5:]...)
	if n := matchtest.Run(short).Collectives; n.Calls != 4 || n.Matched != 2 || n.Left[match.NoPartner] != 2 {
		t.Errorf("%+v", n)
	}
}

// TestSparse: in MPI_Alltoallv, a rank may exchange data with only some of the others. If one rank
// left before the last one came, it is not known that anybody waited.
func TestSparse(t *testing.T) {
	dense := matchtest.Run(world([]match.Call{call("Alltoallv", 0, 9)}, []match.Call{call("Alltoallv", 5, 8)}, []match.Call{call("Alltoallv", 7, 8)}))
	if got, want := show(dense.Waits), "nxn 0@0<2@7 7 x1; nxn 1@5<2@7 2 x1; nxn done 0@0 1 x1"; got != want {
		t.Errorf("%s, not %s", got, want)
	}
	sparse := matchtest.Run(world([]match.Call{call("Alltoallv", 0, 6)}, []match.Call{call("Alltoallv", 5, 6)}, []match.Call{call("Alltoallv", 7, 8)}))
	if got := show(sparse.Waits); sparse.Collectives.Matched != 3 || strings.Contains(got, "nxn 0") || strings.Contains(got, "nxn 1") {
		t.Errorf("%+v, %s", sparse.Collectives, got)
	}
}
