package critical

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"ompp-attach/mpi"
	"ompp-attach/mpi/match"
)

// TestDelays: for each case, the causes follow from the definition by hand. The first barrier ends
// at 1.
func TestDelays(t *testing.T) {
	to := func(rank int32) func(*match.Call) {
		return func(c *match.Call) { c.To, c.SendTag, c.Receives = rank, 7, false }
	}
	from := func(rank int32) func(*match.Call) {
		return func(c *match.Call) { c.From, c.RecvTag, c.Sends = rank, 7, false }
	}
	// mark ends a stretch of work at a call site, and takes no time.
	mark := func(at uint64, site int) match.Call { return vector("Send", at, at, site, to(mpi.ProcNull)) }
	begin := vector("Barrier", 1, 1, 0, nil)
	const x, y = 1, 2
	for _, c := range []struct {
		name  string
		ranks [][]match.Call
		want  map[string]int64
	}{
		{"near", [][]match.Call{{begin, mark(5, x), vector("Recv", 5, 11, 3, from(1))}, {begin, mark(5, x), vector("Bsend", 11, 11, y, to(0))}},
			map[string]int64{"delay 1@2 false": 6, "waited": 6}},
		// Rank 1 works 4 at x and 4 at y, and waits 2 for rank 2, which works 6 more at z.
		{"far", [][]match.Call{{begin, mark(5, x), vector("Recv", 5, 11, 3, from(1))},
			{begin, mark(5, x), vector("Recv", 5, 7, 4, from(2)), vector("Bsend", 11, 11, y, to(0))},
			{begin, mark(1, x), vector("Bsend", 7, 7, 5, to(1))}},
			map[string]int64{"delay 1@2 false": 4, "delay 2@5 false": 2, "far 2@5 false": 2, "indirect 0@3 true": 2, "passed 1@4 true": 2, "waited": 8}},
		// Rank 0 has waited for rank 1 before. So only the time since then counts.
		{"since the last wait", [][]match.Call{{begin, vector("Recv", 2, 9, 3, from(1)), vector("Recv", 9, 12, 4, from(1))},
			{begin, vector("Bsend", 9, 9, x, to(0)), vector("Bsend", 12, 12, y, to(0))}},
			map[string]int64{"delay 1@1 false": 7, "delay 1@2 false": 3, "waited": 10}},
		// The late rank took no longer than the other one for anything: there is no cause.
		{"none", [][]match.Call{{begin, mark(5, x), vector("Recv", 5, 8, 3, from(1))}, {begin, mark(4, x), vector("Recv", 4, 8, y, func(c *match.Call) {
			c.From, c.RecvTag, c.Sends = mpi.AnySource, 9, false
		}), vector("Bsend", 8, 8, y, to(0))}}, map[string]int64{"no cause": 3, "waited": 3}},
	} {
		r, _ := listen(logsOf(c.ranks...), nil)
		got := map[string]int64{"waited": r.Waited / 1000}
		if r.NoCause != 0 {
			got["no cause"] = r.NoCause / 1000
		}
		for at, x := range r.Times {
			for name, v := range map[string]int64{"delay": x.Delay, "far": x.Far, "indirect": x.Indirect, "passed": x.Passed} {
				if v != 0 {
					got[fmt.Sprintf("%s %d@%d %v", name, at.Rank, at.Site, at.In)] = v / 1000
				}
			}
		}
		if !maps.Equal(got, c.want) {
			t.Errorf("%s: %v, not %v", c.name, got, c.want)
		}
	}
}

// reason is a cause of a wait: a rank's time at a place. far says that the cause is not the late
// rank's.
type reason struct {
	rank, call int
	in, far    bool
}

// causes divides the wait of call a among its causes, step by step by the definition, from the
// times of the program itself. share is the part of the wait that it divides.
func (g *program) causes(a *activity, share float64, far bool, out map[reason]float64) (none float64) {
	late, w := g.waited(a)
	if late == nil || share == 0 {
		return share
	}
	mine, its := g.since(a, late)
	other, sum := map[Work]float64{}, 0.0
	g.stretch(a.rank, mine, a, func(_ *activity, w Work, t float64, _ bool) { other[w] += t })
	own, last := map[Work]float64{}, map[Work]*activity{}
	var waits []*activity
	unknown := false
	g.stretch(late.rank, its, late, func(x *activity, w Work, t float64, waited bool) {
		if waited {
			waits, sum = append(waits, x), sum+t
		} else if t > 0 {
			own[w] += t
			last[w] = x
		}
	})
	for w, t := range own {
		sum += max(0, t-other[w])
	}
	if sum == 0 || unknown {
		return share
	}
	scale := share / sum
	if !far {
		scale = min(1, w/sum)
	}
	left := share
	for w, t := range own {
		if d := max(0, t-other[w]); d > 0 {
			out[reason{late.rank, last[w].site, w.In, far}] += scale * d
			left -= scale * d
		}
	}
	for _, x := range waits {
		_, t := g.waited(x)
		left -= scale * t
		none += g.causes(x, scale*t, true, out)
	}
	return none + left
}

