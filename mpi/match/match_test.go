package match

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ompp-attach/mpi"
)

func op(name string) mpi.Op {
	o, ok := mpi.ParseOp("MPI_" + name)
	if !ok {
		panic(name)
	}
	return o
}

// call returns a call on MPI_COMM_WORLD. Its times are in us, and its site is its beginning.
func call(name string, start, end uint64, set ...func(*Call)) Call {
	info := op(name).Info()
	c := Call{Op: op(name), Start: 1000 * start, End: 1000 * end, Site: int(start), To: mpi.NoPeer, From: mpi.NoPeer,
		Later: info.Request != mpi.None && !Waits(op(name)), Sends: true, Receives: true}
	if info.Kind == mpi.PointToPoint {
		c.Sends, c.Receives = info.Counts&mpi.CountSend != 0, info.Counts&mpi.CountRecv != 0
	}
	for _, f := range set {
		f(&c)
	}
	return c
}

func to(rank, tag int32) func(*Call)    { return func(c *Call) { c.To, c.SendTag = rank, tag } }
func from(rank, tag int32) func(*Call)  { return func(c *Call) { c.From, c.RecvTag = rank, tag } }
func root(rank int32) func(*Call)       { return func(c *Call) { c.To = rank } }
func as(request uint64) func(*Call)     { return func(c *Call) { c.Request = request } }
func of(requests ...uint64) func(*Call) { return func(c *Call) { c.Completes = requests } }
func comm(i int) func(*Call)            { return func(c *Call) { c.Comm = i } }
func with(ranks ...int32) func(*Call) {
	return func(c *Call) {
		for _, r := range ranks {
			c.Completes = append(c.Completes, Member(c.Comm, r))
		}
	}
}
func thread(i int) func(*Call) { return func(c *Call) { c.Thread = i } }
func nothing(c *Call)          { c.Sends, c.Receives = false, false }
func sendsOnly(c *Call)        { c.Receives = false }
func logOf(rank, size int, calls ...Call) *RankCalls {
	l := List(calls)
	return &RankCalls{Rank: rank, Comms: []Comm{{Name: "world", Size: int32(size), Rank: int32(rank)}}, Threads: []Calls{&l}}
}

// world returns the logs of ranks that call something on MPI_COMM_WORLD.
func world(ranks ...[]Call) (logs []*RankCalls) {
	for i, calls := range ranks {
		logs = append(logs, logOf(i, len(ranks), calls...))
	}
	return logs
}

// show writes waits as "property rank<rank us xcount", in us.
func show(waits []Wait) string {
	names := [NumProperties]string{"late sender", "late sender done", "wrong order", "wrong order other", "late receiver", "late receiver done", "late receiver order",
		"barrier", "barrier done", "nxn", "nxn done", "late broadcast", "early reduce", "early scan", "init", "init done", "finalize", "fence", "create", "free", "late post", "early wait", "lock"}
	var out []string
	for _, w := range waits {
		due := ""
		if w.Due != w.At {
			due = fmt.Sprintf("<%d@%d", w.Due.Rank, w.Due.Site)
		}
		out = append(out, fmt.Sprintf("%s %d@%d%s %d x%d", names[w.Property], w.At.Rank, w.At.Site, due, w.T/1000, w.Count))
	}
	return strings.Join(out, "; ")
}

