package attribution

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"ompp-attach/attribution/build"
	"ompp-attach/attribution/estimate"
	"ompp-attach/event"
	"ompp-attach/profile"
)

var (
	criticals = event.SetOf(event.Critical)
	tasks     = event.SetOf(event.Task, event.TaskExec, event.UntiedTask, event.UntiedTaskExec, event.TaskLoop, event.TaskWait, event.TaskGroup, event.TaskYield)
	barriers  = event.SetOf(event.ReductionBarrier, event.Loop, event.Sections, event.Single, event.Barrier)
)

// awayAt tells whether constructs were away at a time.
func awayAt(switches []estimate.Switch, of event.Constructs, at uint64) (away bool) {
	for _, w := range switches {
		if w.Of == of && w.At < at {
			away = w.Change == estimate.Unobserved || away && w.Change == estimate.Period
		}
	}
	return away
}

// begins counts the events with which executions of a construct begin.
func begins(events []event.Event, c event.Construct, switches []estimate.Switch, of event.Constructs) (n uint64) {
	for _, ev := range events {
		begin := ev.Edge == event.Enter
		if c == event.Barrier {
			begin = ev.Edge == event.Wait && ev.Loc != 42 // which is a loop's
		}
		if ev.Construct == c && begin && !awayAt(switches, of, ev.Time) {
			n++
		}
	}
	return n
}

func executionsOf(p *profile.Profile, c event.Construct) (seen, extrapolated uint64) {
	for _, n := range p.Nodes {
		if n.Region < 0 || p.Regions[n.Region].Construct != c {
			continue
		}
		for _, s := range n.Stats {
			seen += s.Exec.C
			if s.Estimate != nil {
				extrapolated += s.Estimate.Exec.C
			}
		}
	}
	return seen - extrapolated, extrapolated
}

// Anything goes away and comes back at any times. Nothing is unmatched, what was observed is
// counted once, and other constructs are as if nothing was.
func TestModelObserve(t *testing.T) {
	var gaps, compared int
	for seed := range tries(uint64(300)) {
		for _, rt := range []event.Runtime{event.Gomp, event.Kmpc} {
			rnd := rand.New(rand.NewPCG(seed, uint64(rt)))
			s := simulate(rnd, rt, 30+rnd.IntN(300))
			of := []event.Constructs{criticals, tasks, barriers}[rnd.IntN(3)]
			var switches []estimate.Switch
			what := estimate.Unobserved
			for at := rnd.Uint64N(s.now); at < s.now; at += 1 + rnd.Uint64N(s.now/3) {
				switches = append(switches, estimate.Switch{At: at, Of: of, Change: what})
				if what = estimate.Unobserved; switches[len(switches)-1].Change == estimate.Unobserved {
					what = estimate.Observed
				}
			}
			e := New(1, fakeFiles{})
			for _, w := range switches {
				e.Observe(w)
			}
			feedMixed(rnd, e, s.events, seed%2 == 0)
			p := e.Finish(s.now + 10)
			gaps += len(switches)
			if p.Meta.Unmatched > 0 {
				t.Fatalf("seed %d, %v, %v: unmatched %d", seed, rt, switches, p.Meta.Unmatched)
			}
			whole := New(1, fakeFiles{})
			feedMixed(rnd, whole, s.events, false)
			q := whole.Finish(s.now + 10)
			for _, c := range []event.Construct{event.Parallel, event.Critical, event.Barrier, event.TaskWait, event.Task, event.UserRegion} {
				want, _ := executionsOf(q, c)
				if of.Has(c) {
					if c != event.Barrier && c != event.Critical {
						continue
					}
					want = begins(s.events, c, switches, of)
				}
				if got, _ := executionsOf(p, c); got != want {
					t.Fatalf("seed %d, %v, %v away at %v: %d executions of %s, want %d", seed, rt, of, switches, got, c, want)
				}
				compared++
			}
			for key, f := range measured(p) {
				if f.Exec.T < 0 || f.Enter.T < 0 || f.Body.T < 0 || f.Barrier.T < 0 || f.Exit.T < 0 {
					t.Fatalf("seed %d, %v, %v: %v: %+v", seed, rt, switches, key, *f)
				}
			}
		}
	}
	if gaps < tries(500) || compared < tries(1000) {
		t.Errorf("%d gaps, %d figures compared", gaps, compared)
	}
}

// rhythm makes the events of a thread that executes a critical every so many ns,
// a tenth of the time in it.
func rhythm(tid uint32, from, to, every uint64) (events []event.Event) {
	for at := from; at < to; at += every {
		events = append(events,
			event.Event{Time: at, TID: tid, Construct: event.Critical, Edge: event.Enter, Site: 400, Flags: event.FreeAtOnce},
			event.Event{Time: at + every/10, TID: tid, Construct: event.Critical, Edge: event.Release, Flags: event.FreeAtOnce})
	}
	return events
}

