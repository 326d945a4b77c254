package messages_test

import (
	"testing"

	"ompp-attach/mpi"
	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/matchtest"
)

// TestProbes: MPI_Probe waits for a late sender, and leaves the message to a receive.
func TestProbes(t *testing.T) {
	recv := func(at uint64) match.Call { return call("Recv", at, at+1, from(1, 7)) }
	send := func(at uint64) match.Call { return call("Send", at, at+1, to(0, 7)) }
	probe := func(at, until uint64, set ...func(*match.Call)) match.Call {
		return call("Probe", at, until, append([]func(*match.Call){from(1, 7), nothing}, set...)...)
	}
	one := func(why match.Reason) match.Count { return left(why, 1, 0) }
	all := func(n uint64) match.Count { return match.Count{Calls: n, Matched: n} }
	for _, c := range []struct {
		name     string
		logs     []*match.RankCalls
		want     string
		probes   match.Count
		receives match.Count
	}{
		{"late sender", world([]match.Call{probe(2, 12), recv(13)}, []match.Call{send(8)}), "late sender 0@2<1@8 6 x1; late sender done 0@2 3 x1", all(1), all(1)},
		{"sender in time", world([]match.Call{probe(8, 9), recv(13)}, []match.Call{send(2)}), "", all(1), all(1)},
		{"two probes of a message", world([]match.Call{probe(0, 4), probe(5, 6), recv(7), recv(8)}, []match.Call{send(3), send(8)}), "late sender 0@0<1@3 3 x1", all(2), all(2)},
		{"a receive that waits takes the first message", world([]match.Call{call("Irecv", 0, 1, from(1, 7), as(1)), probe(2, 8), call("Wait", 8, 9, of(1)), recv(10)}, []match.Call{send(3), send(6)}),
			"late sender 0@2<1@6 4 x1; late sender done 0@2 1 x1", all(1), all(2)},
		{"another tag comes first", world([]match.Call{probe(0, 9), recv(10), call("Recv", 11, 12, from(1, 8))}, []match.Call{call("Send", 1, 2, to(0, 8)), send(8)}),
			"late sender 0@0<1@8 8 x1", all(1), all(2)},
		{"no receive takes it", world([]match.Call{probe(0, 4)}, []match.Call{send(3)}), "late sender 0@0<1@3 3 x1", all(1), match.Count{}},
		{"nobody sends", world([]match.Call{probe(0, 4)}, nil), "", one(match.NoPartner), match.Count{}},
		{"it does not tell the source", world([]match.Call{probe(0, 4, from(mpi.AnySource, 7)), recv(5)}, []match.Call{send(3)}), "", one(match.Wildcard), all(1)},
		{"it does not tell the tag", world([]match.Call{probe(0, 4, from(1, match.AnyTag)), recv(5)}, []match.Call{send(3)}), "", one(match.Wildcard), all(1)},
		{"nobody to ask", world([]match.Call{probe(0, 4, from(mpi.ProcNull, 7))}), "", match.Count{}, match.Count{}},
		{"unknown communicator", world([]match.Call{probe(0, 4, comm(-1))}, nil), "", one(match.NoComm), match.Count{}},
		{"another thread receives meanwhile", world([]match.Call{probe(0, 9), call("Recv", 1, 5, from(1, 7), thread(1)), recv(10)}, []match.Call{send(3), send(8)}),
			"late sender 0@1<1@3 2 x1; late sender done 0@1 1 x1", one(match.Threads), all(2)},
		{"another thread has not left", world([]match.Call{call("Recv", 0, 5, from(1, 7), thread(1)), probe(1, 9), recv(10)}, []match.Call{send(3), send(8)}),
			"late sender 0@0<1@3 3 x1; late sender done 0@0 1 x1", one(match.Threads), all(2)},
		{"behind a receive that tells later", world([]match.Call{call("Irecv", 0, 1, from(mpi.AnySource, 7), as(1)), probe(2, 9), call("Wait", 9, 10, of(1), tells(came(0, 1, 7))), recv(11)},
			[]match.Call{send(3), send(6)}), "late sender 0@2<1@6 4 x1; late sender done 0@2 2 x1", all(1), all(2)},
		{"behind a receive that never tells", world([]match.Call{call("Irecv", 0, 1, from(mpi.AnySource, 7), as(1)), probe(2, 9), call("Wait", 9, 10, of(1))}, []match.Call{send(3)}),
			"", one(match.Wildcard), one(match.Wildcard)},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := matchtest.Run(c.logs)
			if got := show(r.Waits); got != c.want || r.Probes != c.probes || r.Receives != c.receives {
				t.Errorf("got  %s\nwant %s\n%+v", got, c.want, r)
			}
		})
	}
}