// TestVectors are cases whose waits follow from the definitions.
func TestVectors(t *testing.T) {
	for _, c := range []struct {
		name  string
		ranks [][]Call
		want  string
	}{
		{"barrier", [][]Call{{call("Barrier", 0, 6)}, {call("Barrier", 3, 6)}, {call("Barrier", 5, 7)}},
			"barrier 0@0<2@5 5 x1; barrier 1@3<2@5 2 x1; barrier done 2@5 1 x1"},
		{"N x N", [][]Call{{call("Allreduce", 0, 6)}, {call("Allreduce", 3, 6)}, {call("Allreduce", 5, 7)}},
			"nxn 0@0<2@5 5 x1; nxn 1@3<2@5 2 x1; nxn done 2@5 1 x1"},
		{"N x N, one receives nothing", [][]Call{{call("Alltoall", 0, 6, nothing)}, {call("Alltoall", 3, 6)}, {call("Alltoall", 5, 7, sendsOnly)}},
			"nxn 1@3<2@5 2 x1"},
		{"late broadcast", [][]Call{{call("Bcast", 10, 11, root(0))}, {call("Bcast", 4, 12, root(0))}, {call("Bcast", 11, 13, root(0))}, {call("Bcast", 2, 9, root(0))}},
			"late broadcast 1@4<0@10 6 x1; late broadcast 3@2<0@10 7 x1"},
		{"early reduce", [][]Call{{call("Reduce", 0, 10, root(0))}, {call("Reduce", 4, 10, root(0))}, {call("Reduce", 9, 10, root(0))}},
			"early reduce 0@0<1@4 4 x1"},
		{"early reduce of nothing", [][]Call{{call("Gather", 0, 10, root(0), nothing)}, {call("Gather", 4, 10, root(0))}}, ""},
		{"early scan", [][]Call{{call("Scan", 0, 10)}, {call("Scan", 5, 10)}, {call("Scan", 3, 10)}}, "early scan 2@3<1@5 2 x1"},
		{"late sender", [][]Call{{call("Recv", 2, 12, from(1, 7))}, {call("Send", 8, 9, to(0, 7))}},
			"late sender 0@2<1@8 6 x1; late sender done 0@2 3 x1"},
		{"sender in time", [][]Call{{call("Recv", 8, 12, from(1, 7))}, {call("Send", 2, 3, to(0, 7))}}, ""},
		{"Waitall: the longest counts", [][]Call{
			{call("Irecv", 0, 1, from(1, 7), as(1)), call("Irecv", 1, 2, from(2, 7), as(2)), call("Waitall", 3, 10, of(2, 1))},
			{call("Send", 5, 6, to(0, 7))}, {call("Send", 9, 10, to(0, 7))}},
			"late sender 0@3<2@9 6 x1"},
		{"late receiver", [][]Call{{call("Send", 1, 20, to(1, 7))}, {call("Recv", 15, 18, from(0, 7))}},
			"late receiver 0@1<1@15 14 x1; late receiver done 0@1 2 x1"},
		{"buffered in time", [][]Call{{call("Send", 1, 3, to(1, 7))}, {call("Recv", 15, 18, from(0, 7))}}, ""},
		{"a buffered send never waits", [][]Call{{call("Bsend", 1, 20, to(1, 7))}, {call("Recv", 15, 18, from(0, 7))}}, ""},
		{"late receiver of a wait", [][]Call{{call("Isend", 1, 2, to(1, 7), as(5)), call("Wait", 10, 20, of(5))}, {call("Recv", 15, 18, from(0, 7))}},
			"late receiver 0@10<1@15 5 x1; late receiver done 0@10 2 x1"},
		{"wrong order, same source", [][]Call{{call("Recv", 4, 9, from(1, 1)), call("Recv", 10, 11, from(1, 2))},
			{call("Isend", 5, 6, to(0, 2), as(1)), call("Send", 8, 9, to(0, 1))}},
			"late sender 0@4<1@8 4 x1; wrong order 0@4<1@8 4 x1"},
		{"wrong order, other source", [][]Call{{call("Recv", 4, 9, from(1, 1)), call("Recv", 10, 11, from(2, 1))},
			{call("Send", 8, 9, to(0, 1))}, {call("Send", 5, 6, to(0, 1))}},
			"late sender 0@4<1@8 4 x1; wrong order other 0@4<1@8 4 x1"},
		{"right order", [][]Call{{call("Recv", 4, 9, from(1, 1)), call("Recv", 10, 12, from(1, 2))},
			{call("Send", 8, 9, to(0, 1)), call("Send", 9, 10, to(0, 2))}}, "late sender 0@4<1@8 4 x1"},
		{"late receiver, wrong order", [][]Call{{call("Isend", 0, 1, to(1, 1), as(1)), call("Ssend", 2, 20, to(1, 2)), call("Wait", 21, 22, of(1))},
			{call("Recv", 15, 18, from(0, 2)), call("Recv", 19, 21, from(0, 1))}},
			"late receiver 0@2<1@15 13 x1; late receiver done 0@2 2 x1; late receiver order 0@2<1@15 13 x1"},
		{"late receiver, right order", [][]Call{{call("Isend", 0, 1, to(1, 1), as(1)), call("Ssend", 2, 20, to(1, 2)), call("Wait", 21, 22, of(1))},
			{call("Recv", 14, 15, from(0, 1)), call("Recv", 15, 18, from(0, 2))}},
			"late receiver 0@2<1@15 13 x1; late receiver done 0@2 2 x1"},
		{"late receiver, an older message to another rank", [][]Call{{call("Isend", 0, 1, to(2, 1), as(1)), call("Ssend", 2, 20, to(1, 2)), call("Wait", 21, 22, of(1))},
			{call("Recv", 15, 18, from(0, 2))}, {call("Recv", 19, 21, from(0, 1))}},
			"late receiver 0@2<1@15 13 x1; late receiver done 0@2 2 x1"},
		{"nonblocking barrier", [][]Call{{call("Ibarrier", 0, 1, as(9)), call("Wait", 4, 8, of(9))}, {call("Ibarrier", 7, 8, as(3)), call("Wait", 9, 10, of(3))}},
			"barrier 0@4<1@7 3 x1"},
		{"Sendrecv", [][]Call{{call("Sendrecv", 0, 10, to(1, 1), from(1, 1))}, {call("Sendrecv", 9, 11, to(0, 1), from(0, 1))}},
			"late sender 0@0<1@9 9 x1"},
		{"to itself", [][]Call{{call("Isend", 0, 1, to(0, 1), as(1)), call("Recv", 2, 3, from(0, 1)), call("Wait", 4, 5, of(1))}}, ""},
		{"finalize", [][]Call{{call("Finalize", 0, 6)}, {call("Finalize", 5, 7)}}, "finalize 0@0<1@5 5 x1"},
		{"finalize that does not wait", [][]Call{{call("Finalize", 0, 4)}, {call("Finalize", 5, 7)}}, ""},
		{"init", [][]Call{{call("Init", 1, 6)}, {call("Init", 5, 8)}}, "init 0@1<1@5 4 x1; init done 1@5 2 x1"},
		{"fence", [][]Call{{call("Win_fence", 0, 6)}, {call("Win_fence", 3, 7)}, {call("Win_fence", 5, 7)}}, "fence 0@0<2@5 5 x1; fence 1@3<2@5 2 x1"},
		{"fence that does not wait", [][]Call{{call("Win_fence", 0, 4)}, {call("Win_fence", 5, 7)}}, ""},
		{"window", [][]Call{{call("Win_create", 0, 6), call("Win_free", 7, 11)}, {call("Win_create", 3, 7), call("Win_free", 10, 12)}}, "create 0@0<1@3 3 x1; free 0@7<1@10 3 x1"},
		{"a handle is used again by a file", [][]Call{{call("Isend", 0, 1, to(1, 1), as(1)), call("Test", 1, 2), call("File_iread", 3, 4, as(1)), call("Wait", 5, 20, of(1))},
			{call("Recv", 15, 16, from(0, 1))}}, ""},
		{"a handle is used again", [][]Call{{call("Irecv", 0, 1, from(1, 1), as(1)), call("Test", 1, 2), call("Irecv", 3, 4, from(1, 1), as(1)), call("Wait", 5, 9, of(1))},
			{call("Send", 0, 1, to(0, 1)), call("Send", 8, 9, to(0, 1))}}, "late sender 0@5<1@8 3 x1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := Run(world(c.ranks...))
			if got := show(r.Waits); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			for _, n := range []Count{r.Sends, r.Receives, r.Collectives, r.Requests, r.Epochs} {
				if n.Calls != n.Matched {
					t.Errorf("not all matched: %+v", r)
				}
			}
		})
	}
}

