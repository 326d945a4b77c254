package attribution

import (
	"testing"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// levelEvents builds the events of one thread: a beginning or an end in a level,
// at a stack pointer.
type levelEvent struct {
	begins    bool
	level     int
	fn, sp    uint64
	inside    bool
	continues bool
}

func TestLevels(t *testing.T) {
	const a, b = 0, 1 // levels
	type counts map[uint64]profile.Sum
	for _, c := range []struct {
		name   string
		events []levelEvent // one every 10 ns
		want   counts       // by function
	}{
		{"a call", []levelEvent{{true, a, 1, 100, false, false}, {false, a, 1, 100, false, false}}, counts{1: {T: 10, C: 1}}},
		{"an inner call of the level", []levelEvent{{true, a, 1, 100, false, false}, {true, a, 2, 80, true, false}, {false, a, 2, 80, false, false},
			{false, a, 1, 100, false, false}}, counts{1: {T: 30, C: 1}}},
		{"a call of another level of the library", []levelEvent{{true, a, 1, 100, false, false}, {true, b, 3, 80, true, false}, {true, b, 4, 60, true, false},
			{false, b, 4, 60, false, false}, {false, b, 3, 80, false, false}, {false, a, 1, 100, false, false}}, counts{1: {T: 50, C: 1}, 3: {T: 30, C: 1}}},
		{"a callback that calls the library", []levelEvent{{true, a, 1, 100, false, false}, {true, a, 2, 60, false, false}, {false, a, 2, 60, false, false},
			{false, a, 1, 100, false, false}}, counts{1: {T: 30, C: 1}, 2: {T: 10, C: 1}}},
		{"a jump within the level", []levelEvent{{true, a, 1, 100, false, false}, {true, a, 2, 100, false, true}, {false, a, 2, 100, false, false}},
			counts{1: {T: 20, C: 1}}},
		{"a jump to another level ends both", []levelEvent{{true, a, 1, 100, false, false}, {true, b, 3, 100, false, true}, {false, b, 3, 100, false, false}},
			counts{1: {T: 20, C: 1}, 3: {T: 10, C: 1}}},
		{"an end that was not seen", []levelEvent{{true, a, 1, 100, false, false}, {true, a, 2, 100, false, false}, {false, a, 2, 100, false, false}},
			counts{1: {T: 10, C: 1}, 2: {T: 10, C: 1}}},
		{"left by an exception", []levelEvent{{true, a, 1, 100, false, false}, {true, b, 3, 80, true, false}, {false, a, 1, 100, false, false}},
			counts{1: {T: 20, C: 1}, 3: {T: 10, C: 1}}},
		{"an end without a beginning", []levelEvent{{false, a, 1, 100, false, false}, {true, a, 2, 90, false, false}, {false, a, 2, 90, false, false}},
			counts{2: {T: 10, C: 1}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := New(1, fakeFiles{})
			for i, x := range c.events {
				ev := event.Event{Time: uint64(10 + 10*i), TID: 1, Construct: event.UserRegion, Edge: event.Release, SP: x.sp, Fn: x.fn,
					Value: int64(event.UserLevel + x.level)}
				if x.begins {
					ev.Edge, ev.Site = event.Enter, 1000+x.fn
				}
				if x.inside {
					ev.Flags |= event.Inside
				}
				if x.continues {
					ev.Value |= event.UserContinues
				}
				e.Feed(&ev)
			}
			p := e.Finish(1000)
			got := counts{}
			for _, n := range p.Nodes[1:] {
				for _, s := range n.Stats {
					fn := p.Regions[n.Region].Location.Offset
					if fn == 0 {
						fn = uint64(p.Regions[n.Region].Location.Begin)
					}
					got[fn%1000] = profile.Sum{T: s.Exec.T, C: s.Exec.C}
				}
			}
			if len(got) != len(c.want) || p.Meta.Unmatched != 0 {
				t.Errorf("%v, %d unmatched, want %v", got, p.Meta.Unmatched, c.want)
			}
			for fn, s := range c.want {
				if got[fn] != s {
					t.Errorf("function %d: %+v, want %+v", fn, got[fn], s)
				}
			}
		})
	}
}
