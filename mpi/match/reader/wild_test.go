package reader

import (
	"maps"
	"testing"

	"ompp-attach/mpi"
	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/pattern"
)

// tells adds what a call's first request received, and so on.
func tells(came ...match.Came) func(*match.Call) { return func(c *match.Call) { c.Came = came } }

func came(at int, from, tag int32) match.Came { return match.Came{At: at, From: from, Tag: tag} }

// TestTold: a nonblocking receive from any source, or of any tag, that tells what it received is a
// receive of that sender and tag, in its place in the order of receives.
func TestTold(t *testing.T) {
	any := func(tag int32) func(*match.Call) { return from(mpi.AnySource, tag) }
	send := func(at uint64, rank, tag int32) match.Call { return call("Send", at, at+1, to(rank, tag)) }
	for _, c := range []struct {
		name                   string
		receiver, first, other []match.Call
		receives, waits        uint64 // matched
		want                   string
	}{
		{"told", []match.Call{call("Irecv", 0, 1, any(7), as(1)), call("Wait", 2, 20, of(1), tells(came(0, 1, 7)))},
			[]match.Call{send(10, 0, 7)}, nil, 1, 1, "late sender 0@2<1@10 8 x1; late sender done 0@2 9 x1"},
		{"the tag is told", []match.Call{call("Irecv", 0, 1, from(1, match.AnyTag), as(1)), call("Irecv", 1, 2, from(1, 7), as(2)),
			call("Waitall", 2, 20, of(2, 1), tells(came(1, 1, 8)))},
			[]match.Call{send(10, 0, 7), send(12, 0, 8)}, nil, 2, 1, "late sender 0@2<1@12 10 x1; late sender done 0@2 7 x1"},
		{"a receive waits behind it", []match.Call{call("Irecv", 0, 1, any(7), as(1)), call("Recv", 2, 20, from(1, 7)), call("Wait", 21, 22, of(1), tells(came(0, 1, 7)))},
			[]match.Call{send(3, 0, 7), send(15, 0, 7)}, nil, 2, 1, "late sender 0@2<1@15 13 x1; late sender done 0@2 4 x1; wrong order 0@2<1@15 13 x1"},
		{"it took another message", []match.Call{call("Irecv", 0, 1, any(7), as(1)), call("Recv", 2, 20, from(1, 7)), call("Wait", 21, 22, of(1), tells(came(0, 2, 7)))},
			[]match.Call{send(3, 0, 7)}, []match.Call{send(15, 0, 7)}, 2, 1, "late sender 0@2<1@3 1 x1; late sender done 0@2 16 x1"},
		{"told in another order", []match.Call{call("Irecv", 0, 1, any(7), as(1)), call("Irecv", 1, 2, any(7), as(2)), call("Wait", 3, 20, of(2), tells(came(0, 1, 7))),
			call("Wait", 21, 30, of(1), tells(came(0, 1, 7)))},
			[]match.Call{send(5, 0, 7), send(25, 0, 7)}, nil, 2, 2, "late sender 0@3<1@25 17 x1"},
		{"the status was ignored", []match.Call{call("Irecv", 0, 1, any(7), as(1)), call("Wait", 2, 20, of(1)), call("Recv", 30, 45, from(1, 7))},
			[]match.Call{send(10, 0, 7), send(40, 0, 7)}, nil, 1, 0, "late sender 0@30<1@40 10 x1; late sender done 0@30 4 x1"},
		{"a test completed it", []match.Call{call("Irecv", 0, 1, any(7), as(1)), call("Irecv", 30, 31, from(1, 7), as(1)), call("Wait", 32, 45, of(1))},
			[]match.Call{send(10, 0, 7), send(40, 0, 7)}, nil, 0, 0, ""},
		{"a receive before it stays in order", []match.Call{call("Irecv", 0, 1, from(1, 7), as(2)), call("Irecv", 1, 2, any(7), as(1)), call("Wait", 3, 20, of(2)), call("Irecv", 30, 31, from(1, 7), as(1))},
			[]match.Call{send(10, 0, 7), send(12, 0, 7), send(40, 0, 7)}, nil, 1, 1, "late sender 0@3<1@10 7 x1; late sender done 0@3 9 x1"},
		{"never complete", []match.Call{call("Irecv", 0, 1, any(7), as(1)), call("Recv", 2, 20, from(1, 7))},
			[]match.Call{send(10, 0, 7)}, nil, 0, 0, ""},
		{"other tags do not wait", []match.Call{call("Irecv", 0, 1, any(7), as(1)), call("Recv", 2, 20, from(1, 8))},
			[]match.Call{send(10, 0, 8)}, nil, 1, 0, "late sender 0@2<1@10 8 x1; late sender done 0@2 9 x1"},
		{"not what it asked for", []match.Call{call("Irecv", 0, 1, any(7), as(1)), call("Wait", 2, 20, of(1), tells(came(0, 1, 8)))},
			[]match.Call{send(10, 0, 8)}, nil, 0, 0, ""},
		{"behind a probe", []match.Call{call("Irecv", 0, 1, any(7), as(1)), call("Improbe", 2, 3, any(7)), call("Wait", 4, 20, of(1), tells(came(0, 1, 7))), call("Recv", 30, 45, from(1, 7))},
			[]match.Call{send(10, 0, 7), send(40, 0, 7)}, nil, 1, 1, "late sender 0@4<1@10 6 x1; late sender done 0@4 9 x1"},
		// The message that is sent first is asked for first, so the second one does not overtake
		// it.
		{"no overtaking", []match.Call{call("Irecv", 0, 1, any(7), as(1)), call("Recv", 12, 20, from(1, 8)), call("Wait", 21, 22, of(1), tells(came(0, 1, 7)))},
			[]match.Call{call("Isend", 3, 4, to(0, 7), as(9)), call("Ssend", 5, 15, to(0, 8))}, nil, 2, 1, "late receiver 1@5<0@12 7 x1"},
		{"sent and received", []match.Call{call("Isendrecv", 0, 1, to(1, 3), any(7), as(1)), call("Wait", 2, 20, of(1), tells(came(0, 1, 7)))},
			[]match.Call{call("Recv", 0, 9, from(0, 3)), send(10, 0, 7)}, nil, 2, 1, "late sender 0@2<1@10 8 x1; late sender done 0@2 9 x1"},
	} {
		r := Run(world(c.receiver, c.first, c.other))
		if got := show(r.Waits); got != c.want || r.Receives.Matched != c.receives || r.Sends.Matched != c.receives || r.Requests.Matched != c.waits {
			t.Errorf("%s: %s, %+v, %+v", c.name, got, r.Receives, r.Requests)
		}
		if n := r.Receives; n.Matched+n.Left[match.Wildcard]+n.Left[match.NoPartner] != n.Calls {
			t.Errorf("%s: %+v", c.name, n)
		}
	}
}

