package estimate

import (
	"cmp"
	"math"
	"slices"

	"ompp-attach/attribution/place"
	"ompp-attach/attribution/tree"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// costError is the error of a hit's cost, as a share. The cost is measured on an idle machine, and
// paid on a busy one with cold caches (docs/overhead.md).
const costError = 0.3

// observed is the state of a set of constructs that have been unobserved.
type observed struct {
	begun  *Moment // start of the current period of observation; nil: there is none
	gap    *Moment // start of the gap that is not filled yet; nil: there is none
	back   *Moment // end of that gap
	before *period // the period before the gap; nil: there was none
	note   *profile.Observation
}

// Measure is what the estimates have to know of the measurement.
type Measure struct {
	Seats int    // number of seats
	From  uint64 // when the process's measured time began
	Began uint64 // when the first thread could be observed
	Off   int64  // how long measurement was switched off so far, ns
	// Unsure are the constructs of which not all observed executions were counted.
	Unsure event.Constructs
}

// Gaps estimates what was executed while constructs were not observed.
type Gaps struct {
	tree      *tree.Tree
	groups    map[event.Constructs]*observed
	estimates map[*tree.Node][]estimate
}

// NewGaps returns the estimates of a tree, none so far.
func NewGaps(t *tree.Tree) *Gaps {
	return &Gaps{t, map[event.Constructs]*observed{}, map[*tree.Node][]estimate{}}
}

// Account processes a change that all threads have come to.
func (g *Gaps) Account(c *Moment, m Measure) {
	for seat := range m.Seats { // seats whose threads have ended or are idle
		if !c.seen.seat(seat).known {
			g.readSeat(c, seat)
		}
	}
	o := g.groups[c.Of]
	if o == nil {
		// Until their first change, the constructs were observed since the beginning. All
		// figures were zero then.
		start := &Moment{Switch: Switch{At: min(c.At, m.Began), Of: c.Of, Change: Period}}
		o = &observed{begun: start, note: &profile.Observation{Of: c.Of}}
		g.groups[c.Of] = o
	}
	c.off = m.Off
	switch c.Change {
	case Period:
		g.endPeriod(o, c)
		o.begun = c
	case Unobserved:
		if o.note.Gaps == 0 {
			o.note.First = c.since(&Moment{Switch: Switch{At: min(c.At, m.From)}})
			o.note.Before = c.seen.executions()
		}
		before := g.endPeriod(o, c)
		o.begun, o.gap, o.back, o.before = nil, c, nil, before
		o.note.Gaps++
	case Observed:
		o.begun, o.back = c, c
	}
}

// endPeriod ends a period of observation and fills the gap before it. It returns the period, nil if
// none was under way.
func (g *Gaps) endPeriod(o *observed, at *Moment) *period {
	if o.begun == nil {
		return nil
	}
	p := &period{o.begun, at}
	if o.gap != nil && o.back != nil {
		g.extrapolate(period{o.gap, o.back}, o.before, p)
		o.note.Unobserved += o.back.since(o.gap)
		o.gap, o.back = nil, nil
	} else if at.Change != Unobserved {
		return p
	}
	o.note.Sampled += at.since(o.begun)
	return p
}

// extrapolate estimates the executions in a gap by the rates before and after it.
func (g *Gaps) extrapolate(gap period, before, after *period) {
	nodes := map[*tree.Node]int{}
	for _, p := range []*period{before, after} {
		if p == nil {
			continue
		}
		for n, have := range p.to.seen.amounts {
			nodes[n] = max(nodes[n], len(have))
		}
	}
	for n, seats := range nodes {
		for len(g.estimates[n]) < seats {
			g.estimates[n] = append(g.estimates[n], estimate{})
		}
		for seat := range seats {
			g.estimates[n][seat].add(gap.stay(n, seat), before.rate(n, seat), after.rate(n, seat))
		}
	}
}

// Finish fills the last gap when measurement ends, and adds all estimates to the figures.
func (g *Gaps) Finish(end uint64, m Measure) {
	for of, o := range g.groups {
		c := &Moment{Switch: Switch{At: end, Of: of}, off: m.Off}
		for seat := range m.Seats {
			g.readSeat(c, seat)
		}
		o.note.Counted = c.seen.executions()
		switch {
		case o.gap == nil:
		case o.back != nil:
			g.endPeriod(o, c)
		default:
			g.extrapolate(period{o.gap, c}, o.before, nil)
			o.note.Unobserved += c.since(o.gap)
		}
	}
	all := ^event.Constructs(0)
	g.dropVague(m.Unsure)
	g.tree.Root.Each(all, func(n *tree.Node) { // parents first
		for seat := range g.estimates[n] {
			g.apply(n, seat, &g.estimates[n][seat])
		}
		g.fitInto(n)
	})
}

// dropVague drops the estimates of a construct, for all call paths and threads, in three cases. The
// periods do not show the construct's pace without probes. The error interval reaches down to the
// observed count. The estimate is zero because the periods around a gap were too short. Unsure
// constructs have no estimates, either.
func (g *Gaps) dropVague(unsure event.Constructs) {
	type sum struct {
		count, sigma  float64
		blind, unsure bool
	}
	sums := map[place.Key]*sum{}
	for n, estimates := range g.estimates {
		s := sums[n.Key]
		if s == nil {
			s = &sum{}
			sums[n.Key] = s
		}
		for i := range estimates {
			_, sigma := estimates[i].sigma()
			s.count += estimates[i].v[1]
			s.sigma += sigma
			s.blind = s.blind || estimates[i].blind
			s.unsure = s.unsure || estimates[i].unsure
		}
	}
	g.tree.Root.Each(unsure, func(n *tree.Node) {
		for seat := range n.Stats {
			if n.Stats[seat].Exec.C > 0 {
				g.markAtLeast(n, seat)
			}
		}
		delete(g.estimates, n)
	})
	for n, estimates := range g.estimates {
		s := sums[n.Key]
		none := s.count < 0.5
		if !s.blind && (none && !s.unsure || !none && profile.Sigmas*s.sigma < s.count) {
			continue
		}
		for seat := range estimates {
			e := &estimates[seat]
			if e.blind || e.v[1] > 0 || none && n.Stat(seat).Exec.C > 0 {
				g.markAtLeast(n, seat)
			}
		}
		delete(g.estimates, n)
	}
}

// markAtLeast marks a seat's figures at a node as a lower bound: more was executed.
func (g *Gaps) markAtLeast(n *tree.Node, seat int) {
	n.Flags |= tree.AtLeast
	s := n.Stat(seat)
	s.Estimate = s.Estimate.Plus(&profile.Estimate{AtLeast: true})
	if n.Parent == nil || n.Parent == g.tree.Root {
		return
	}
	up := n.Parent.Stat(seat)
	up.Estimate = up.Estimate.Plus(&profile.Estimate{Inside: true})
}

// Observations returns the profile's summary of gaps, ordered by set of constructs.
func (g *Gaps) Observations() (out []profile.Observation) {
	for _, o := range g.groups {
		if o.note.Gaps > 0 {
			out = append(out, *o.note)
		}
	}
	slices.SortFunc(out, func(a, b profile.Observation) int { return cmp.Compare(a.Of, b.Of) })
	return out
}

// fitInto shortens the estimates of the constructs in a region to the time that the region can
// spare. Estimates of tasks, which other threads execute, need not lie in that time, nor do
// estimates outside of all regions. Both stay as they are.
func (g *Gaps) fitInto(n *tree.Node) {
	if n.Outside {
		return
	}
	seats := map[int][]*estimate{}
	for _, c := range n.Children {
		if tree.IsExecution(c.Key.Construct) {
			continue
		}
		for seat := range g.estimates[c] {
			seats[seat] = append(seats[seat], &g.estimates[c][seat])
		}
	}
	for seat, estimates := range seats {
		fit(estimates, SpareTime(n.Stat(seat)))
	}
}

// apply adds the estimates of a seat to its figures. Their time was counted as the parent's own,
// and is moved.
func (g *Gaps) apply(n *tree.Node, seat int, est *estimate) {
	var x profile.Estimate
	for i, part := range x.Parts() {
		part.T, part.C = int64(math.Round(est.v[2*i])), uint64(math.Round(est.v[2*i+1]))
	}
	if x.Exec == (profile.Sum{}) {
		return
	}
	x.TimeError, x.CountError = est.sigma()
	s := n.Stat(seat)
	for i, part := range s.Parts() {
		part.Add(*x.Parts()[i])
	}
	s.Estimate = s.Estimate.Plus(&x)
	n.Flags |= tree.Unobserved
	if n.Parent == nil || n.Parent == g.tree.Root {
		return
	}
	up := n.Parent.Stat(seat)
	part := min(x.Exec.T, SpareTime(up))
	up.Child += part
	up.Estimate = up.Estimate.Plus(&profile.Estimate{Child: part})
}