// TestNotMatched are cases in which calls cannot be matched. None of them may give a wait.
func TestNotMatched(t *testing.T) {
	recv := func(at uint64) Call { return call("Recv", at, at+5, from(1, 7)) }
	send := func(at uint64) Call { return call("Send", at, at+1, to(0, 7)) }
	any := call("Recv", 0, 5, from(mpi.AnySource, 7))
	stopped := func(logs []*RankCalls, rank int, us uint64) []*RankCalls {
		logs[rank].Until = us * 1000
		return logs
	}
	for _, c := range []struct {
		name                         string
		logs                         []*RankCalls
		sends, receives, collectives Count
	}{
		{"nobody sends", world([]Call{recv(0)}, nil), Count{}, left(NoPartner, 1, 0), Count{}},
		{"a log is missing", world([]Call{recv(0)}, []Call{send(3)})[:1], Count{}, left(NoLog, 1, 0), Count{}},
		{"any source", world([]Call{any, recv(6)}, []Call{send(3), send(4), send(8)}), left(Wildcard, 3, 0), left(Wildcard, 2, 0), Count{}},
		{"any source of another tag", world([]Call{call("Recv", 0, 5, from(mpi.AnySource, 8)), recv(6)}, []Call{call("Send", 3, 4, to(0, 8)), send(5)}),
			left(Wildcard, 1, 1), left(Wildcard, 1, 1), Count{}},
		{"any tag", world([]Call{call("Recv", 0, 5, from(1, AnyTag)), recv(6)}, []Call{send(3), send(4), send(8)}), left(Wildcard, 3, 0), left(Wildcard, 2, 0), Count{}},
		{"asked before any source", world([]Call{call("Irecv", 0, 1, from(1, 7), as(1)), call("Recv", 2, 5, from(mpi.AnySource, 7))}, []Call{send(3), send(4)}),
			left(Wildcard, 1, 1), left(Wildcard, 1, 1), Count{}},
		{"a matched probe took it", world([]Call{call("Mprobe", 0, 4, from(1, 7)), call("Mrecv", 4, 5, from(mpi.AnySource, 0)), recv(6)}, []Call{send(2), send(3), send(8)}),
			left(Wildcard, 3, 0), Count{Calls: 2, Left: [NumReasons]uint64{NoRule: 1, Wildcard: 1}}, Count{}},
		{"unknown communicator", world([]Call{call("Recv", 0, 4, from(1, 7), comm(-1))}, []Call{call("Send", 3, 4, to(0, 7), comm(-1))}), left(NoComm, 1, 0), left(NoComm, 1, 0), Count{}},
		{"the sender's log stopped", stopped(world([]Call{recv(0), recv(10)}, []Call{send(3), send(13)}), 1, 12), left(NoPartner, 0, 1), left(NoPartner, 1, 1), Count{}},
		{"the receiver's log stopped", stopped(world([]Call{recv(0), recv(10)}, []Call{send(3), send(13)}), 0, 9), left(NoPartner, 1, 1), left(NoPartner, 0, 1), Count{}},
		{"a log stopped before a barrier", stopped(world([]Call{call("Barrier", 0, 3), call("Barrier", 5, 9)}, []Call{call("Barrier", 0, 3), call("Barrier", 8, 9)}), 1, 7),
			Count{}, Count{}, left(NoPartner, 1, 2)},
		{"two threads at once", world([]Call{recv(0), recv(6)}, []Call{call("Send", 3, 6, to(0, 7)), call("Send", 4, 6, to(0, 7), thread(1))}),
			left(Threads, 1, 1), left(Threads, 1, 1), Count{}},
		{"contrary", world([]Call{call("Barrier", 0, 3)}, []Call{call("Allreduce", 0, 3)}), Count{}, Count{}, left(Contrary, 2, 0)},
		{"neighbourhood", world([]Call{call("Neighbor_alltoall", 0, 3)}), Count{}, Count{}, left(NoRule, 1, 0)},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := Run(c.logs)
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
	for name, spoil := range map[string]func([]*RankCalls){
		"another machine":  func(l []*RankCalls) { l[1].Host = "other" },
		"cancelled":        func(l []*RankCalls) { l[1].Cancels = true },
		"no name":          func(l []*RankCalls) { l[0].Comms[0].Name, l[1].Comms[0].Name = "", "" },
		"one member twice": func(l []*RankCalls) { l[0].Comms[0].Rank = 1 },
	} {
		logs := world([]Call{call("Barrier", 0, 3), recv(4)}, []Call{call("Barrier", 1, 3), send(6)})
		if spoil(logs); len(Run(logs).Waits) > 0 && name != "cancelled" {
			t.Errorf("%s: waits were found", name)
		} else if r := Run(world([]Call{recv(4)}, []Call{send(6)})); len(r.Waits) == 0 {
			t.Error("the case has no wait")
		}
	}
}

func left(why Reason, n, matched uint64) Count {
	c := Count{Calls: n + matched, Matched: matched}
	c.Left[why] = n
	return c
}

// TestRequestsLeft: a call whose requests are not all matched gives no wait, and is left
// out for the same reason as the first of them.
func TestRequestsLeft(t *testing.T) {
	r := Run(world(
		[]Call{call("Irecv", 0, 1, from(1, 7), as(1)), call("Irecv", 1, 2, from(mpi.AnySource, 8), as(2)), call("Waitall", 3, 10, of(1, 2)),
			call("Waitsome", 11, 12, func(c *Call) { c.Untold = true })},
		[]Call{call("Send", 5, 6, to(0, 7))}))
	want := Count{Calls: 2, Left: [NumReasons]uint64{Wildcard: 1, Untold: 1}}
	if len(r.Waits) != 0 || r.Requests != want || r.Receives.Matched != 1 {
		t.Errorf("%+v", r)
	}
}

// TestNewHandles: a call that makes a request says that the handle is new. So an operation that a
// test has completed is not taken for the one that a later call waits for.
func TestNewHandles(t *testing.T) {
	prepared := func(c *Call) { c.Untold = true }
	for name, c := range map[string]Call{
		"Comm_idup": call("Comm_idup", 20, 21, as(1)), "Recv_init": call("Recv_init", 20, 21, as(1), prepared),
		"Barrier_init": call("Barrier_init", 20, 21, as(1), prepared), "Psend_init": call("Psend_init", 20, 21, as(1), prepared),
		"nothing": call("Test", 20, 21),
	} {
		c.Later = true
		r := Run(world([]Call{call("Irecv", 0, 1, from(1, 7), as(1)), c, call("Wait", 30, 90, of(1))}, []Call{call("Send", 5, 6, to(0, 7))}))
		want := Count{}
		if name == "nothing" {
			want = Count{Calls: 1, Matched: 1}
		}
		if r.Requests != want || r.Receives.Matched != 1 || r.Collectives.Calls != 0 {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// TestPatterns: MPI's operations have the patterns that are documented.
func TestPatterns(t *testing.T) {
	for name, want := range map[string]pattern{"Ssend_init": message, "Ibarrier": barrier, "Barrier_init": barrier, "Igatherv": allToOne,
		"Exscan": prefix, "Reduce_scatter_block": allToAll, "Waitany": completing, "Test": none, "Comm_dup": none, "Put": none, "File_read_all": none, "Rput": making, "File_iread": making, "Grequest_start": making,
		"Ineighbor_alltoallw": unsupported, "Mprobe": taking, "Imrecv": matchedRecvs, "Init_thread": beginning, "Psend_init": making, "Comm_idup": making, "Win_fence": fencing, "Win_allocate_shared": creating, "Win_free": freeing, "Win_post": posting, "Win_start": starting, "Win_complete": closing, "Win_wait": exposed, "Win_test": none, "Win_flush": none, "Win_lock": locking, "Win_unlock_all": unlocking} {
		if got := patterns[op(name)]; got != want {
			t.Errorf("%s: %d, not %d", name, got, want)
		}
	}
	if !slices.Contains(patterns, oneToAll) || Wanted(op("Test")) || !Wanted(op("Send")) || Wanted(mpi.Op(len(mpi.Operations))) {
		t.Error("Wanted")
	}
}
