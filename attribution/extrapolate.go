package attribution

import (
	"cmp"
	"math"
	"slices"

	"ompp-attach/attribution/ledger"
	"ompp-attach/attribution/tree"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// Executions while a construct was not observed are extrapolated, per region, call path and thread,
// from the periods before and after. The rate is per execution of the parallel region around the
// construct, which is always observed. If that region is too long for this, or if there is none,
// the rate is per second of the program's own time. That is the time of a period without the
// measurement's cost, because there is no cost in the gap. No extrapolated time is longer than the
// time that the region around has to spare.

// costError is the error of a hit's cost, as a share. The cost is measured on an idle machine, and
// paid on a busy one with cold caches (docs/overhead.md).
const costError = 0.3

// observed is the state of a set of constructs that have been unobserved.
type observed struct {
	begun  *change // start of the current period of observation; nil: there is none
	gap    *change // start of the gap that is not filled yet; nil: there is none
	back   *change // end of that gap
	before *period // the period before the gap; nil: there was none
	note   *profile.Observation
}

// account processes a change that all threads have come to.
func (e *Engine) account(c *change) {
	for row := range e.rows { // rows whose threads have ended or are idle
		if !c.seen.row(row).known {
			e.read(c, row, nil)
		}
	}
	if e.watch.groups == nil {
		e.watch.groups = map[event.Constructs]*observed{}
	}
	g := e.watch.groups[c.Of]
	if g == nil {
		// Until their first change, the constructs were observed since the beginning. All
		// figures were zero then.
		start := &change{Watch: Watch{At: min(c.At, cmp.Or(e.began, e.watch.start)), Of: c.Of, Change: Period}}
		g = &observed{begun: start, note: &profile.Observation{Of: c.Of}}
		e.watch.groups[c.Of] = g
	}
	c.off = e.off.T
	switch c.Change {
	case Period:
		e.endPeriod(g, c)
		g.begun = c
	case Away:
		before := e.endPeriod(g, c)
		g.begun, g.gap, g.back, g.before = nil, c, nil, before
		g.note.Gaps++
	case Back:
		g.begun, g.back = c, c
	}
}

// endPeriod ends a period of observation and fills the gap before it. It returns the period, nil if
// none was under way.
func (e *Engine) endPeriod(g *observed, at *change) *period {
	if g.begun == nil {
		return nil
	}
	p := &period{g.begun, at}
	if g.gap != nil && g.back != nil {
		e.extrapolate(period{g.gap, g.back}, g.before, p)
		g.note.Away += g.back.since(g.gap)
		g.gap, g.back = nil, nil
	} else if at.Change != Away {
		return p
	}
	g.note.Sampled += at.since(g.begun)
	return p
}

// since returns the time that was measured between two changes, ns.
func (c *change) since(from *change) int64 {
	return max(0, ledger.Span(from.At, c.At)-(c.off-from.off))
}

// extrapolate estimates the executions in a gap by the rates before and after it.
func (e *Engine) extrapolate(gap period, before, after *period) {
	if e.watch.guesses == nil {
		e.watch.guesses = map[*tree.Node][]guess{}
	}
	nodes := map[*tree.Node]int{}
	for _, p := range []*period{before, after} {
		if p == nil {
			continue
		}
		for n, have := range p.to.seen.amounts {
			nodes[n] = max(nodes[n], len(have))
		}
	}
	for n, rows := range nodes {
		for len(e.watch.guesses[n]) < rows {
			e.watch.guesses[n] = append(e.watch.guesses[n], guess{})
		}
		for row := range rows {
			e.watch.guesses[n][row].add(gap.stay(n, row), before.rate(n, row), after.rate(n, row))
		}
	}
}

// settleWatch fills the last gap when measurement ends, and adds all estimates to the figures.
// Everything that was open has been charged.
func (e *Engine) settleWatch(end uint64) {
	if !e.watch.active {
		return
	}
	for len(e.watch.pending) > 0 {
		e.account(e.watch.pending[0])
		e.watch.pending = e.watch.pending[1:]
	}
	for of, g := range e.watch.groups {
		c := &change{Watch: Watch{At: end, Of: of}, off: e.off.T}
		for row := range e.rows {
			e.read(c, row, nil)
		}
		switch {
		case g.gap == nil:
		case g.back != nil:
			e.endPeriod(g, c)
		default:
			e.extrapolate(period{g.gap, c}, g.before, nil)
			g.note.Away += c.since(g.gap)
		}
	}
	all := ^event.Constructs(0)
	e.giveUpGuesses()
	e.tree.Root.Each(all, func(n *tree.Node) { // parents first
		for row := range e.watch.guesses[n] {
			e.addGuess(n, row, &e.watch.guesses[n][row])
		}
		e.fitInto(n)
	})
}

// giveUpGuesses drops the estimates of a construct, for all call paths and threads, in two cases:
// the periods do not show the construct's pace without probes, or the error interval reaches down
// to the observed count.
func (e *Engine) giveUpGuesses() {
	type sum struct {
		count, sigma float64
		blind        bool
	}
	sums := map[Key]*sum{}
	for n, guesses := range e.watch.guesses {
		s := sums[n.Key]
		if s == nil {
			s = &sum{}
			sums[n.Key] = s
		}
		for i := range guesses {
			_, sigma := guesses[i].sigma()
			s.count += guesses[i].v[1]
			s.sigma += sigma
			s.blind = s.blind || guesses[i].blind
		}
	}
	for n, guesses := range e.watch.guesses {
		s := sums[n.Key]
		if !s.blind && (s.count < 0.5 || profile.Sigmas*s.sigma < s.count) {
			continue
		}
		for row := range guesses {
			if guesses[row].blind || guesses[row].v[1] > 0 {
				e.markAtLeast(n, row)
			}
		}
		delete(e.watch.guesses, n)
	}
}

// markAtLeast marks a row's figures at a node as a lower bound: more was executed.
func (e *Engine) markAtLeast(n *tree.Node, row int) {
	n.Flags |= tree.AtLeast
	s := n.Stat(row)
	s.Estimate = s.Estimate.Plus(&profile.Estimate{AtLeast: true})
	if n.Parent == nil || n.Parent == e.tree.Root {
		return
	}
	up := n.Parent.Stat(row)
	up.Estimate = up.Estimate.Plus(&profile.Estimate{Inside: true})
}

// observations returns the profile's summary of gaps, ordered by set of constructs.
func (w *watching) observations() (out []profile.Observation) {
	for _, g := range w.groups {
		if g.note.Gaps > 0 {
			out = append(out, *g.note)
		}
	}
	slices.SortFunc(out, func(a, b profile.Observation) int { return cmp.Compare(a.Of, b.Of) })
	return out
}

// fitInto shortens the estimates of the constructs in a region to the time that the region can
// spare. Estimates that need not lie in the region's time stay as they are: those of tasks, which
// other threads execute, and those outside of all regions.
func (e *Engine) fitInto(n *tree.Node) {
	if n.Outside {
		return
	}
	rows := map[int][]*guess{}
	for _, c := range n.Children {
		if tree.IsExecution(c.Key.Construct) {
			continue
		}
		for row := range e.watch.guesses[c] {
			rows[row] = append(rows[row], &e.watch.guesses[c][row])
		}
	}
	for row, guesses := range rows {
		fit(guesses, spareTime(n.Stat(row)))
	}
}

// addGuess adds the estimates of a row to its figures. Their time was counted as the parent's own,
// and is moved.
func (e *Engine) addGuess(n *tree.Node, row int, g *guess) {
	var x profile.Estimate
	for i, part := range x.Parts() {
		part.T, part.C = int64(math.Round(g.v[2*i])), uint64(math.Round(g.v[2*i+1]))
	}
	if x.Exec == (profile.Span{}) {
		return
	}
	x.TimeError, x.CountError = g.sigma()
	s := n.Stat(row)
	for i, part := range s.Parts() {
		part.Add(*x.Parts()[i])
	}
	s.Estimate = s.Estimate.Plus(&x)
	n.Flags |= tree.Unobserved
	if n.Parent == nil || n.Parent == e.tree.Root {
		return
	}
	up := n.Parent.Stat(row)
	part := min(x.Exec.T, spareTime(up))
	up.Child += part
	up.Estimate = up.Estimate.Plus(&profile.Estimate{Child: part})
}

// spareTime returns how much of a region's own time can have been that of unobserved executions in
// it (ns). The cost of probes is left out, because there was none while the constructs were
// unobserved. If the region has a body, the body's own time is the bound.
func spareTime(s *profile.ThreadStats) int64 {
	var c profile.Cost
	if s.Cost != nil {
		c = *s.Cost
	}
	own := s.Exec.T - s.Child - (c.Exec - c.Child)
	if s.Body.T != 0 { // tasks that are executed while waiting are part of the barrier
		own = min(own, s.Body.T-(s.Child-s.Task)-(c.Body-(c.Child-c.Task)))
	}
	return max(0, own)
}
