package attribution

import (
	"maps"
	"math/rand/v2"
	"testing"

	"ompp-attach/attribution/estimate"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// levelCall is a call of a level's function, with the calls made during it.
type levelCall struct {
	kind, fn int
	begin    uint64
	inner    []levelCall
}

// callLevels makes calls of functions of three kinds: levels of kinds 1 and 2, and a function that
// the user has named (0). It appends their events, and returns the time after them.
func callLevels(rnd *rand.Rand, now, sp uint64, depth int, on *[]event.Event, calls *[]levelCall) uint64 {
	for range 1 + rnd.IntN(4) {
		c := levelCall{kind: rnd.IntN(3), fn: 10*depth + rnd.IntN(3), begin: now + 1 + rnd.Uint64N(20)}
		ev := event.Event{Time: c.begin, TID: 1, Construct: event.UserRegion, Edge: event.Enter, SP: sp, Site: 1000 + uint64(c.fn),
			Fn: 5000 + uint64(c.fn)}
		if c.kind > 0 {
			ev.Fn, ev.Value = event.LevelFn(c.kind, c.fn), int64(event.UserLevel+c.kind)
		}
		*on = append(*on, ev)
		now = c.begin
		if depth < 4 && rnd.IntN(2) == 0 {
			now = callLevels(rnd, now, sp-100, depth+1, on, &c.inner)
		}
		now += 1 + rnd.Uint64N(20)
		ev.Time, ev.Edge = now, event.Release
		*on = append(*on, ev)
		*calls = append(*calls, c)
	}
	return now
}

// begun counts the calls that began while their kind was observed: in all, and before a time.
func begun(calls []levelCall, before uint64, away func(kind int, at uint64) bool, n *[3][2]uint64) {
	for _, c := range calls {
		if !away(c.kind, c.begin) {
			n[c.kind][0]++
			if c.begin < before {
				n[c.kind][1]++
			}
		}
		begun(c.inner, before, away, n)
	}
}

// kindCounts are the observed executions of a profile of callLevels, by kind, and the estimates.
func kindCounts(p *profile.Profile) (n, estimated [3]uint64) {
	for _, x := range p.Nodes[1:] {
		r := &p.Regions[x.Region]
		kind := 0
		if f := r.Location.Offset; f != 0 {
			kind = event.SetOf(event.Element(r.Construct, f)).LevelKind()
		}
		for _, s := range x.Stats {
			n[kind] += s.Exec.C
			if e := s.Estimate; e != nil {
				n[kind] -= e.Exec.C
				estimated[kind] += e.Exec.C
			}
		}
	}
	return n, estimated
}

// fnPlaces places a level's function at its Fn.
type fnPlaces struct{ fakeFiles }

func (fnPlaces) Region(k Key) profile.Region {
	r := profile.Region{Construct: k.Construct}
	if _, ok := event.LevelFunction(k.Fn); ok {
		r.Location.Offset = k.Fn
	} else {
		r.Location.File, r.Location.Begin = "a.c", int(k.Fn)
	}
	return r
}

// Levels call each other in any way, and one kind of them is not observed at any times. All calls
// of the others are counted, and of that kind those that were observed. The profile says how many
// these are, and how many were counted before its probes went for the first time.
func TestModelObserveLevels(t *testing.T) {
	gaps, lost := 0, uint64(0)
	for seed := range tries(uint64(500)) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		var events []event.Event
		var calls []levelCall
		end := callLevels(rnd, 100, 100000, 0, &events, &calls)
		for range 5 {
			end = callLevels(rnd, end, 100000, 0, &events, &calls)
		}
		kind := rnd.IntN(3)
		of := event.SetOf(event.UserRegion)
		if kind > 0 {
			of = event.LevelGroup(kind).Constructs()
		}
		var switches []estimate.Switch
		for at := 100 + rnd.Uint64N(end); at < end; at += 1 + rnd.Uint64N(end/3) {
			change := estimate.Unobserved
			if len(switches)%2 == 1 {
				change = estimate.Observed
			}
			switches = append(switches, estimate.Switch{At: at, Of: of, Change: change})
		}
		if len(switches) == 0 {
			continue
		}
		away := func(k int, at uint64) bool { return k == kind && awayAt(switches, of, at) }
		// Some probes are hit for a while after they were let go, others are not.
		removed := rnd.IntN(2) == 0
		e := New(1, fnPlaces{})
		e.Began(100)
		for _, w := range switches {
			e.Observe(w)
		}
		for i := range events {
			if of.Has(events[i].Element()) && awayAt(switches, of, events[i].Time) && removed {
				continue
			}
			e.Feed(&events[i])
		}
		p := e.Finish(end + 10)
		var all, want [3][2]uint64
		begun(calls, 0, func(int, uint64) bool { return false }, &all)
		begun(calls, switches[0].At+1, away, &want)
		got, _ := kindCounts(p)
		for k := range want {
			if got[k] != want[k][0] {
				t.Fatalf("seed %d, kind %d away at %v: %d calls of kind %d, want %d of %d", seed, kind, switches, got[k], k, want[k][0], all[k][0])
			}
		}
		if p.Meta.Unmatched != 0 || len(p.Meta.Observations) != 1 {
			t.Fatalf("seed %d: %d unmatched, observations %+v", seed, p.Meta.Unmatched, p.Meta.Observations)
		}
		o := p.Meta.Observations[0]
		if o.Of != of || o.First != int64(switches[0].At-100) || o.Before != want[kind][1] || o.Counted != want[kind][0] {
			t.Fatalf("seed %d: %+v; want %d before %d ns, %d in all", seed, o, want[kind][1], switches[0].At-100, want[kind][0])
		}
		gaps += o.Gaps
		lost += all[kind][0] - want[kind][0]
	}
	if gaps < tries(500) || lost < uint64(tries(1000)) {
		t.Errorf("%d gaps, %d calls in them", gaps, lost)
	}
}

