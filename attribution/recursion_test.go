package attribution

import (
	"math/rand/v2"
	"testing"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// Functions that call each other at random. The tree stays small, holds every call, and its times
// add up to those that each function has to itself.
func TestMutualRecursion(t *testing.T) {
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		e := New(1, fakeFiles{})
		now, all, calls, own := uint64(0), 0, map[int]uint64{}, map[int]int64{}
		var call func(sp uint64)
		call = func(sp uint64) {
			fn := 500 + 10*rnd.IntN(3)
			pass := func() {
				d := rnd.Uint64N(10)
				now += d
				own[fn] += int64(d)
			}
			ev := event.Event{PID: 1, TID: 1, Construct: event.UserRegion, Edge: event.Enter, Time: now, Site: uint64(fn), SP: sp}
			calls[fn]++
			all++
			e.Feed(&ev)
			pass()
			for sp > 6000 && all < 2000 && rnd.IntN(5) < 3 {
				call(sp - 100)
				pass()
			}
			ev.Edge, ev.Time = event.Release, now
			e.Feed(&ev)
		}
		for range 10 {
			call(9000)
		}
		p := e.Finish(now)
		if err := profile.Validate(p); err != nil {
			t.Fatal(err)
		}
		if len(p.Nodes) > 100 {
			t.Errorf("seed %d: %d nodes of %d calls", seed, len(p.Nodes), all)
		}
		below := make([]int64, len(p.Nodes))
		for i := len(p.Nodes) - 1; i > 0; i-- {
			n := &p.Nodes[i]
			s, line := n.Stats[0], p.Regions[n.Region].Location.Begin
			calls[line] -= s.Exec.C
			own[line] -= s.Exec.T - s.Child
			if s.Child != below[i] {
				t.Errorf("seed %d: child %d, but the nodes below have %d", seed, s.Child, below[i])
			}
			below[n.Parent] += s.Exec.T
		}
		if below[0] != int64(now) {
			t.Errorf("seed %d: %d in all, want %d", seed, below[0], now)
		}
		for fn := range calls {
			if calls[fn] != 0 || own[fn] != 0 {
				t.Errorf("seed %d, function %d: %d calls and %d ns are missing", seed, fn, calls[fn], own[fn])
			}
		}
	}
}
