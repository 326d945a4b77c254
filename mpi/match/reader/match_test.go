package reader_test

import (
	"testing"

	"ompp-attach/mpi"
	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/reader"
)

// TestVectors are cases whose waits follow from the definitions.
func TestVectors(t *testing.T) {
	for _, c := range []struct {
		name  string
		ranks [][]match.Call
		want  string
	}{
		{"barrier", [][]match.Call{{call("Barrier", 0, 6)}, {call("Barrier", 3, 6)}, {call("Barrier", 5, 7)}},
			"barrier 0@0<2@5 5 x1; barrier 1@3<2@5 2 x1; barrier done 2@5 1 x1"},
		{"N x N", [][]match.Call{{call("Allreduce", 0, 6)}, {call("Allreduce", 3, 6)}, {call("Allreduce", 5, 7)}},
			"nxn 0@0<2@5 5 x1; nxn 1@3<2@5 2 x1; nxn done 2@5 1 x1"},
		{"N x N, one receives nothing", [][]match.Call{{call("Alltoall", 0, 6, nothing)}, {call("Alltoall", 3, 6)}, {call("Alltoall", 5, 7, sendsOnly)}},
			"nxn 1@3<2@5 2 x1"},
		{"late broadcast", [][]match.Call{{call("Bcast", 10, 11, root(0))}, {call("Bcast", 4, 12, root(0))}, {call("Bcast", 11, 13, root(0))}, {call("Bcast", 2, 9, root(0))}},
			"late broadcast 1@4<0@10 6 x1; late broadcast 3@2<0@10 7 x1"},
		{"early reduce", [][]match.Call{{call("Reduce", 0, 10, root(0))}, {call("Reduce", 4, 10, root(0))}, {call("Reduce", 9, 10, root(0))}},
			"early reduce 0@0<1@4 4 x1"},
		{"early reduce of nothing", [][]match.Call{{call("Gather", 0, 10, root(0), nothing)}, {call("Gather", 4, 10, root(0))}}, ""},
		{"early scan", [][]match.Call{{call("Scan", 0, 10)}, {call("Scan", 5, 10)}, {call("Scan", 3, 10)}}, "early scan 2@3<1@5 2 x1"},
		{"late sender", [][]match.Call{{call("Recv", 2, 12, from(1, 7))}, {call("Send", 8, 9, to(0, 7))}},
			"late sender 0@2<1@8 6 x1; late sender done 0@2 3 x1"},
		{"sender in time", [][]match.Call{{call("Recv", 8, 12, from(1, 7))}, {call("Send", 2, 3, to(0, 7))}}, ""},
		{"Waitall: the longest counts", [][]match.Call{
			{call("Irecv", 0, 1, from(1, 7), as(1)), call("Irecv", 1, 2, from(2, 7), as(2)), call("Waitall", 3, 10, of(2, 1))},
			{call("Send", 5, 6, to(0, 7))}, {call("Send", 9, 10, to(0, 7))}},
			"late sender 0@3<2@9 6 x1"},
		{"late receiver", [][]match.Call{{call("Send", 1, 20, to(1, 7))}, {call("Recv", 15, 18, from(0, 7))}},
			"late receiver 0@1<1@15 14 x1; late receiver done 0@1 2 x1"},
		{"buffered in time", [][]match.Call{{call("Send", 1, 3, to(1, 7))}, {call("Recv", 15, 18, from(0, 7))}}, ""},
		{"a buffered send never waits", [][]match.Call{{call("Bsend", 1, 20, to(1, 7))}, {call("Recv", 15, 18, from(0, 7))}}, ""},
		{"late receiver of a wait", [][]match.Call{{call("Isend", 1, 2, to(1, 7), as(5)), call("Wait", 10, 20, of(5))}, {call("Recv", 15, 18, from(0, 7))}},
			"late receiver 0@10<1@15 5 x1; late receiver done 0@10 2 x1"},
		{"wrong order, same source", [][]match.Call{{call("Recv", 4, 9, from(1, 1)), call("Recv", 10, 11, from(1, 2))},
			{call("Isend", 5, 6, to(0, 2), as(1)), call("Send", 8, 9, to(0, 1))}},
			"late sender 0@4<1@8 4 x1; wrong order 0@4<1@8 4 x1"},
		{"wrong order, other source", [][]match.Call{{call("Recv", 4, 9, from(1, 1)), call("Recv", 10, 11, from(2, 1))},
			{call("Send", 8, 9, to(0, 1))}, {call("Send", 5, 6, to(0, 1))}},
			"late sender 0@4<1@8 4 x1; wrong order other 0@4<1@8 4 x1"},
		{"right order", [][]match.Call{{call("Recv", 4, 9, from(1, 1)), call("Recv", 10, 12, from(1, 2))},
			{call("Send", 8, 9, to(0, 1)), call("Send", 9, 10, to(0, 2))}}, "late sender 0@4<1@8 4 x1"},
		{"late receiver, wrong order", [][]match.Call{{call("Isend", 0, 1, to(1, 1), as(1)), call("Ssend", 2, 20, to(1, 2)), call("Wait", 21, 22, of(1))},
			{call("Recv", 15, 18, from(0, 2)), call("Recv", 19, 21, from(0, 1))}},
			"late receiver 0@2<1@15 13 x1; late receiver done 0@2 2 x1; late receiver order 0@2<1@15 13 x1"},
		{"late receiver, right order", [][]match.Call{{call("Isend", 0, 1, to(1, 1), as(1)), call("Ssend", 2, 20, to(1, 2)), call("Wait", 21, 22, of(1))},
			{call("Recv", 14, 15, from(0, 1)), call("Recv", 15, 18, from(0, 2))}},
			"late receiver 0@2<1@15 13 x1; late receiver done 0@2 2 x1"},
		{"late receiver, an older message to another rank", [][]match.Call{{call("Isend", 0, 1, to(2, 1), as(1)), call("Ssend", 2, 20, to(1, 2)), call("Wait", 21, 22, of(1))},
			{call("Recv", 15, 18, from(0, 2))}, {call("Recv", 19, 21, from(0, 1))}},
			"late receiver 0@2<1@15 13 x1; late receiver done 0@2 2 x1"},
		{"nonblocking barrier", [][]match.Call{{call("Ibarrier", 0, 1, as(9)), call("Wait", 4, 8, of(9))}, {call("Ibarrier", 7, 8, as(3)), call("Wait", 9, 10, of(3))}},
			"barrier 0@4<1@7 3 x1"},
		{"Sendrecv", [][]match.Call{{call("Sendrecv", 0, 10, to(1, 1), from(1, 1))}, {call("Sendrecv", 9, 11, to(0, 1), from(0, 1))}},
			"late sender 0@0<1@9 9 x1"},
		{"to itself", [][]match.Call{{call("Isend", 0, 1, to(0, 1), as(1)), call("Recv", 2, 3, from(0, 1)), call("Wait", 4, 5, of(1))}}, ""},
		{"finalize", [][]match.Call{{call("Finalize", 0, 6)}, {call("Finalize", 5, 7)}}, "finalize 0@0<1@5 5 x1"},
		{"finalize that does not wait", [][]match.Call{{call("Finalize", 0, 4)}, {call("Finalize", 5, 7)}}, ""},
		{"init", [][]match.Call{{call("Init", 1, 6)}, {call("Init", 5, 8)}}, "init 0@1<1@5 4 x1; init done 1@5 2 x1"},
		{"fence", [][]match.Call{{call("Win_fence", 0, 6)}, {call("Win_fence", 3, 7)}, {call("Win_fence", 5, 7)}}, "fence 0@0<2@5 5 x1; fence 1@3<2@5 2 x1"},
		{"fence that does not wait", [][]match.Call{{call("Win_fence", 0, 4)}, {call("Win_fence", 5, 7)}}, ""},
		{"window", [][]match.Call{{call("Win_create", 0, 6), call("Win_free", 7, 11)}, {call("Win_create", 3, 7), call("Win_free", 10, 12)}}, "create 0@0<1@3 3 x1; free 0@7<1@10 3 x1"},
		{"a handle is used again by a file", [][]match.Call{{call("Isend", 0, 1, to(1, 1), as(1)), call("Test", 1, 2), call("File_iread", 3, 4, as(1)), call("Wait", 5, 20, of(1))},
			{call("Recv", 15, 16, from(0, 1))}}, ""},
		{"a handle is used again", [][]match.Call{{call("Irecv", 0, 1, from(1, 1), as(1)), call("Test", 1, 2), call("Irecv", 3, 4, from(1, 1), as(1)), call("Wait", 5, 9, of(1))},
			{call("Send", 0, 1, to(0, 1)), call("Send", 8, 9, to(0, 1))}}, "late sender 0@5<1@8 3 x1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := reader.Run(world(c.ranks...))
			if got := show(r.Waits); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			for _, n := range []match.Count{r.Sends, r.Receives, r.Collectives, r.Requests, r.Epochs} {
				if n.Calls != n.Matched {
					t.Errorf("not all matched: %+v", r)
				}
			}
		})
	}
}

