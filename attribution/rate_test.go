package attribution

import (
	"math"
	"testing"

	"ompp-attach/attribution/estimate"
	"ompp-attach/event"
)

// shortRegions feeds an engine a program of two threads, and returns how many parallel regions it
// executed. Each region has a critical and a barrier per thread. What is observed costs time, and
// is not fed while it is away. The worker is in a region already when measurement begins, whose
// fork nobody has seen: it waits for that for a second.
func shortRegions(e *Engine, c *shortCase) (regions uint64) {
	const us = 1000
	var of event.Constructs
	for _, w := range c.switches {
		of |= w.Of
		e.Observe(w)
	}
	feed := func(at uint64, tid uint32, c event.Construct, edge event.Edge, num int32, f event.Flag) {
		ev := event.Event{Time: at, TID: tid, Construct: c, Edge: edge, Site: 400, Fn: 300, Key: 7, Size: 2, Num: num, Flags: f, Probe: event.ProbeEmulated}
		if !c.IsParallel() {
			ev.Key, ev.Num = 0, 0
		}
		e.Feed(&ev)
	}
	if c.existing {
		e.Existing([]int{1, 2}, 0)
		e.Feed(&event.Event{Time: 5, TID: 2, Construct: event.Parallel, Edge: event.Begin, Key: 9, Num: 1, Size: 2})
	}
	both := func(at *uint64, later uint64, c event.Construct, edge event.Edge, f event.Flag) {
		for tid := range uint32(2) {
			feed(*at+uint64(tid), tid+1, c, edge, int32(tid), f)
		}
		*at += later
	}
	at := uint64(10)
	for ; at < c.end; regions++ {
		feed(at, 1, event.Parallel, event.Fork, 0, 0)
		at += us
		both(&at, us, event.Parallel, event.Begin, 0)
		observed := !awayAt(c.switches, of, at)
		if observed {
			both(&at, c.cost, event.Critical, event.Enter, event.FreeAtOnce)
			both(&at, c.cost, event.Critical, event.Release, event.FreeAtOnce)
			both(&at, c.cost, event.Barrier, event.Wait, 0)
			both(&at, c.cost, event.Barrier, event.Waited, 0)
		}
		at += c.inside
		both(&at, us, event.Parallel, event.End, 0)
		feed(at, 1, event.Parallel, event.Join, 0, 0)
		at += c.between
		e.Advance(at)
	}
	return regions
}

type shortCase struct {
	name     string
	switches []estimate.Switch
	cost     uint64 // of a hit, ns
	inside   uint64 // a region otherwise, ns
	between  uint64 // regions, ns
	end      uint64
	existing bool
	off      float64 // by how much the executions may be off, as a share
}

