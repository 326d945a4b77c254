package windows_test

import (
	"maps"
	"testing"

	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/matchtest"
)

// TestLocks are locks whose waits follow from the definitions.
func TestLocks(t *testing.T) {
	// holds is a rank that has a lock from 0 to 9.
	holds := func(set func(*match.Call)) []match.Call {
		return []match.Call{call("Win_lock", 0, 1, set), call("Win_unlock", 9, 10, set)}
	}
	asks := func(set func(*match.Call)) []match.Call {
		return []match.Call{call("Win_lock", 3, 11, set), call("Win_unlock", 12, 13, set)}
	}
	const waits = "lock 1@3<0@9 6 x1"
	for _, c := range []struct {
		name  string
		ranks [][]match.Call
		want  string
	}{
		{"exclusive", [][]match.Call{holds(exclusive(0)), asks(exclusive(0))}, waits},
		{"shared, then exclusive", [][]match.Call{holds(shared(0)), asks(exclusive(0))}, waits},
		{"exclusive, then shared", [][]match.Call{holds(exclusive(0)), asks(shared(0))}, waits},
		{"shared", [][]match.Call{holds(shared(0)), asks(shared(0))}, ""},
		{"of two targets", [][]match.Call{holds(exclusive(0)), asks(exclusive(1))}, ""},
		{"all, then one", [][]match.Call{{call("Win_lock_all", 0, 1, sharedAll), call("Win_unlock_all", 9, 10)}, asks(exclusive(1))}, waits},
		{"all, then one that is shared", [][]match.Call{{call("Win_lock_all", 0, 1, sharedAll), call("Win_unlock_all", 9, 10)}, asks(shared(1))}, ""},
		{"one, then all", [][]match.Call{holds(exclusive(1)), {call("Win_lock_all", 3, 11, sharedAll), call("Win_unlock_all", 12, 13)}}, waits},
		{"free in time", [][]match.Call{{call("Win_lock", 0, 1, exclusive(0)), call("Win_unlock", 1, 2, exclusive(0))}, asks(exclusive(0))}, ""},
		{"a lock that does not wait", [][]match.Call{holds(exclusive(0)), {call("Win_lock", 3, 4, exclusive(0)), call("Win_unlock", 5, 13, exclusive(0))}}, ""},
		{"the last of two holders", [][]match.Call{holds(exclusive(0)), {call("Win_lock", 2, 14, exclusive(0)), call("Win_unlock", 15, 16, exclusive(0))},
			{call("Win_lock", 1, 10, exclusive(0)), call("Win_unlock", 12, 13, exclusive(0))}},
			"lock 1@2<2@12 10 x1; lock 2@1<0@9 8 x1"},
		{"calls of others in between", [][]match.Call{{call("Win_lock", 0, 1, exclusive(0)), call("Win_lock", 2, 3, exclusive(1)), call("Win_unlock", 4, 5, exclusive(1)), call("Win_unlock", 9, 10, exclusive(0))}, asks(exclusive(0))}, waits},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := matchtest.Run(world(c.ranks...))
			if got := show(r.Waits); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if r.Locks.Calls < 2 || r.Locks.Calls != r.Locks.Matched {
				t.Errorf("not all matched: %+v", r.Locks)
			}
		})
	}
	for name, spoil := range map[match.Reason]func([]*match.RankCalls){
		match.NoPartner: func(l []*match.RankCalls) { l[0].Until = 8000 },
		match.Apart:     func(l []*match.RankCalls) { l[0].Host = "other" },
		match.NoComm:    func(l []*match.RankCalls) { l[1].Comms[0].Name = "" },
	} {
		logs := world(holds(exclusive(0)), asks(exclusive(0)))
		spoil(logs)
		if r := matchtest.RunAcross(logs, matchtest.Uncompared{}); len(r.Waits) > 0 || r.Locks.Left[name] == 0 {
			t.Errorf("reason %d: %+v", name, r)
		}
	}
}

// TestModelLocks compares waits for locks with programs whose waits are known.
func TestModelLocks(t *testing.T) {
	waits := 0
	for seed := range uint64(200) {
		m := matchtest.NewModel(seed, (*matchtest.Model).Locks)
		if seed%3 > 0 { // logs of some ranks stop early
			rank := m.Rand.IntN(len(m.Now))
			m.Until[rank] = m.Rand.Uint64N(m.Now[rank])
		}
		want, r := m.Truth(), matchtest.Run(m.Logs())
		if got := matchtest.Found(r); !maps.Equal(got, want) {
			t.Fatalf("seed %d:\ngot  %v\nwant %v", seed, got, want)
		}
		for _, w := range r.Waits {
			if w.Property == match.LockContention {
				waits++
			}
		}
		m.CheckCounts(t, r)
	}
	if waits < 1000 {
		t.Errorf("%d waits for locks only", waits)
	}
}