// TestNotMatched are cases in which calls cannot be matched. None of them may give a wait.
func TestNotMatched(t *testing.T) {
	recv := func(at uint64) match.Call { return call("Recv", at, at+5, from(1, 7)) }
	send := func(at uint64) match.Call { return call("Send", at, at+1, to(0, 7)) }
	any := call("Recv", 0, 5, from(mpi.AnySource, 7))
	stopped := func(logs []*match.RankCalls, rank int, us uint64) []*match.RankCalls {
		logs[rank].Until = us * 1000
		return logs
	}
	for _, c := range []struct {
		name                         string
		logs                         []*match.RankCalls
		sends, receives, collectives match.Count
	}{
		{"nobody sends", world([]match.Call{recv(0)}, nil), match.Count{}, left(match.NoPartner, 1, 0), match.Count{}},
		{"a log is missing", world([]match.Call{recv(0)}, []match.Call{send(3)})[:1], match.Count{}, left(match.NoLog, 1, 0), match.Count{}},
		{"any source", world([]match.Call{any, recv(6)}, []match.Call{send(3), send(4), send(8)}), left(match.Wildcard, 3, 0), left(match.Wildcard, 2, 0), match.Count{}},
		{"any source of another tag", world([]match.Call{call("Recv", 0, 5, from(mpi.AnySource, 8)), recv(6)}, []match.Call{call("Send", 3, 4, to(0, 8)), send(5)}),
			left(match.Wildcard, 1, 1), left(match.Wildcard, 1, 1), match.Count{}},
		{"any tag", world([]match.Call{call("Recv", 0, 5, from(1, match.AnyTag)), recv(6)}, []match.Call{send(3), send(4), send(8)}), left(match.Wildcard, 3, 0), left(match.Wildcard, 2, 0), match.Count{}},
		{"asked before any source", world([]match.Call{call("Irecv", 0, 1, from(1, 7), as(1)), call("Recv", 2, 5, from(mpi.AnySource, 7))}, []match.Call{send(3), send(4)}),
			left(match.Wildcard, 1, 1), left(match.Wildcard, 1, 1), match.Count{}},
		{"a matched probe took it", world([]match.Call{call("Mprobe", 0, 4, from(1, 7)), call("Mrecv", 4, 5, from(mpi.AnySource, 0)), recv(6)}, []match.Call{send(2), send(3), send(8)}),
			left(match.Wildcard, 3, 0), match.Count{Calls: 2, Left: [match.NumReasons]uint64{match.NoRule: 1, match.Wildcard: 1}}, match.Count{}},
		{"unknown communicator", world([]match.Call{call("Recv", 0, 4, from(1, 7), comm(-1))}, []match.Call{call("Send", 3, 4, to(0, 7), comm(-1))}), left(match.NoComm, 1, 0), left(match.NoComm, 1, 0), match.Count{}},
		{"the sender's log stopped", stopped(world([]match.Call{recv(0), recv(10)}, []match.Call{send(3), send(13)}), 1, 12), left(match.NoPartner, 0, 1), left(match.NoPartner, 1, 1), match.Count{}},
		{"the receiver's log stopped", stopped(world([]match.Call{recv(0), recv(10)}, []match.Call{send(3), send(13)}), 0, 9), left(match.NoPartner, 1, 1), left(match.NoPartner, 0, 1), match.Count{}},
		{"a log stopped before a barrier", stopped(world([]match.Call{call("Barrier", 0, 3), call("Barrier", 5, 9)}, []match.Call{call("Barrier", 0, 3), call("Barrier", 8, 9)}), 1, 7),
			match.Count{}, match.Count{}, left(match.NoPartner, 1, 2)},
		{"two threads at once", world([]match.Call{recv(0), recv(6)}, []match.Call{call("Send", 3, 6, to(0, 7)), call("Send", 4, 6, to(0, 7), thread(1))}),
			left(match.Threads, 1, 1), left(match.Threads, 1, 1), match.Count{}},
		{"contrary", world([]match.Call{call("Barrier", 0, 3)}, []match.Call{call("Allreduce", 0, 3)}), match.Count{}, match.Count{}, left(match.Contrary, 2, 0)},
		{"neighbourhood", world([]match.Call{call("Neighbor_alltoall", 0, 3)}), match.Count{}, match.Count{}, left(match.NoRule, 1, 0)},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := reader.Run(c.logs)
			if r.Sends != c.sends || r.Receives != c.receives || r.Collectives != c.collectives {
				t.Errorf("%+v", r)
			}
			for _, w := range r.Waits {
				if w.Count > c.receives.Matched+c.collectives.Matched+c.sends.Matched {
					t.Errorf("a wait of what was not matched: %s", show(r.Waits))
				}
			}
		})
	}
	for name, spoil := range map[string]func([]*match.RankCalls){
		"another machine":  func(l []*match.RankCalls) { l[1].Host = "other" },
		"cancelled":        func(l []*match.RankCalls) { l[1].Cancels = true },
		"no name":          func(l []*match.RankCalls) { l[0].Comms[0].Name, l[1].Comms[0].Name = "", "" },
		"one member twice": func(l []*match.RankCalls) { l[0].Comms[0].Rank = 1 },
	} {
		logs := world([]match.Call{call("Barrier", 0, 3), recv(4)}, []match.Call{call("Barrier", 1, 3), send(6)})
		if spoil(logs); len(reader.Run(logs).Waits) > 0 && name != "cancelled" {
			t.Errorf("%s: waits were found", name)
		} else if r := reader.Run(world([]match.Call{recv(4)}, []match.Call{send(6)})); len(r.Waits) == 0 {
			t.Error("the case has no wait")
		}
	}
}

