package messages

import (
	"testing"

	"ompp-attach/mpi"
	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/ranks"
	"ompp-attach/mpi/match/waits"
)

func opOf(name string) mpi.Op {
	o, ok := mpi.ParseOp("MPI_" + name)
	if !ok {
		panic(name)
	}
	return o
}

var send, recv, irecv = opOf("Send"), opOf("Recv"), opOf("Irecv")

// thread makes the calls of a thread.
type thread struct {
	rank int
	make func(i int) match.Call
}

// most is the most that an inbox held at one time.
type most struct{ queues, taken, held int }

// run lets each thread make n calls. It returns the most that an inbox held meanwhile.
func run(n int, threads ...thread) (*Room, most) {
	var logs []*match.RankCalls
	for rank := range int32(2) {
		logs = append(logs, &match.RankCalls{Rank: int(rank), Comms: []match.Comm{{Name: "world", Size: 2, Rank: rank}}})
	}
	all, clocks := ranks.Of(logs), ranks.NewClocks(nil, nil)
	r := New(all, clocks, waits.NewLedger(clocks, true, nil), Options{})
	var m most
	for i := range n {
		for _, t := range threads { // calls with the same index begin in the order of the threads
			c, k := t.make(i), all.Ranks[t.rank]
			r.Next(k, &c)
			k.Call, k.Now = k.Call+1, c.Start
			r.Message(k, &c)
			k.Busy = max(k.Busy, c.End)
			for _, b := range r.inboxes {
				m.queues, m.taken, m.held = max(m.queues, len(b.queues)), max(m.taken, len(b.taken)), max(m.held, len(b.held))
			}
		}
	}
	for _, k := range all.Ranks {
		k.Over = true
		r.End(k)
	}
	return r, m
}

// TestManyTags: if each message has a tag of its own, none stays in memory. If too many tags are
// closed, or taken, the inbox no longer tells tags apart, and leaves messages out.
func TestManyTags(t *testing.T) {
	sends := func(thread int) func(i int) match.Call {
		return func(i int) match.Call {
			return match.Call{Op: send, Start: uint64(10 * i), End: uint64(10*i + 5), Thread: thread, Sends: true, To: 1, SendTag: int32(i)}
		}
	}
	receives := func(from int32) func(i int) match.Call {
		return func(i int) match.Call {
			return match.Call{Op: recv, Start: uint64(10*i + 1), End: uint64(10*i + 6), Receives: true, From: from, RecvTag: int32(i)}
		}
	}
	for name, c := range map[string]struct {
		n       int
		threads []thread
		matched func(*Counts, uint64) bool
	}{
		"a tag each": {1_000_000, []thread{{0, sends(0)}, {1, receives(0)}},
			func(r *Counts, n uint64) bool { return r.Receives.Matched == n && r.Sends.Matched == n }},
		"from any source": {50_000, []thread{{0, sends(0)}, {1, receives(mpi.AnySource)}},
			func(r *Counts, n uint64) bool {
				return r.Receives.Left[match.Wildcard] == n && r.Sends.Left[match.Wildcard]+r.Sends.Left[match.NoPartner] == n
			}},
		"sent by two threads at once": {50_000, []thread{{0, sends(0)}, {0, sends(1)}, {1, receives(0)}},
			func(r *Counts, n uint64) bool {
				return r.Receives.Left[match.Threads]+r.Receives.Matched+r.Receives.Left[match.NoPartner] == n && r.Receives.Left[match.Threads] > n/2 && r.Sends.Left[match.Threads] > n
			}},
	} {
		n := c.n
		if testing.Short() {
			n /= 5
		}
		r, m := run(n, c.threads...)
		if !c.matched(&r.Counts, uint64(n)) {
			t.Errorf("%s: %+v", name, r.Counts)
		}
		if bound := 4 * mostClosed; m.queues > bound || m.taken > mostTaken || len(c.threads) == 2 && m.queues > 2*fewQueues {
			t.Errorf("%s: %d queues, %d taken", name, m.queues, m.taken)
		}
	}
}

// TestTake: a call that may have taken messages counts only for messages that match its request.
// There is a bound. Beyond it, such calls count for all messages.
func TestTake(t *testing.T) {
	b := (&boxes{inboxes: map[inboxKey]*inbox{}}).inbox(nil, 0)
	for tag := range int32(mostTaken) {
		k := queueKey{mpi.AnySource, tag}
		if got := b.take(k); got != k || len(b.taken) != int(tag)+1 {
			t.Fatalf("the call with tag %d is noted as %v, among %d", tag, got, len(b.taken))
		}
	}
	if more := (queueKey{1, mostTaken}); b.taking(more) || !b.taking(queueKey{1, mostTaken - 1}) {
		t.Errorf("%d calls are not told apart", mostTaken)
	}
	any := queueKey{mpi.AnySource, match.AnyTag}
	if got := b.take(queueKey{mpi.AnySource, mostTaken}); got != any || len(b.taken) != 1 || !b.taking(queueKey{1, mostTaken + 1}) {
		t.Errorf("one call more is noted as %v, among %d", got, len(b.taken))
	}
}

// TestHeld: a receive that is never complete holds up only receives that may take the same
// messages. The number of held receives is bounded.
func TestHeld(t *testing.T) {
	// listens returns receives of one tag in turns, after one that may receive a tag from anyone.
	listens := func(tag int32) func(i int) match.Call {
		return func(i int) match.Call {
			if i == 0 {
				return match.Call{Op: irecv, Later: true, Request: 1, Start: 2, End: 3, Receives: true, From: mpi.AnySource, RecvTag: tag}
			}
			return match.Call{Op: recv, Start: uint64(10*i + 2), End: uint64(10*i + 5), Receives: true, RecvTag: int32(i % 1000)}
		}
	}
	for name, c := range map[string]struct {
		receive func(i int) match.Call
		matched func(n uint64) uint64
	}{
		"a listener for one tag": {listens(1 << 30), func(n uint64) uint64 { return n - 1 }},
		"a listener for all":     {listens(match.AnyTag), func(uint64) uint64 { return 0 }},
		"listeners without end": {func(i int) match.Call {
			return match.Call{Op: irecv, Later: true, Request: uint64(i + 1), Start: uint64(10*i + 2), End: uint64(10*i + 5), Receives: true, From: mpi.AnySource, RecvTag: int32(i % 1000)}
		}, func(uint64) uint64 { return 0 }},
	} {
		const n = 20_000
		sender := func(i int) match.Call {
			return match.Call{Op: send, Start: uint64(10*i + 1), End: uint64(10*i + 2), Sends: true, To: 1, SendTag: int32(i % 1000)}
		}
		r, m := run(n, thread{0, sender}, thread{1, c.receive})
		// Only 1000 receives later does a receive ask for the first message, which has tag 0.
		if want := c.matched(n); r.Receives.Matched+1 < want || r.Receives.Matched > want || r.Receives.Calls != n {
			t.Errorf("%s: %+v, not %d", name, r.Receives, want)
		}
		if m.held > mostHeld || m.queues > 2000 {
			t.Errorf("%s: %d receives held, %d queues", name, m.held, m.queues)
		}
	}
}
