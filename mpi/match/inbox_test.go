package match

import (
	"testing"

	"ompp-attach/mpi"
)

// tagged yields calls with a tag each, and notes how many queues there are meanwhile.
type tagged struct {
	r     *run
	n     int
	make  func(i int) Call
	at    int
	call  Call
	most  int
	taken int
}

func (g *tagged) Next() (*Call, bool) {
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

// TestManyTags: of messages that have a tag each, none stays in memory. If so many tags are closed, or
// taken, that they cannot be told apart, messages are left out.
func TestManyTags(t *testing.T) {
	send, recv := op("Send"), op("Recv")
	at := func(i int, o mpi.Op) Call {
		start := uint64(10 * i)
		return Call{Op: o, Start: start, End: start + 5, Sends: o == send, Receives: o == recv, SendTag: int32(i), RecvTag: int32(i)}
	}
	sends := func(i int) Call { c := at(i, send); c.To = 1; return c }
	for name, c := range map[string]struct {
		n       int
		receive func(i int) Call
		threads int // of the sender
		matched func(*Result, uint64) bool
	}{
		"a tag each": {1_000_000, func(i int) Call { c := at(i, recv); c.Start++; return c }, 1,
			func(r *Result, n uint64) bool { return r.Receives.Matched == n && r.Sends.Matched == n }},
		"from any source": {50_000, func(i int) Call { c := at(i, recv); c.Start++; c.From = mpi.AnySource; return c }, 1,
			func(r *Result, n uint64) bool {
				return r.Receives.Left[Wildcard] == n && r.Sends.Left[Wildcard]+r.Sends.Left[NoPartner] == n
			}},
		"sent by two threads at once": {50_000, func(i int) Call { c := at(i, recv); c.Start++; return c }, 2,
			func(r *Result, n uint64) bool {
				return r.Receives.Left[Threads]+r.Receives.Matched+r.Receives.Left[NoPartner] == n && r.Receives.Left[Threads] > n/2 && r.Sends.Left[Threads] > n
			}},
	} {
		n := c.n
		if testing.Short() {
			n /= 5
		}
		r := &run{waits: sums{}}
		g := &tagged{r: r, n: n, make: c.receive}
		comms := func(rank int32) []Comm { return []Comm{{Name: "world", Size: 2, Rank: rank}} }
		sender := &RankCalls{Rank: 0, Comms: comms(0)}
		for thread := range c.threads {
			sender.Threads = append(sender.Threads, &tagged{r: r, n: n, make: func(i int) Call { c := sends(i); c.Thread = thread; return c }})
		}
		got := r.all([]*RankCalls{sender, {Rank: 1, Comms: comms(1), Threads: []Calls{g}}})
		if !c.matched(got, uint64(n)) {
			t.Errorf("%s: %+v", name, got)
		}
		if bound := 4 * mostClosed; g.most > bound || g.taken > mostTaken || c.threads == 1 && g.most > 2*fewQueues {
			t.Errorf("%s: %d queues, %d taken", name, g.most, g.taken)
		}
	}
}
