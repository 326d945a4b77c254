package match

import (
	"testing"

	"ompp-attach/mpi"
)

// TestProbes: MPI_Probe waits for a late sender, and leaves the message to a receive.
func TestProbes(t *testing.T) {
	recv := func(at uint64) Call { return call("Recv", at, at+1, from(1, 7)) }
	send := func(at uint64) Call { return call("Send", at, at+1, to(0, 7)) }
	probe := func(at, until uint64, set ...func(*Call)) Call {
		return call("Probe", at, until, append([]func(*Call){from(1, 7), nothing}, set...)...)
	}
	one := func(why Reason) Count { return left(why, 1, 0) }
	all := func(n uint64) Count { return Count{Calls: n, Matched: n} }
	for _, c := range []struct {
		name     string
		logs     []*RankCalls
		want     string
		probes   Count
		receives Count
	}{
		{"late sender", world([]Call{probe(2, 12), recv(13)}, []Call{send(8)}), "late sender 0@2<1@8 6 x1; late sender done 0@2 3 x1", all(1), all(1)},
		{"sender in time", world([]Call{probe(8, 9), recv(13)}, []Call{send(2)}), "", all(1), all(1)},
		{"two probes of a message", world([]Call{probe(0, 4), probe(5, 6), recv(7), recv(8)}, []Call{send(3), send(8)}), "late sender 0@0<1@3 3 x1", all(2), all(2)},
		{"a receive that waits takes the first message", world([]Call{call("Irecv", 0, 1, from(1, 7), as(1)), probe(2, 8), call("Wait", 8, 9, of(1)), recv(10)}, []Call{send(3), send(6)}),
			"late sender 0@2<1@6 4 x1; late sender done 0@2 1 x1", all(1), all(2)},
		{"another tag comes first", world([]Call{probe(0, 9), recv(10), call("Recv", 11, 12, from(1, 8))}, []Call{call("Send", 1, 2, to(0, 8)), send(8)}),
			"late sender 0@0<1@8 8 x1", all(1), all(2)},
		{"no receive takes it", world([]Call{probe(0, 4)}, []Call{send(3)}), "late sender 0@0<1@3 3 x1", all(1), Count{}},
		{"nobody sends", world([]Call{probe(0, 4)}, nil), "", one(NoPartner), Count{}},
		{"it does not tell the source", world([]Call{probe(0, 4, from(mpi.AnySource, 7)), recv(5)}, []Call{send(3)}), "", one(Wildcard), all(1)},
		{"it does not tell the tag", world([]Call{probe(0, 4, from(1, AnyTag)), recv(5)}, []Call{send(3)}), "", one(Wildcard), all(1)},
		{"nobody to ask", world([]Call{probe(0, 4, from(mpi.ProcNull, 7))}), "", Count{}, Count{}},
		{"unknown communicator", world([]Call{probe(0, 4, comm(-1))}, nil), "", one(NoComm), Count{}},
		{"another thread receives meanwhile", world([]Call{probe(0, 9), call("Recv", 1, 5, from(1, 7), thread(1)), recv(10)}, []Call{send(3), send(8)}),
			"late sender 0@1<1@3 2 x1; late sender done 0@1 1 x1", one(Threads), all(2)},
		{"another thread has not left", world([]Call{call("Recv", 0, 5, from(1, 7), thread(1)), probe(1, 9), recv(10)}, []Call{send(3), send(8)}),
			"late sender 0@0<1@3 3 x1; late sender done 0@0 1 x1", one(Threads), all(2)},
		{"behind a receive that tells later", world([]Call{call("Irecv", 0, 1, from(mpi.AnySource, 7), as(1)), probe(2, 9), call("Wait", 9, 10, of(1), tells(Came{0, 1, 7})), recv(11)},
			[]Call{send(3), send(6)}), "late sender 0@2<1@6 4 x1; late sender done 0@2 2 x1", all(1), all(2)},
		{"behind a receive that never tells", world([]Call{call("Irecv", 0, 1, from(mpi.AnySource, 7), as(1)), probe(2, 9), call("Wait", 9, 10, of(1))}, []Call{send(3)}),
			"", one(Wildcard), one(Wildcard)},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := Run(c.logs)
			if got := show(r.Waits); got != c.want || r.Probes != c.probes || r.Receives != c.receives {
				t.Errorf("got  %s\nwant %s\n%+v", got, c.want, r)
			}
		})
	}
}