// withoutGaps takes out what is not observed.
func withoutGaps(events []event.Event, switches []estimate.Switch) []event.Event {
	return slices.DeleteFunc(events, func(ev event.Event) bool { return awayAt(switches, criticals, ev.Time) })
}

// The regions that criticals lie in are observed all of the time: that a storm
// began, or ended, in a gap is known by them. The measurement's cost slows the
// program while it is observed.
func TestExtrapolateWithinRegion(t *testing.T) {
	const ms, cost, own = 1000000, 400, 1200 // ns per hit and per iteration
	costs := event.HitCosts{}
	costs.Kinds[event.ProbeEmulated] = event.HitCost{Before: cost / 2, After: cost / 2}
	switches := []estimate.Switch{{At: 5 * ms, Of: criticals, Change: estimate.Period}, {At: 30 * ms, Of: criticals, Change: estimate.Unobserved}, {At: 45 * ms, Of: criticals, Change: estimate.Observed},
		{At: 50 * ms, Of: criticals, Change: estimate.Unobserved}, {At: 70 * ms, Of: criticals, Change: estimate.Observed}, {At: 90 * ms, Of: criticals, Change: estimate.Period}}
	e := New(1, fakeFiles{})
	e.Costs(costs)
	for _, w := range switches {
		e.Observe(w)
	}
	feed := func(at uint64, c event.Construct, edge event.Edge, f event.Flag, probe event.Probe) {
		e.Feed(&event.Event{Time: at, TID: 1, Construct: c, Edge: edge, Site: 400, Fn: 300, Key: 7, Size: 1, Flags: f, Probe: probe})
	}
	const begin, end = 20 * ms, 57 * ms
	feed(begin, event.Parallel, event.Fork, 0, 0)
	feed(begin, event.Parallel, event.Begin, 0, 0)
	truth := 0
	for at := uint64(begin); at < end; truth++ {
		if awayAt(switches, criticals, at) {
			at += own
			continue
		}
		feed(at, event.Critical, event.Enter, event.FreeAtOnce, event.ProbeEmulated)
		feed(at+cost, event.Critical, event.Release, event.FreeAtOnce, event.ProbeEmulated)
		at += own + 2*cost
	}
	feed(end, event.Parallel, event.End, 0, 0)
	feed(end, event.Parallel, event.Join, 0, 0)
	p := e.Finish(100 * ms)
	seen, guessed := executionsOf(p, event.Critical)
	if off := math.Abs(float64(seen+guessed)/float64(truth) - 1); off > 0.01 || guessed == 0 {
		t.Errorf("%d + %d of %d", seen, guessed, truth)
	}
	region, critical := p.Nodes[1].Stats[0], p.Nodes[2].Stats[0]
	if region.Child != critical.Exec.T || region.Estimate == nil || region.Estimate.Child != critical.Estimate.Exec.T {
		t.Errorf("the region holds %d ns of children, the criticals lasted %d", region.Child, critical.Exec.T)
	}
	if region.Exec != (profile.Sum{T: end - begin, C: 1}) {
		t.Errorf("the region itself: %+v", region.Exec)
	}
}

