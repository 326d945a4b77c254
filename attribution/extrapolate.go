package attribution

import (
	"cmp"
	"math"
	"slices"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// What was executed while a construct was not observed is extrapolated, per
// region, call path and thread, from the periods before and after: as many per
// execution of the parallel region around, which is observed all of the time; of
// regions too long for that, and outside of them, as many per second of the
// program's own time. That is what is left of a period without the measurement's
// cost, since nothing was paid in the gap. No time is longer than the region
// around has to spare.

// costError is how far the cost of a hit may be off, as a share: measured on an
// idle machine, it is paid in a busy one, with cold caches (docs/overhead.md).
const costError = 0.3

// observed is what is known of a set of constructs that have been away.
type observed struct {
	begun  *change // where the current period of observation began; nil: there is none
	gap    *change // where the gap began that is not filled yet; nil: there is none
	back   *change // where it ended
	before *period // before the gap; nil: there was none
	note   *profile.Observation
}

// account takes a change into account to which all threads have come.
func (e *Engine) account(c *change) {
	for row := range e.rows { // those of threads that are gone, or idle
		if !c.seen.row(row).known {
			e.read(c, row, nil)
		}
	}
	if e.watch.groups == nil {
		e.watch.groups = map[event.Constructs]*observed{}
	}
	g := e.watch.groups[c.Of]
	if g == nil {
		// Until their first change they were observed since the beginning, at
		// which nothing had been measured.
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

// endPeriod takes a period of observation into account that ends, and with it the
// gap before; nil if there was none.
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

// since is the time that was measured between two changes, ns.
func (c *change) since(from *change) int64 { return max(0, span(from.At, c.At)-(c.off-from.off)) }

// extrapolate guesses what was executed in a gap, by the rates before and after.
func (e *Engine) extrapolate(gap period, before, after *period) {
	if e.watch.guesses == nil {
		e.watch.guesses = map[*node][]guess{}
	}
	nodes := map[*node]int{}
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

// settleWatch extrapolates what is left, when measurement ends, and adds it all
// to the figures. Everything that was open has been charged.
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
	e.root.each(all, func(n *node) { // parents first
		for row := range e.watch.guesses[n] {
			e.addGuess(n, row, &e.watch.guesses[n][row])
		}
		e.fitInto(n)
	})
}

// giveUpGuesses gives up extrapolating a construct, of all call paths and threads,
// where the periods do not tell how it goes on without probes, or where the interval
// would reach down to what was observed.
func (e *Engine) giveUpGuesses() {
	type sum struct {
		count, sigma float64
		blind        bool
	}
	sums := map[Key]*sum{}
	for n, guesses := range e.watch.guesses {
		s := sums[n.key]
		if s == nil {
			s = &sum{}
			sums[n.key] = s
		}
		for i := range guesses {
			_, sigma := guesses[i].sigma()
			s.count += guesses[i].v[1]
			s.sigma += sigma
			s.blind = s.blind || guesses[i].blind
		}
	}
	for n, guesses := range e.watch.guesses {
		s := sums[n.key]
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

// markAtLeast says that there were more executions of a row at a node.
func (e *Engine) markAtLeast(n *node, row int) {
	n.note(noteAtLeast)
	s := n.stat(row)
	s.Estimate = s.Estimate.Plus(&profile.Estimate{AtLeast: true})
	if n.parent == nil || n.parent == e.root {
		return
	}
	up := n.parent.stat(row)
	up.Estimate = up.Estimate.Plus(&profile.Estimate{Inside: true})
}

// observations are what the profile says of it all.
func (w *watching) observations() (out []profile.Observation) {
	for _, g := range w.groups {
		if g.note.Gaps > 0 {
			out = append(out, *g.note)
		}
	}
	slices.SortFunc(out, func(a, b profile.Observation) int { return cmp.Compare(a.Of, b.Of) })
	return out
}

// fitInto makes what is guessed of the constructs in a region last no longer
// than the region can spare. What is not known to lie in its time is left as it
// is: tasks, which other threads execute, and what was outside of all regions.
func (e *Engine) fitInto(n *node) {
	if n.outside {
		return
	}
	rows := map[int][]*guess{}
	for _, c := range n.children {
		if isExecution(c.key.Construct) {
			continue
		}
		for row := range e.watch.guesses[c] {
			rows[row] = append(rows[row], &e.watch.guesses[c][row])
		}
	}
	for row, guesses := range rows {
		fit(guesses, spareTime(n.stat(row)))
	}
}

// addGuess adds what was extrapolated of a row to its figures. The time was the
// parent's own.
func (e *Engine) addGuess(n *node, row int, g *guess) {
	var x profile.Estimate
	as := profile.ThreadStats{}
	for i, s := range spans(&as) {
		s.T, s.C = int64(math.Round(g.v[2*i])), uint64(math.Round(g.v[2*i+1]))
	}
	if as.Exec == (profile.Span{}) {
		return
	}
	x.Exec, x.Enter, x.Body, x.Barrier, x.Exit = as.Exec, as.Enter, as.Body, as.Barrier, as.Exit
	x.TimeError, x.CountError = g.sigma()
	s := n.stat(row)
	for i, to := range spans(s) {
		to.Add(*spans(&as)[i])
	}
	s.Estimate = s.Estimate.Plus(&x)
	n.note(noteAway)
	if n.parent == nil || n.parent == e.root {
		return
	}
	up := n.parent.stat(row)
	part := min(x.Exec.T, spareTime(up))
	up.Child += part
	up.Estimate = up.Estimate.Plus(&profile.Estimate{Child: part})
}

// spare is how much of a region's own time can have been that of executions in
// it that were not observed: not what its probes took, for nothing was paid
// while they were away, and where it has a body, no more than that has.
func spareTime(s *profile.ThreadStats) int64 {
	var c profile.Cost
	if s.Cost != nil {
		c = *s.Cost
	}
	own := s.Exec.T - s.Child - (c.Exec - c.Child)
	if s.Body.T != 0 { // tasks that are executed while waiting are in the barrier
		own = min(own, s.Body.T-(s.Child-s.Task)-(c.Body-(c.Child-c.Task)))
	}
	return max(0, own)
}