// waited returns the last call that a call had to wait for, and how long the call waited; nil: it
// waited for none.
func (g *program) waited(a *activity) (late *activity, t float64) {
	if a.call.Later {
		return nil, 0
	}
	for _, o := range a.needs {
		if o.enter > a.enter && (late == nil || o.enter > late.enter) {
			late = o
		}
	}
	if late == nil {
		return nil, 0
	}
	return late, float64(late.enter - a.enter)
}

// stamp is a time in a rank's call.
type stamp struct {
	call  int
	began bool
}

// since returns the last moments at which neither rank had to wait for the other any more. They are
// those of the last wait of one rank for the other, or of the last call at which all ranks met.
func (g *program) since(a, late *activity) (mine, its stamp) {
	now, best := late.enter, uint64(0)
	for _, rank := range []int{a.rank, late.rank} {
		for _, x := range g.ranks[rank] {
			o, t := g.waited(x)
			at := x.enter + uint64(t)
			if x.world {
				at = 0
				for _, y := range x.needs {
					at = max(at, y.enter)
				}
				if at < now && at > best {
					best = at
					mine, its = stamp{call: x.needs[a.rank].number(g)}, stamp{call: x.needs[late.rank].number(g)}
				}
				continue
			}
			if o == nil || at >= now || at <= best || !(x.rank == a.rank && o.rank == late.rank || x.rank == late.rank && o.rank == a.rank) {
				continue
			}
			best = at
			if x.rank == a.rank {
				mine, its = stamp{x.number(g), false}, stamp{o.number(g), true}
			} else {
				mine, its = stamp{o.number(g), true}, stamp{x.number(g), false}
			}
		}
	}
	return mine, its
}

func (a *activity) number(g *program) int { return slices.Index(g.ranks[a.rank], a) }

// stretch tells what a rank did from a time until a call began.
func (g *program) stretch(rank int, from stamp, to *activity, tell func(x *activity, w Work, t float64, waited bool)) {
	calls := g.ranks[rank]
	for n := from.call; ; n++ {
		x := calls[n]
		if n > from.call {
			tell(x, Work{x.site, false}, float64(x.work), false)
		}
		if x == to {
			return
		}
		if _, t := g.waited(x); t > 0 && (n > from.call || from.began) {
			tell(x, Work{x.site, true}, t, true)
		}
		tell(x, Work{x.site, true}, float64(x.cost), false)
	}
}

// TestDelayModel divides each wait of random programs step by step, and compares the causes. All
// causes, and the time without a cause, add up to the waits.
func TestDelayModel(t *testing.T) {
	total := 0
	for seed := range uint64(80) {
		g := newProgram(seed, 4)
		for rank := range g.ranks { // the program begins with a barrier
			a := &activity{rank: rank, work: 1, cost: 1 + g.rand.Uint64N(100), site: 9, world: true}
			a.call = match.Call{Op: op("Barrier"), Site: 9, To: mpi.NoPeer, From: mpi.NoPeer, Sends: true, Receives: true}
			g.ranks[rank] = append([]*activity{a}, g.ranks[rank]...)
		}
		for rank := range g.ranks {
			for _, b := range g.ranks {
				g.ranks[rank][0].needs = append(g.ranks[rank][0].needs, b[0])
			}
		}
		g.run()
		got, _ := listen(g.logs(), nil)
		want, none, waits := map[reason]float64{}, 0.0, 0.0
		for _, calls := range g.ranks {
			for i, a := range calls {
				if _, w := g.waited(a); i > 0 && w > 0 {
					none += g.causes(a, w, false, want)
					waits += w
					total++
				}
			}
		}
		near := func(what string, got int64, want float64) {
			if d := float64(got) - want; d > 2000 || d < -2000 { // parts are rounded
				t.Fatalf("seed %d: %s: %d, not %.0f", seed, what, got, want)
			}
		}
		sum := got.NoCause
		for at, x := range got.Times {
			sum += x.Delay + x.Far
			near(fmt.Sprintf("delay %+v", at), x.Delay, want[reason{at.Rank, at.Site, at.In, false}])
			near(fmt.Sprintf("far %+v", at), x.Far, want[reason{at.Rank, at.Site, at.In, true}])
		}
		near("no cause", got.NoCause, none)
		first := int64(0)
		for _, calls := range g.ranks {
			_, w := g.waited(calls[0])
			first += int64(w)
		}
		if near("waits", got.Waited, waits+float64(first)); sum != got.Waited {
			t.Fatalf("seed %d: causes add up to %d of %d", seed, sum, got.Waited)
		}
	}
	if total < 1000 {
		t.Errorf("%d waits only", total)
	}
}