func TestExtrapolate(t *testing.T) {
	const ms = 1000000
	for _, c := range []struct {
		name     string
		rates    [][2]uint64 // until when, one every so many ns
		switches []estimate.Switch
		within   float64 // of the truth; 0: no estimate can be given
		sigma    float64 // the standard error, as a share of the truth: at most
	}{
		{"steady", [][2]uint64{{100 * ms, 10000}},
			[]estimate.Switch{{At: 5 * ms, Of: criticals, Change: estimate.Period}, {At: 20 * ms, Of: criticals, Change: estimate.Unobserved}, {At: 60 * ms, Of: criticals, Change: estimate.Observed}, {At: 70 * ms, Of: criticals, Change: estimate.Period}}, 0.002, 0.015},
		{"away at the end", [][2]uint64{{100 * ms, 10000}},
			// One execution is open then.
			[]estimate.Switch{{At: 5 * ms, Of: criticals, Change: estimate.Period}, {At: 20*ms + 500, Of: criticals, Change: estimate.Unobserved}}, 0, 0},
		{"no period before", [][2]uint64{{100 * ms, 10000}},
			[]estimate.Switch{{At: 20 * ms, Of: criticals, Change: estimate.Unobserved}, {At: 60 * ms, Of: criticals, Change: estimate.Observed}}, 0.002, 0.21},
		{"several gaps", [][2]uint64{{100 * ms, 10000}},
			[]estimate.Switch{{At: 5 * ms, Of: criticals, Change: estimate.Period}, {At: 10 * ms, Of: criticals, Change: estimate.Unobserved}, {At: 30 * ms, Of: criticals, Change: estimate.Observed}, {At: 35 * ms, Of: criticals, Change: estimate.Unobserved}, {At: 80 * ms, Of: criticals, Change: estimate.Observed}}, 0.005, 0.02},
		{"the storm ends in a gap", [][2]uint64{{50 * ms, 10000}, {100 * ms, 1000 * ms}},
			[]estimate.Switch{{At: 5 * ms, Of: criticals, Change: estimate.Period}, {At: 20 * ms, Of: criticals, Change: estimate.Unobserved}, {At: 60 * ms, Of: criticals, Change: estimate.Observed}, {At: 90 * ms, Of: criticals, Change: estimate.Period}}, 0, 0},
		{"it gets faster", [][2]uint64{{40 * ms, 10000}, {100 * ms, 5000}},
			[]estimate.Switch{{At: 5 * ms, Of: criticals, Change: estimate.Period}, {At: 20 * ms, Of: criticals, Change: estimate.Unobserved}, {At: 60 * ms, Of: criticals, Change: estimate.Observed}, {At: 90 * ms, Of: criticals, Change: estimate.Period}}, 0.001, 0.2},
	} {
		var events []event.Event
		from := uint64(0)
		for _, r := range c.rates {
			events = append(events, rhythm(1, from+1, r[0], r[1])...)
			from = r[0]
		}
		truth := float64(len(events) / 2)
		e := New(1, fakeFiles{})
		for _, w := range c.switches {
			e.Observe(w)
		}
		for _, ev := range withoutGaps(events, c.switches) {
			e.Feed(&ev)
		}
		p := e.Finish(from)
		seen, guessed := executionsOf(p, event.Critical)
		s := p.Nodes[1].Stats[0]
		if c.within == 0 {
			if notes := p.Regions[p.Nodes[1].Region].Notes; !slices.Contains(notes, build.NoteAtLeast) || slices.Contains(notes, build.NoteUnobserved) {
				t.Errorf("%s: %q", c.name, notes)
			}
			if s.Estimate == nil || !s.Estimate.AtLeast || guessed != 0 || seen != begins(withoutGaps(events, c.switches), event.Critical, c.switches, criticals) {
				t.Errorf("%s: %d + %d of %.0f, %+v", c.name, seen, guessed, truth, s.Estimate)
			}
		} else if off := math.Abs(float64(seen+guessed)-truth) / truth; off > c.within {
			t.Errorf("%s: %d + %d of %.0f", c.name, seen, guessed, truth)
		} else if least, most := s.Estimate.Interval(seen + guessed); truth < float64(least)-1 || truth > float64(most)+1 {
			t.Errorf("%s: %d + %d of %.0f, the error is said to be %.0f", c.name, seen, guessed, truth, s.Estimate.CountError)
		}
		if share := s.Estimate.CountError / truth; share > c.sigma {
			t.Errorf("%s: standard error %.3f", c.name, share)
		}
		if mean := float64(s.Exec.T) / float64(s.Exec.C); mean < 0.09*float64(c.rates[0][1])/2 || mean > 0.11*float64(c.rates[0][1]) {
			t.Errorf("%s: %.0f ns each", c.name, mean)
		}
		if p.Meta.Unmatched != 0 || len(p.Meta.Observations) != 1 {
			t.Errorf("%s: %+v", c.name, p.Meta)
		}
		var away int64
		for i, w := range c.switches {
			if w.Change != estimate.Unobserved {
				continue
			}
			end := from
			if i+1 < len(c.switches) {
				end = c.switches[i+1].At
			}
			away += int64(end - w.At)
		}
		if o := p.Meta.Observations[0]; o.Unobserved != away {
			t.Errorf("%s: away %d ns, want %d", c.name, o.Unobserved, away)
		}
	}
}

