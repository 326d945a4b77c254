package budget

import (
	"testing"
	"time"

	"ompp-attach/event"
)

// levelHit is a hit of a level's function: number 7 of its kind.
func levelHit(tid uint32, kind int) *event.Event {
	return &event.Event{TID: tid, Construct: event.UserRegion, Edge: event.Enter, Value: event.UserLevel + 3, Fn: event.LevelFn(kind, 7), Probe: event.ProbeNop5}
}

// The cost of a hit counts for its thread and its group. Each kind of levels is a group apart from
// the other kinds, and from the user's other regions.
func TestLedger(t *testing.T) {
	costs := event.HitCosts{}
	costs.Kinds[event.ProbeNop5] = event.HitCost{Before: 100, After: 200}
	costs.Kinds[event.ProbeNop5.LeftOut()] = event.HitCost{Before: 100, After: 50}
	l := NewLedger(costs)
	l.Begin(1000)
	lossy := levelHit(2, 3)
	lossy.Lost = 4
	end := levelHit(3, 2) // of a function that has called others of its library twice
	end.Edge, end.LeftOut = event.Release, 2
	for _, ev := range []*event.Event{
		levelHit(1, 1), levelHit(1, 1), levelHit(1, 2), levelHit(1, event.LevelKinds), levelHit(2, 1), lossy, end,
		levelHit(1, 0), // of an older stream: no kind
		{TID: 1, Construct: event.UserRegion, Fn: 0x401000, Probe: event.ProbeNop5},
		// A lock's address is no level.
		{TID: 1, Construct: event.Lock, Fn: 1 << 63, Probe: event.ProbeNop5},
		{TID: 1, Construct: event.Parallel, Probe: event.ProbeNop5},
	} {
		l.Pay(ev)
	}
	paid := l.Turn(5000)
	want := map[uint32]Paid{
		1: {event.GroupUser + 1: 600, event.GroupUser + 2: 300, event.GroupUser + event.LevelKinds: 300,
			event.GroupUser: 600, event.GroupLock: 300, event.NoGroup: 300},
		2: {event.GroupUser + 1: 300, event.GroupUser + 3: 1500},
		3: {event.GroupUser + 2: 300 + 2*150},
	}
	for tid, w := range want {
		if paid[tid] == nil || *paid[tid] != w {
			t.Errorf("thread %d has paid %v, want %v", tid, paid[tid], w)
		}
	}
	if len(paid) != len(want) || len(l.Turn(6000)) != 0 || l.Measured() != 4000 {
		t.Errorf("%d threads have paid, in %d ns", len(paid), l.Measured())
	}
}

// A level that is called in a storm is let go. A level and user regions that cost little stay.
func TestGovernorLetsGoOneLevel(t *testing.T) {
	costs := event.HitCosts{}
	costs.Kinds[event.ProbeNop5] = event.HitCost{Before: 100, After: 200}
	g, l := NewGovernor(0.05), NewLedger(costs)
	now, gone := uint64(1e9), map[event.Group]time.Duration{}
	for now < 11e9 {
		for n := range 20000 { // of 300 ns
			if !g.groups[event.LevelGroup(2)].removed || n < 10 {
				l.Pay(levelHit(1, 2))
			}
		}
		l.Pay(levelHit(1, 1))
		l.Pay(&event.Event{TID: 1, Construct: event.UserRegion, Fn: 0x401000, Probe: event.ProbeNop5})
		now += uint64(g.Interval)
		g.Decide(now, l.Turn(now))
		for group := range event.NumGroups {
			if g.groups[group].removed {
				gone[group] += g.Interval
			}
		}
	}
	if len(gone) != 1 || gone[event.LevelGroup(2)] < 8*time.Second {
		t.Errorf("let go: %v, want the second kind of levels only", gone)
	}
}
