package reader

import (
	"maps"
	"testing"

	"ompp-attach/mpi"
	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/pattern"
)

// TestModel compares the matcher with programs whose waits are known.
func TestModel(t *testing.T) {
	waits := 0
	for seed := range uint64(300) {
		m := newModel(seed)
		if seed%3 > 0 { // logs of some ranks stop early
			rank := m.rand.IntN(len(m.now))
			m.until[rank] = m.rand.Uint64N(m.now[rank])
		}
		want, r := m.truth(), Run(m.logs())
		if got := found(r); !maps.Equal(got, want) {
			t.Fatalf("seed %d:\ngot  %v\nwant %v", seed, got, want)
		}
		waits += len(want)
		m.checkCounts(t, r)
	}
	if waits < 3000 {
		t.Errorf("%d waits only", waits)
	}
}

// checkCounts compares the numbers of what was matched, and what was not.
func (m *model) checkCounts(t *testing.T, r *match.Result) {
	t.Helper()
	var sends, receives, probes, collectives, epochs, locks match.Count
	for _, e := range m.events {
		if !m.seen(e.rank, e.begin) {
			continue
		}
		n := &collectives
		if e.kind == pattern.Message && e.send {
			n = &sends
		} else if e.kind == pattern.Message {
			n = &receives
		} else if e.kind == pattern.Probing {
			n = &probes
		} else if e.kind >= pattern.Posting && e.kind <= pattern.Exposed {
			n = &epochs
		} else if e.kind == pattern.Locking {
			n = &locks
		}
		if n.Calls++; m.matched(e) {
			n.Matched++
		} else {
			n.Left[match.NoPartner]++
		}
	}
	if r.Sends != sends || r.Receives != receives || r.Probes != probes || r.Collectives != collectives || r.Epochs != epochs || r.Locks != locks {
		t.Fatalf("got  %+v %+v %+v %+v %+v %+v\nwant %+v %+v %+v %+v %+v %+v",
			r.Sends, r.Receives, r.Probes, r.Collectives, r.Epochs, r.Locks, sends, receives, probes, collectives, epochs, locks)
	}
}

// TestModelWildcards: receives that do not tell their source make waits unknown, never wrong.
func TestModelWildcards(t *testing.T) {
	known := 0
	for seed := range uint64(200) {
		m := newModel(seed)
		want := m.truth()
		total := 0
		for _, e := range m.events {
			if c := m.of(e); e.kind == pattern.Message && !e.send {
				if total++; m.rand.IntN(40) == 0 {
					c.From = mpi.AnySource
				}
			}
		}
		r := Run(m.logs())
		known += int(r.Receives.Matched)
		for name, wait := range found(r) {
			if want[name] != wait {
				t.Fatalf("seed %d: %s: %d, not %d", seed, name, wait, want[name])
			}
		}
		if n := r.Receives; int(n.Calls) != total || n.Matched+n.Left[match.Wildcard]+n.Left[match.NoPartner] != n.Calls || r.Sends.Matched != n.Matched {
			t.Fatalf("seed %d: %+v", seed, r)
		}
	}
	if known < 10000 {
		t.Errorf("%d receives were matched only", known)
	}
}

// TestThreadsInTurn: it does not matter how the calls of a rank are divided among threads that
// never call MPI at the same time.
func TestThreadsInTurn(t *testing.T) {
	for seed := range uint64(50) {
		m := newModel(seed)
		logs := m.logs()
		want := found(Run(logs))
		for rank, l := range m.logs() {
			byThread := make([]match.List, 3)
			for _, c := range m.calls[rank] {
				c.Thread = m.rand.IntN(3)
				byThread[c.Thread] = append(byThread[c.Thread], c)
			}
			l.Threads = nil
			for i := range byThread {
				l.Threads = append(l.Threads, &byThread[i])
			}
			logs[rank] = l
		}
		if got := found(Run(logs)); !maps.Equal(got, want) {
			t.Fatalf("seed %d: got %v\nwant %v", seed, got, want)
		}
	}
}