// untell makes some of the nonblocking receives of a model receive from any source, or any tag. The
// calls that wait for them tell what they received, if told says so. It returns how many do tell,
// and how many do not.
func (m *model) untell(told func() bool) (tell, not int) {
	for _, e := range m.events {
		c := m.of(e)
		if e.kind != pattern.Message || e.send || !c.Later || m.rand.IntN(3) > 0 {
			continue
		}
		came := match.Came{From: c.From, Tag: c.RecvTag}
		if !told() {
			not++
		} else if e.wait < 0 {
			continue
		} else {
			tell++
			w := &m.calls[e.rank][e.wait]
			for came.At = range w.Completes {
				if w.Completes[came.At] == c.Request {
					break
				}
			}
			i := 0
			for i < len(w.Came) && w.Came[i].At < came.At {
				i++
			}
			w.Came = append(w.Came[:i], append([]match.Came{came}, w.Came[i:]...)...)
		}
		if m.rand.IntN(3) > 0 {
			c.From = mpi.AnySource
		}
		if c.From != mpi.AnySource || m.rand.IntN(3) == 0 {
			c.RecvTag = match.AnyTag
		}
	}
	return tell, not
}

// TestModelTold: with receives from any source that tell what they received, all is as if they had
// asked for that.
func TestModelTold(t *testing.T) {
	total := 0
	for seed := range uint64(300) {
		m := newModel(seed)
		want := m.truth()
		tell, _ := m.untell(func() bool { return true })
		total += tell
		r := Run(m.logs())
		if got := found(r); !maps.Equal(got, want) {
			t.Fatalf("seed %d:\ngot  %v\nwant %v", seed, got, want)
		}
		m.checkCounts(t, r)
		if r.Requests.Matched != r.Requests.Calls {
			t.Fatalf("seed %d: %+v", seed, r.Requests)
		}
	}
	if total < 3000 {
		t.Errorf("only %d receives told", total)
	}
}

// TestModelSometimesTold: whatever tells, and wherever logs end, no wait is wrong, and each message
// is counted.
func TestModelSometimesTold(t *testing.T) {
	known, untold := 0, 0
	for seed := range uint64(360) {
		m := newModel(seed)
		if seed%2 > 0 { // the log of a rank stops early
			rank := m.rand.IntN(len(m.now))
			m.until[rank] = m.rand.Uint64N(m.now[rank])
		}
		want := m.truth()
		_, not := m.untell(func() bool { return m.rand.IntN(20) > 0 })
		untold += not
		r := Run(m.logs())
		for name, wait := range found(r) {
			if want[name] != wait {
				t.Fatalf("seed %d: %s: %d, not %d", seed, name, wait, want[name])
			}
		}
		total := 0
		for _, e := range m.events {
			if e.kind == pattern.Message && !e.send && m.seen(e.rank, e.begin) {
				total++
			}
		}
		if n := r.Receives; int(n.Calls) != total || n.Matched+n.Left[match.Wildcard]+n.Left[match.NoPartner] != n.Calls || r.Sends.Matched != n.Matched {
			t.Fatalf("seed %d: %+v", seed, r)
		}
		known += int(r.Receives.Matched)
	}
	if known < 8000 || untold < 200 {
		t.Errorf("%d receives were matched, %d did not tell", known, untold)
	}
}

// TestHeld: a receive that is never complete holds no others than those that may take the same
// messages, and what is held is bounded.
func TestHeld(t *testing.T) {
	recv, irecv, send := op("Recv"), op("Irecv"), op("Send")
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