// How often a construct is executed in each of many short regions holds for those in a gap. That is
// so however short the observation is, and however dear its probes. No time is longer than that of
// the region around.
func TestExtrapolateShortRegions(t *testing.T) {
	const ms = 1000000
	of := criticals | barriers
	for _, c := range []shortCase{
		{name: "observed at the beginning", cost: 2000, inside: 2000, between: 5000, end: 200 * ms, off: 0.01,
			switches: []estimate.Switch{{At: 1, Of: of, Change: estimate.Period}, {At: 20 * ms, Of: of, Change: estimate.Unobserved}}},
		{name: "until it became too dear", cost: 2000, inside: 2000, between: 5000, end: 200 * ms, off: 0.01,
			switches: []estimate.Switch{{At: 20 * ms, Of: of, Change: estimate.Unobserved}}},
		{name: "for a moment", cost: 2000, inside: 2000, between: 5000, end: 200 * ms, off: 0.1,
			switches: []estimate.Switch{{At: 1, Of: of, Change: estimate.Unobserved}, {At: 100 * ms, Of: of, Change: estimate.Observed}, {At: 100*ms + 400000, Of: of, Change: estimate.Unobserved}}},
		{name: "for so short that little is known", cost: 2000, inside: 2000, between: 5000, end: 200 * ms, off: 0.4,
			switches: []estimate.Switch{{At: 1, Of: of, Change: estimate.Unobserved}, {At: 100 * ms, Of: of, Change: estimate.Observed}, {At: 100*ms + 50000, Of: of, Change: estimate.Unobserved}}},
		{name: "before and after", cost: 9000, inside: 1000, between: 50000, end: 400 * ms, off: 0.01,
			switches: []estimate.Switch{{At: 1, Of: of, Change: estimate.Period}, {At: 30 * ms, Of: of, Change: estimate.Unobserved}, {At: 300 * ms, Of: of, Change: estimate.Observed}}},
		{name: "a worker waits for the fork of its first region", cost: 2000, inside: 20000, between: 50000, end: 2500 * ms, existing: true, off: 0.01,
			switches: []estimate.Switch{{At: 1, Of: of, Change: estimate.Period}, {At: 20 * ms, Of: of, Change: estimate.Unobserved}, {At: 600 * ms, Of: of, Change: estimate.Observed}, {At: 610 * ms, Of: of, Change: estimate.Unobserved}}},
	} {
		if testing.Short() && c.end > 1000*ms {
			continue
		}
		e := New(1, fakeFiles{})
		var costs event.HitCosts
		costs.Kinds[event.ProbeEmulated] = event.HitCost{Before: int64(c.cost) * 45 / 100, After: int64(c.cost) * 45 / 100}
		e.Costs(costs)
		want := shortRegions(e, &c)
		p := e.Finish(c.end + 10*ms)
		for i, n := range p.Nodes {
			if n.Region < 0 {
				continue
			}
			what := p.Regions[n.Region].Construct
			for _, s := range n.Stats {
				switch what {
				case event.Critical, event.Barrier:
					if off := math.Abs(float64(s.Exec.C)/float64(want) - 1); off > c.off {
						t.Errorf("%s: %s on %d: %d executions, want %d", c.name, what, s.Thread, s.Exec.C, want)
					}
					if s.Estimate == nil || s.Estimate.Exec.C == 0 {
						t.Errorf("%s: %s on %d: nothing extrapolated", c.name, what, s.Thread)
					}
					for _, up := range p.Nodes[n.Parent].Stats {
						if up.Thread == s.Thread && s.Exec.T > up.Child {
							t.Errorf("%s: %s on %d lasted %d, the region had %d for all in it", c.name, what, s.Thread, s.Exec.T, up.Child)
						}
					}
				case event.Parallel:
					if s.Exec.C != want && !c.existing || s.Child > s.Exec.T || s.Child > s.Body.T {
						t.Errorf("%s: node %d: %+v, want %d executions", c.name, i, s, want)
					}
				}
			}
		}
	}
}

// A worker's events may be read after its team's join. The region that the worker was in at a
// change must be known all the same.
func TestExtrapolateReadLate(t *testing.T) {
	const (
		ms   = 1000000
		each = 10000
		end  = 100 * ms
	)
	switches := []estimate.Switch{{At: 5 * ms, Of: criticals, Change: estimate.Period}, {At: 20 * ms, Of: criticals, Change: estimate.Unobserved}, {At: 60 * ms, Of: criticals, Change: estimate.Observed}, {At: 80 * ms, Of: criticals, Change: estimate.Period}}
	e := New(1, fakeFiles{})
	for _, w := range switches {
		e.Observe(w)
	}
	parallel := func(at uint64, tid uint32, edge event.Edge) {
		e.Feed(&event.Event{Time: at, TID: tid, Construct: event.Parallel, Edge: edge, Site: 400, Fn: 300, Key: 7, Size: 2, Num: int32(tid) - 1})
	}
	parallel(10, 1, event.Fork)
	for tid := range uint32(2) {
		parallel(20, tid+1, event.Begin)
		for _, ev := range withoutGaps(rhythm(tid+1, 30, end-each, each), switches) {
			e.Feed(&ev)
		}
		parallel(end, tid+1, event.End)
		if tid == 0 {
			parallel(end+10, 1, event.Join)
		}
	}
	p := e.Finish(end + 20*ms)
	for _, s := range p.Nodes[2].Stats {
		if off := math.Abs(float64(s.Exec.C)*each/end - 1); off > 0.01 || s.Estimate == nil {
			t.Errorf("thread %d: %d criticals, want %d", s.Thread, s.Exec.C, uint64(end/each))
		}
	}
	if len(p.Nodes[2].Stats) != 2 {
		t.Errorf("%+v", p.Nodes)
	}
}
