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
	send, recv := op("Send"), op("Recv")
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

// TestAllTaken: receives from any source do not tell what they took. Once all messages that were
// sent have been received, later ones are matched again.
func TestAllTaken(t *testing.T) {
	any := from(mpi.AnySource, 7)
	wait := call("Waitall", 6, 20, of(1, 2))
	logs := func(receiver []match.Call, more ...match.Call) []*match.RankCalls {
		return world(append([]match.Call{call("Irecv", 0, 1, any, as(1)), call("Irecv", 1, 2, any, as(2))}, receiver...),
			append([]match.Call{call("Send", 3, 4, to(0, 7))}, more...), []match.Call{call("Send", 10, 11, to(0, 7))})
	}
	last := []match.Call{wait, call("Recv", 30, 45, from(1, 7))}
	later := call("Send", 40, 41, to(0, 7))
	for name, c := range map[string]struct {
		logs    []*match.RankCalls
		spoil   func([]*match.RankCalls)
		matched uint64
	}{
		"all taken":          {logs(last, later), nil, 1},
		"sent too early":     {logs(last, call("Send", 19, 20, to(0, 7))), nil, 0},
		"not complete":       {logs([]match.Call{call("Wait", 6, 20, of(1)), last[1]}, later), nil, 0},
		"complete too late":  {logs([]match.Call{call("Waitall", 6, 31, of(1, 2)), call("Recv", 32, 45, from(1, 7))}, call("Send", 30, 41, to(0, 7))), nil, 0},
		"one more was sent":  {logs(last, call("Send", 5, 6, to(0, 7)), later), nil, 0},
		"and received later": {logs([]match.Call{wait, last[1], call("Recv", 50, 52, from(1, 7)), call("Recv", 60, 70, from(1, 7))}, call("Send", 5, 6, to(0, 7)), later, call("Send", 65, 66, to(0, 7))), nil, 1},
		"a probe takes":      {logs([]match.Call{wait, call("Mprobe", 30, 45, from(1, 7)), call("Recv", 50, 60, from(1, 7))}, later, call("Send", 55, 56, to(0, 7))), nil, 1},
		"a probe may take":   {logs([]match.Call{wait, call("Improbe", 30, 45, from(1, 7)), call("Recv", 50, 60, from(1, 7))}, later, call("Send", 55, 56, to(0, 7))), nil, 0},
		"no log of a rank":   {logs(last, later), func(l []*match.RankCalls) { l[2].Comms = nil }, 0},
		"a log was cut":      {logs(last, later), func(l []*match.RankCalls) { l[2].Until = 1 << 40 }, 0},
		"another machine":    {logs(last, later), func(l []*match.RankCalls) { l[2].Host = "far" }, 0},
	} {
		if c.spoil != nil {
			c.spoil(c.logs)
		}
		r := Run(c.logs)
		if r.Receives.Matched != c.matched || r.Sends.Matched != c.matched {
			t.Errorf("%s: %+v, %+v", name, r.Sends, r.Receives)
		}
		if want := "late sender 0@30<1@40 10 x1; late sender done 0@30 4 x1"; name == "all taken" && show(r.Waits) != want {
			t.Errorf("%s: %s", name, show(r.Waits))
		}
	}
}
