package reader

import (
	"testing"

	"ompp-attach/mpi"
	"ompp-attach/mpi/match"
)

// tagged yields calls with a tag each, and notes how many queues there are meanwhile.
type tagged struct {
	r     *run
	n     int
	make  func(i int) match.Call
	at    int
	call  match.Call
	most  int
	taken int
}

func (g *tagged) Next() (*match.Call, bool) {
	if g.at == g.n {
		return nil, false
	}
	queues := 0
	for _, b := range g.r.inboxes {
		queues += len(b.queues)
		g.taken = max(g.taken, len(b.taken))
	}
	g.most = max(g.most, queues)
	g.call = g.make(g.at)
	g.at++
	return &g.call, true
}

// TestManyTags: of messages that have a tag each, none stays in memory. If so many tags are closed,
// or taken, that they cannot be told apart, messages are left out.
func TestManyTags(t *testing.T) {
	send, recv := named("Send"), named("Recv")
	at := func(i int, o mpi.Op) match.Call {
		start := uint64(10 * i)
		return match.Call{Op: o, Start: start, End: start + 5, Sends: o == send, Receives: o == recv, SendTag: int32(i), RecvTag: int32(i)}
	}
	sends := func(i int) match.Call { c := at(i, send); c.To = 1; return c }
	for name, c := range map[string]struct {
		n       int
		receive func(i int) match.Call
		threads int // of the sender
		matched func(*match.Result, uint64) bool
	}{
		"a tag each": {1_000_000, func(i int) match.Call { c := at(i, recv); c.Start++; return c }, 1,
			func(r *match.Result, n uint64) bool { return r.Receives.Matched == n && r.Sends.Matched == n }},
		"from any source": {50_000, func(i int) match.Call { c := at(i, recv); c.Start++; c.From = mpi.AnySource; return c }, 1,
			func(r *match.Result, n uint64) bool {
				return r.Receives.Left[match.Wildcard] == n && r.Sends.Left[match.Wildcard]+r.Sends.Left[match.NoPartner] == n
			}},
		"sent by two threads at once": {50_000, func(i int) match.Call { c := at(i, recv); c.Start++; return c }, 2,
			func(r *match.Result, n uint64) bool {
				return r.Receives.Left[match.Threads]+r.Receives.Matched+r.Receives.Left[match.NoPartner] == n && r.Receives.Left[match.Threads] > n/2 && r.Sends.Left[match.Threads] > n
			}},
	} {
		n := c.n
		if testing.Short() {
			n /= 5
		}
		r := &run{waits: sums{}}
		g := &tagged{r: r, n: n, make: c.receive}
		comms := func(rank int32) []match.Comm { return []match.Comm{{Name: "world", Size: 2, Rank: rank}} }
		sender := &match.RankCalls{Rank: 0, Comms: comms(0)}
		for thread := range c.threads {
			sender.Threads = append(sender.Threads, &tagged{r: r, n: n, make: func(i int) match.Call { c := sends(i); c.Thread = thread; return c }})
		}
		got := r.all([]*match.RankCalls{sender, {Rank: 1, Comms: comms(1), Threads: []match.Calls{g}}})
		if !c.matched(got, uint64(n)) {
			t.Errorf("%s: %+v", name, got)
		}
		if bound := 4 * mostClosed; g.most > bound || g.taken > mostTaken || c.threads == 1 && g.most > 2*fewQueues {
			t.Errorf("%s: %d queues, %d taken", name, g.most, g.taken)
		}
	}
}

// TestHeld: a receive that is never complete holds no others than those that may take the same
// messages, and what is held is bounded.
func TestHeld(t *testing.T) {
	recv, irecv, send := named("Recv"), named("Irecv"), named("Send")
	for name, c := range map[string]struct {
		receive func(i int) match.Call
		matched func(n uint64) uint64
	}{
		"a listener for one tag": {func(i int) match.Call {
			if i == 0 {
				return match.Call{Op: irecv, Later: true, Request: 1, Start: 1, End: 2, Receives: true, From: mpi.AnySource, RecvTag: 1 << 30}
			}
			return match.Call{Op: recv, Start: uint64(10 * i), End: uint64(10*i + 5), Receives: true, RecvTag: int32(i % 1000)}
		}, func(n uint64) uint64 { return n - 1 }},
		"a listener for all": {func(i int) match.Call {
			if i == 0 {
				return match.Call{Op: irecv, Later: true, Request: 1, Start: 1, End: 2, Receives: true, From: mpi.AnySource, RecvTag: match.AnyTag}
			}
			return match.Call{Op: recv, Start: uint64(10 * i), End: uint64(10*i + 5), Receives: true, RecvTag: int32(i % 1000)}
		}, func(uint64) uint64 { return 0 }},
		"listeners without end": {func(i int) match.Call {
			return match.Call{Op: irecv, Later: true, Request: uint64(i + 1), Start: uint64(10 * i), End: uint64(10*i + 5), Receives: true, From: mpi.AnySource, RecvTag: int32(i % 1000)}
		}, func(uint64) uint64 { return 0 }},
	} {
		const n = 20_000
		r := &run{waits: sums{}}
		most, queues := 0, 0
		receiver := &tagged{r: r, n: n, make: func(i int) match.Call {
			for _, b := range r.inboxes {
				most, queues = max(most, len(b.held)), max(queues, len(b.queues))
			}
			return c.receive(i)
		}}
		sender := &tagged{r: r, n: n, make: func(i int) match.Call {
			return match.Call{Op: send, Start: uint64(10*i + 1), End: uint64(10*i + 2), Sends: true, To: 1, SendTag: int32(i % 1000)}
		}}
		comms := func(rank int32) []match.Comm { return []match.Comm{{Name: "world", Size: 2, Rank: rank}} }
		got := r.all([]*match.RankCalls{{Rank: 0, Comms: comms(0), Threads: []match.Calls{sender}}, {Rank: 1, Comms: comms(1), Threads: []match.Calls{receiver}}})
		// The first message, of tag 0, is asked for 1000 receives later.
		if want := c.matched(n); got.Receives.Matched+1 < want || got.Receives.Matched > want || got.Receives.Calls != n {
			t.Errorf("%s: %+v, not %d", name, got.Receives, want)
		}
		if most > mostHeld || queues > 2000 {
			t.Errorf("%s: %d receives held, %d queues", name, most, queues)
		}
	}
}

func named(name string) mpi.Op {
	o, ok := mpi.ParseOp("MPI_" + name)
	if !ok {
		panic(name)
	}
	return o
}
