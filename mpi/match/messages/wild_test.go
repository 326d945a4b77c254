package messages_test

import (
	"maps"
	"testing"

	"ompp-attach/mpi"
	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/matchtest"
)

// TestTold: a nonblocking receive from any source, or of any tag, may tell which message it
// received. Then it counts as a receive of that sender and tag, at its place in the order of
// receives.
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
		r := matchtest.Run(world(c.receiver, c.first, c.other))
		if got := show(r.Waits); got != c.want || r.Receives.Matched != c.receives || r.Sends.Matched != c.receives || r.Requests.Matched != c.waits {
			t.Errorf("%s: %s, %+v, %+v", c.name, got, r.Receives, r.Requests)
		}
		if n := r.Receives; n.Matched+n.Left[match.Wildcard]+n.Left[match.NoPartner] != n.Calls {
			t.Errorf("%s: %+v", c.name, n)
		}
	}
}

// TestModelTold: receives from any source that tell their messages give the same result as receives
// that ask for these messages.
func TestModelTold(t *testing.T) {
	total := 0
	for seed := range uint64(300) {
		m := matchtest.NewModel(seed)
		want := m.Truth()
		tell, _ := m.Untell(func() bool { return true })
		total += tell
		r := matchtest.Run(m.Logs())
		if got := matchtest.Found(r); !maps.Equal(got, want) {
			t.Fatalf("seed %d:\ngot  %v\nwant %v", seed, got, want)
		}
		m.CheckCounts(t, r)
		if r.Requests.Matched != r.Requests.Calls {
			t.Fatalf("seed %d: %+v", seed, r.Requests)
		}
	}
	if total < 3000 {
		t.Errorf("only %d receives told", total)
	}
}

// TestModelSometimesTold: whichever receives tell their messages, and wherever logs end, no wait is
// wrong, and each message is counted.
func TestModelSometimesTold(t *testing.T) {
	known, untold := 0, 0
	for seed := range uint64(360) {
		m := matchtest.NewModel(seed)
		if seed%2 > 0 { // the log of a rank stops early
			rank := m.Rand.IntN(len(m.Now))
			m.Until[rank] = m.Rand.Uint64N(m.Now[rank])
		}
		want := m.Truth()
		_, not := m.Untell(func() bool { return m.Rand.IntN(20) > 0 })
		untold += not
		r := matchtest.Run(m.Logs())
		for name, wait := range matchtest.Found(r) {
			if want[name] != wait {
				t.Fatalf("seed %d: %s: %d, not %d", seed, name, wait, want[name])
			}
		}
		total := 0
		for _, e := range m.Events {
			if e.Receives() && m.Seen(e.Rank, e.Begin) {
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