// An extrapolated time is taken out of the own time around it, except the time that probes took
// there. Otherwise the time without probes would become negative.
func TestSpare(t *testing.T) {
	for _, c := range []struct {
		name string
		s    profile.ThreadStats
		want int64
	}{
		{"own time", profile.ThreadStats{Exec: profile.Sum{T: 100}, Child: 30}, 70},
		{"of which probes took a part", profile.ThreadStats{Exec: profile.Sum{T: 100}, Child: 30, Cost: &profile.Cost{Exec: 50, Child: 10}}, 30},
		{"the body's only", profile.ThreadStats{Exec: profile.Sum{T: 100}, Body: profile.Sum{T: 60}, Enter: profile.Sum{T: 40}, Child: 30}, 30},
		{"the body's without probes", profile.ThreadStats{Exec: profile.Sum{T: 100}, Body: profile.Sum{T: 60}, Enter: profile.Sum{T: 40}, Child: 30, Cost: &profile.Cost{Exec: 25, Body: 25, Child: 5}}, 10},
		{"tasks in the barrier", profile.ThreadStats{Exec: profile.Sum{T: 100}, Body: profile.Sum{T: 60}, Barrier: profile.Sum{T: 40}, Child: 50, Task: 20}, 30},
		{"nothing left", profile.ThreadStats{Exec: profile.Sum{T: 100}, Child: 90, Cost: &profile.Cost{Exec: 40, Child: 5}}, 0},
	} {
		if got := estimate.SpareTime(&c.s); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// A task that was created while tasks were not observed is not said to be older than the
// measurement. Nor is the region that it is executed in.
func TestTaskCreatedInAGap(t *testing.T) {
	for _, away := range []bool{true, false} {
		e := New(1, fakeFiles{})
		if away {
			e.Observe(estimate.Switch{At: 100, Of: tasks, Change: estimate.Unobserved})
			e.Observe(estimate.Switch{At: 200, Of: tasks, Change: estimate.Observed})
		}
		for i, edge := range []event.Edge{event.Begin, event.End} {
			e.Feed(&event.Event{TID: 1, Time: 300 + uint64(i), Construct: event.TaskExec, Edge: edge, Key: 5})
		}
		p := e.Finish(1000)
		want := map[event.Construct]string{event.Unknown: build.NoteUnderWay, event.TaskExec: noteEarlyTask}
		if away {
			want = map[event.Construct]string{event.Unknown: build.NoteUnderAway, event.TaskExec: noteAwayTask}
		}
		for i := range p.Regions {
			r := &p.Regions[i]
			if !slices.Contains(r.Notes, want[r.Construct]) {
				t.Errorf("away %v: %s: %q", away, r.Construct, r.Notes)
			}
			delete(want, r.Construct)
		}
		if len(want) > 0 {
			t.Errorf("away %v: %v are missing", away, want)
		}
	}
}

// A task that began before tasks went away is found, though another thread is known to be past
// that. One that begins after they came back is not taken for one created before.
func TestTaskBegunBeforeAGap(t *testing.T) {
	e := New(1, fakeFiles{})
	e.Observe(estimate.Switch{At: 100, Of: tasks, Change: estimate.Unobserved})
	e.Observe(estimate.Switch{At: 200, Of: tasks, Change: estimate.Observed})
	feed := func(tid uint32, at uint64, c event.Construct, edge event.Edge, key uint64) {
		e.Feed(&event.Event{TID: tid, Time: at, Construct: c, Edge: edge, Key: key})
	}
	for _, key := range []uint64{5, 6} {
		feed(1, 10*key, event.Task, event.Enter, 0)
		feed(1, 10*key+1, event.Task, event.Result, key)
		feed(1, 10*key+2, event.Task, event.Released, 0)
	}
	feed(1, 150, event.Barrier, event.Begin, 0)
	feed(1, 151, event.Barrier, event.End, 0)
	feed(2, 90, event.TaskExec, event.Begin, 5)
	feed(2, 95, event.TaskExec, event.End, 5)
	feed(2, 300, event.TaskExec, event.Begin, 6)
	feed(2, 310, event.TaskExec, event.End, 6)
	p := e.Finish(1000)
	var early, found uint64
	for i := 1; i < len(p.Nodes); i++ {
		if p.Regions[p.Nodes[i].Region].Construct != event.TaskExec {
			continue
		}
		for _, s := range p.Nodes[i].Stats {
			if parent := p.Nodes[p.Nodes[i].Parent].Region; p.Regions[parent].Construct == event.Unknown {
				early += s.Exec.C
			} else {
				found += s.Exec.C
			}
		}
	}
	if early != 1 || found != 1 {
		t.Errorf("%d are said to be of unknown creation, %d are below their creation", early, found)
	}
}

// The reduction of a loop that began while loops were not observed is no barrier by itself. It is
// not counted, as the loop is not.
func TestReductionOfALoopBegunInAGap(t *testing.T) {
	e := New(1, fakeFiles{})
	e.Observe(estimate.Switch{At: 8, Of: barriers, Change: estimate.Unobserved})
	e.Observe(estimate.Switch{At: 20, Of: barriers, Change: estimate.Observed})
	for _, ev := range parse(t, `
		0 1 open loop rt=k site=500 loc=202
		5 1 close loop rt=k
		25 1 wait reduction-barrier rt=k loc=12
		29 1 result reduction-barrier rt=k v=1
		30 1 wait reduction-barrier rt=k loc=12
		34 1 waited reduction-barrier rt=k
		37 1 wait barrier rt=k loc=42
		40 1 waited barrier rt=k`) {
		e.Feed(&ev)
	}
	p := e.Finish(50)
	if len(p.Nodes) != 2 || p.Regions[p.Nodes[1].Region].Construct != event.Loop || p.Meta.Unmatched != 0 {
		t.Errorf("%q, unmatched %d", table(p), p.Meta.Unmatched)
	}
}
