package messages_test

import (
	"testing"

	"ompp-attach/mpi"
	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/matchtest"
)

// TestTaken: MPI_Mprobe takes a message in its place in the order of receives, and waits for a late
// sender. MPI_Mrecv receives the message. A send that went on until then waited for MPI_Mrecv.
func TestTaken(t *testing.T) {
	recv := func(at uint64) match.Call { return call("Recv", at, at+1, from(1, 7)) }
	send := func(at uint64) match.Call { return call("Send", at, at+1, to(0, 7)) }
	probe := func(at, until, handle uint64, set ...func(*match.Call)) match.Call {
		return call("Mprobe", at, until, append([]func(*match.Call){from(1, 7), nothing, of(handle)}, set...)...)
	}
	improbe := func(at, handle uint64) match.Call { return call("Improbe", at, at+1, from(1, 7), nothing, of(handle)) }
	take := func(at, until, handle uint64) match.Call {
		return call("Mrecv", at, until, from(mpi.AnySource, 0), of(handle))
	}
	attached := func(logs []*match.RankCalls) []*match.RankCalls { logs[0].Attached = true; return logs }
	all := func(n uint64) match.Count { return match.Count{Calls: n, Matched: n} }
	for _, c := range []struct {
		name            string
		logs            []*match.RankCalls
		want            string
		sends, receives match.Count
	}{
		{"late sender", world([]match.Call{probe(2, 12, 5), take(13, 14, 5)}, []match.Call{send(8)}), "late sender 0@2<1@8 6 x1; late sender done 0@2 3 x1", all(1), all(1)},
		{"sender in time", world([]match.Call{probe(8, 9, 5), take(10, 11, 5)}, []match.Call{send(2)}), "", all(1), all(1)},
		{"any source, which it told", world([]match.Call{probe(2, 9, 5, from(1, 7)), take(10, 11, 5), probe(12, 22, 5, from(2, 7)), take(23, 24, 5)}, []match.Call{send(4)}, []match.Call{send(21)}),
			"late sender 0@2<1@4 2 x1; late sender 0@12<2@21 9 x1; late sender done 0@2 4 x1", all(2), all(2)},
		{"late receiver: MPI_Mrecv", world([]match.Call{probe(5, 6, 5), take(15, 18, 5)}, []match.Call{call("Ssend", 1, 20, to(0, 7))}),
			"late receiver 1@1<0@15 14 x1; late receiver done 1@1 2 x1", all(1), all(1)},
		{"late receiver: MPI_Mprobe lets the sender go on", world([]match.Call{probe(5, 8, 5), take(15, 18, 5)}, []match.Call{call("Ssend", 1, 9, to(0, 7))}),
			"late receiver 1@1<0@5 4 x1; late receiver done 1@1 1 x1", all(1), all(1)},
		{"the same, and the send is over first", world([]match.Call{probe(5, 8, 5), take(15, 18, 5)}, []match.Call{call("Ssend", 1, 7, to(0, 7))}),
			"late receiver 1@1<0@5 4 x1", all(1), all(1)},
		{"late receiver of a wait", world([]match.Call{probe(5, 6, 5), take(15, 18, 5)}, []match.Call{call("Isend", 1, 2, to(0, 7), as(9)), call("Wait", 10, 20, of(9))}),
			"late receiver 1@10<0@15 5 x1; late receiver done 1@10 2 x1", all(1), all(1)},
		{"MPI_Imrecv", world([]match.Call{probe(5, 6, 5), call("Imrecv", 15, 16, from(mpi.AnySource, 0), of(5), as(6)), call("Wait", 17, 18, of(6))}, []match.Call{call("Ssend", 1, 20, to(0, 7))}),
			"late receiver 1@1<0@15 14 x1", all(1), all(1)},
		{"nobody receives it", world([]match.Call{probe(5, 6, 5)}, []match.Call{call("Ssend", 1, 20, to(0, 7))}), "", all(1), all(1)},
		{"received in another order", world([]match.Call{probe(0, 4, 5), probe(4, 9, 6), take(10, 11, 6), take(20, 21, 5)},
			[]match.Call{call("Isend", 3, 4, to(0, 7), as(1)), call("Isend", 8, 9, to(0, 7), as(2)), call("Wait", 12, 15, of(2)), call("Wait", 16, 25, of(1))}),
			"late sender 0@0<1@3 3 x1; late sender 0@4<1@8 4 x1; late receiver 1@16<0@20 4 x1; late receiver done 1@16 4 x1", all(2), all(2)},
		{"between receives", world([]match.Call{recv(0), probe(2, 5, 5), recv(6), take(8, 9, 5)}, []match.Call{send(0), send(4), send(6)}), "late sender 0@2<1@4 2 x1", all(3), all(3)},
		{"MPI_Improbe never waits", world([]match.Call{improbe(0, 0), improbe(2, 0), improbe(6, 5), take(8, 9, 5), recv(10)}, []match.Call{call("Ssend", 1, 9, to(0, 7)), send(13)}),
			"late sender 0@10<1@13 1 x1; late receiver 1@1<0@8 7 x1", all(2), all(2)},
		{"handles are used again", world([]match.Call{probe(0, 4, 5), take(5, 6, 5), probe(7, 10, 5), take(11, 12, 5)}, []match.Call{send(3), send(9)}),
			"late sender 0@0<1@3 3 x1; late sender 0@7<1@9 2 x1", all(2), all(2)},
		{"wrong order", world([]match.Call{probe(4, 9, 5, from(1, 1)), call("Recv", 10, 11, from(1, 2)), take(12, 13, 5)}, []match.Call{call("Isend", 5, 6, to(0, 2), as(1)), call("Send", 8, 9, to(0, 1))}),
			"late sender 0@4<1@8 4 x1; wrong order 0@4<1@8 4 x1", all(2), all(2)},
		{"nobody to ask", world([]match.Call{probe(0, 1, 77, from(mpi.ProcNull, 7)), take(2, 3, 77), probe(4, 5, 77, from(mpi.ProcNull, 7)), take(6, 7, 77)}), "", match.Count{}, match.Count{}},
		{"it does not tell the source", world([]match.Call{probe(0, 4, 5, from(mpi.AnySource, 7)), take(5, 6, 5)}, []match.Call{send(3)}), "", left(match.Wildcard, 1, 0), left(match.Wildcard, 1, 0)},
		{"behind a receive that tells later", world([]match.Call{call("Irecv", 0, 1, from(mpi.AnySource, 7), as(1)), probe(2, 9, 5), take(9, 10, 5), call("Wait", 10, 11, of(1), tells(came(0, 1, 7)))},
			[]match.Call{send(3), send(6)}), "late sender 0@2<1@6 4 x1; late sender done 0@2 2 x1; wrong order 0@2<1@6 4 x1", all(2), all(2)},
		{"two threads at once", world([]match.Call{probe(0, 9, 5), call("Mprobe", 1, 8, from(1, 7), of(6), thread(1)), take(10, 11, 5), take(12, 13, 6)}, []match.Call{send(3), send(8)}),
			"", left(match.Threads, 2, 0), left(match.Threads, 2, 0)},
		{"a message taken before the rank was attached to", attached(world([]match.Call{take(5, 6, 5)}, nil)), "", match.Count{}, left(match.OldRequest, 1, 0)},
		{"a message of which nothing is known", world([]match.Call{take(5, 6, 5)}, nil), "", match.Count{}, left(match.NoRule, 1, 0)},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := matchtest.Run(c.logs)
			if got := show(r.Waits); got != c.want || r.Sends != c.sends || r.Receives != c.receives {
				t.Errorf("got  %s\nwant %s\n%+v", got, c.want, r)
			}
		})
	}
}