// In a library that several levels share, the engine tells which calls come from outside of a
// level. A call that the library makes, after its probes were away, may lie in an execution that
// was not seen. It is not counted, and the figures are said to be at least those.
func TestInnerCallsAfterAGap(t *testing.T) {
	e := New(1, fnPlaces{})
	of := event.LevelGroup(1).Constructs()
	e.Observe(estimate.Switch{At: 100, Of: of, Change: estimate.Unobserved})
	e.Observe(estimate.Switch{At: 200, Of: of, Change: estimate.Observed})
	feed := func(at uint64, edge event.Edge, fn int, sp uint64, f event.Flag) {
		e.Feed(&event.Event{Time: at, TID: 1, Construct: event.UserRegion, Edge: edge, Fn: event.LevelFn(1, fn), Site: 1000, SP: sp, Flags: f,
			Value: event.UserLevel})
	}
	call := func(at uint64, fn int, sp uint64, f event.Flag) {
		feed(at, event.Enter, fn, sp, f)
		feed(at+1, event.Release, fn, sp, 0)
	}
	call(20, 2, 500, 0)
	call(30, 2, 400, event.Inside) // a function of no level has made it
	feed(110, event.Enter, 1, 500, 0)
	for at := uint64(210); at < 290; at += 10 { // made by the execution that began in the gap
		call(at, 2, 400, event.Inside)
	}
	feed(295, event.Release, 1, 500, 0)
	call(300, 2, 500, 0)
	feed(310, event.Enter, 1, 500, 0)
	call(320, 2, 400, event.Inside)
	feed(330, event.Release, 1, 500, 0)
	p := e.Finish(400)
	got := map[int]uint64{}
	for _, n := range p.Nodes[1:] {
		fn, _ := event.LevelFunction(p.Regions[n.Region].Location.Offset)
		for _, s := range n.Stats {
			got[fn] += s.Exec.C
			if fn == 2 && (s.Estimate == nil || !s.Estimate.AtLeast || s.Estimate.Exec.C > 0) {
				t.Errorf("function 2: %+v", s.Estimate)
			}
		}
	}
	if got[1] != 1 || got[2] != 3 || p.Meta.Unmatched != 0 {
		t.Errorf("executions %v, %d unmatched; want 1 of function 1, 3 of function 2", got, p.Meta.Unmatched)
	}
}

// levelCalls feeds calls of levels' functions of one thread to an engine, and counts them.
type levelCalls struct{ *Engine }

func (c levelCalls) feed(at uint64, tid uint32, edge event.Edge, level, kind, fn int, sp uint64, f event.Flag) {
	c.Feed(&event.Event{Time: at, TID: tid, Construct: event.UserRegion, Edge: edge, Fn: event.LevelFn(kind, fn), Site: 1000, SP: sp, Flags: f,
		Value: int64(event.UserLevel + level)})
}