// TestRequestsLeft: if some request of a call is not matched, the call gives no wait. It is left
// out for the reason of the first such request.
func TestRequestsLeft(t *testing.T) {
	r := reader.Run(world(
		[]match.Call{call("Irecv", 0, 1, from(1, 7), as(1)), call("Irecv", 1, 2, from(mpi.AnySource, 8), as(2)), call("Waitall", 3, 10, of(1, 2)),
			call("Waitsome", 11, 12, func(c *match.Call) { c.Untold = true })},
		[]match.Call{call("Send", 5, 6, to(0, 7))}))
	want := match.Count{Calls: 2, Left: [match.NumReasons]uint64{match.Wildcard: 1, match.Untold: 1}}
	if len(r.Waits) != 0 || r.Requests != want || r.Receives.Matched != 1 {
		t.Errorf("%+v", r)
	}
}

// TestNewHandles: a call that makes a request says that its handle is new. So an operation that a
// test completed is not confused with a later one that has the same handle.
func TestNewHandles(t *testing.T) {
	prepared := func(c *match.Call) { c.Untold = true }
	for name, c := range map[string]match.Call{
		"Comm_idup": call("Comm_idup", 20, 21, as(1)), "Recv_init": call("Recv_init", 20, 21, as(1), prepared),
		"Barrier_init": call("Barrier_init", 20, 21, as(1), prepared), "Psend_init": call("Psend_init", 20, 21, as(1), prepared),
		"nothing": call("Test", 20, 21),
	} {
		c.Later = true
		r := reader.Run(world([]match.Call{call("Irecv", 0, 1, from(1, 7), as(1)), c, call("Wait", 30, 90, of(1))}, []match.Call{call("Send", 5, 6, to(0, 7))}))
		want := match.Count{}
		if name == "nothing" {
			want = match.Count{Calls: 1, Matched: 1}
		}
		if r.Requests != want || r.Receives.Matched != 1 || r.Collectives.Calls != 0 {
			t.Errorf("%s: %+v", name, r)
		}
	}
}
