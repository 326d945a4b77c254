package reader_test

import (
	"maps"
	"testing"

	"ompp-attach/mpi"
	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/matchtest"
	"ompp-attach/mpi/match/pattern"
	"ompp-attach/mpi/match/reader"
)

// TestModel compares the matcher with programs whose waits are known.
func TestModel(t *testing.T) {
	waits := 0
	for seed := range uint64(300) {
		m := matchtest.NewModel(seed)
		if seed%3 > 0 { // logs of some ranks stop early
			rank := m.Rand.IntN(len(m.Now))
			m.Until[rank] = m.Rand.Uint64N(m.Now[rank])
		}
		want, r := m.Truth(), reader.Run(m.Logs())
		if got := matchtest.Found(r); !maps.Equal(got, want) {
			t.Fatalf("seed %d:\ngot  %v\nwant %v", seed, got, want)
		}
		waits += len(want)
		m.CheckCounts(t, r)
	}
	if waits < 3000 {
		t.Errorf("%d waits only", waits)
	}
}

// TestModelWildcards: receives that do not tell their source make waits unknown, never wrong.
func TestModelWildcards(t *testing.T) {
	known := 0
	for seed := range uint64(200) {
		m := matchtest.NewModel(seed)
		want := m.Truth()
		total := 0
		for _, e := range m.Events {
			if c := m.Of(e); e.Kind == pattern.Message && !e.Send {
				if total++; m.Rand.IntN(40) == 0 {
					c.From = mpi.AnySource
				}
			}
		}
		r := reader.Run(m.Logs())
		known += int(r.Receives.Matched)
		for name, wait := range matchtest.Found(r) {
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
		m := matchtest.NewModel(seed)
		logs := m.Logs()
		want := matchtest.Found(reader.Run(logs))
		for rank, l := range m.Logs() {
			byThread := make([]match.List, 3)
			for _, c := range m.Calls[rank] {
				c.Thread = m.Rand.IntN(3)
				byThread[c.Thread] = append(byThread[c.Thread], c)
			}
			l.Threads = nil
			for i := range byThread {
				l.Threads = append(l.Threads, &byThread[i])
			}
			logs[rank] = l
		}
		if got := matchtest.Found(reader.Run(logs)); !maps.Equal(got, want) {
			t.Fatalf("seed %d: got %v\nwant %v", seed, got, want)
		}
	}
}