// executions ends the measurement, and returns the executions by function's number. atLeast has the
// numbers of the functions of which there may have been more.
func (c levelCalls) executions(end uint64) (n map[int]uint64, atLeast map[int]bool) {
	n, atLeast = map[int]uint64{}, map[int]bool{}
	p := c.Finish(end)
	for _, x := range p.Nodes[1:] {
		fn, _ := event.LevelFunction(p.Regions[x.Region].Location.Offset)
		for _, s := range x.Stats {
			n[fn] += s.Exec.C
			atLeast[fn] = atLeast[fn] || s.Estimate != nil && s.Estimate.AtLeast
		}
	}
	return n, atLeast
}

// An execution that began in a gap is not known, also if a level around it is. The same holds if
// its thread was seen for the first time after the gap. It holds also if its library has other
// probes than the one that it calls. What its library calls in it is not counted.
func TestInnerCallsOfUnseenExecutions(t *testing.T) {
	const outer, middle, inner = 1, 2, 3 // functions
	for _, c := range []struct {
		name  string
		gone  int // the kind that was away
		calls func(c levelCalls)
		want  map[int]uint64
	}{
		{"a level around", 1, func(c levelCalls) {
			c.feed(20, 1, event.Enter, 1, 1, inner, 400, 0)
			c.feed(25, 1, event.Release, 1, 1, inner, 400, 0)
			c.feed(90, 1, event.Enter, 0, 2, outer, 600, 0)
			c.feed(110, 1, event.Enter, 1, 1, middle, 500, 0)
			c.feed(210, 1, event.Enter, 1, 1, inner, 400, event.Inside)
			c.feed(220, 1, event.Release, 1, 1, inner, 400, 0)
			c.feed(230, 1, event.Release, 1, 1, middle, 500, 0)
			c.feed(240, 1, event.Enter, 1, 1, middle, 500, 0)
			c.feed(250, 1, event.Enter, 2, 1, inner, 400, event.Inside) // of another level: counted
			c.feed(260, 1, event.Release, 2, 1, inner, 400, 0)
			c.feed(270, 1, event.Release, 1, 1, middle, 500, 0)
			c.feed(280, 1, event.Release, 0, 2, outer, 600, 0)
		}, map[int]uint64{outer: 1, middle: 1, inner: 2}},
		{"a thread that was not seen before", 1, func(c levelCalls) {
			c.feed(20, 1, event.Enter, 1, 1, inner, 400, 0)
			c.feed(25, 1, event.Release, 1, 1, inner, 400, 0)
			c.Advance(3e9)
			c.feed(3e9, 2, event.Enter, 1, 1, inner, 400, event.Inside)
			c.feed(3e9+10, 2, event.Release, 1, 1, inner, 400, 0)
		}, map[int]uint64{inner: 1}},
		{"another library of the level", 2, func(c levelCalls) {
			c.feed(20, 1, event.Enter, 1, 2, middle, 500, 0)
			c.feed(30, 1, event.Release, 1, 2, middle, 500, 0)
			// A function of no level has made this call.
			c.feed(40, 1, event.Enter, 1, 1, inner, 400, event.Inside)
			c.feed(50, 1, event.Release, 1, 1, inner, 400, 0)
			c.feed(110, 1, event.Enter, 1, 2, middle, 500, 0)
			c.feed(210, 1, event.Enter, 1, 1, inner, 400, event.Inside)
			c.feed(220, 1, event.Release, 1, 1, inner, 400, 0)
			c.feed(230, 1, event.Release, 1, 2, middle, 500, 0)
		}, map[int]uint64{middle: 1, inner: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := levelCalls{New(1, fnPlaces{})}
			of := event.LevelGroup(c.gone).Constructs()
			e.Observe(estimate.Switch{At: 100, Of: of, Change: estimate.Unobserved})
			e.Observe(estimate.Switch{At: 200, Of: of, Change: estimate.Observed})
			c.calls(e)
			n, atLeast := e.executions(4e9)
			if !maps.Equal(n, c.want) || !atLeast[inner] {
				t.Errorf("executions %v, want %v; at least: %v", n, c.want, atLeast)
			}
		})
	}
}
