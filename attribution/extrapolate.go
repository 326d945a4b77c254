package attribution

import (
	"cmp"
	"math"
	"slices"

	"ompp-attach/event"
)

// What was executed while a construct was not observed is extrapolated, per
// region, call path and thread: as many per second of the program's own time as
// in the periods before and after. The program's own time is what is left of a
// period without the measurement's cost, since nothing was paid in the gap.

// Observation says how long the executions of some constructs were observed,
// and how long not.
type Observation struct {
	Name    string           `json:"name,omitempty"` // what the user may call them
	Of      event.Constructs `json:"of"`
	Away    int64            `json:"away_ns"`    // not observed, wall time
	Sampled int64            `json:"sampled_ns"` // the periods from which that is extrapolated
	Gaps    int              `json:"gaps"`       // how many times they were not observed
}

// Budget is what the measurement may cost.
type Budget struct {
	Share  float64 `json:"share"`     // of each thread's time
	Window int64   `json:"window_ns"` // over any such time
	Worst  float64 `json:"worst"`     // the largest share that hits by their known costs took of a thread's time in such a window
}

// Estimate is the part of a thread's figures at a node that was extrapolated:
// they include it.
type Estimate struct {
	Exec    Span  `json:"exec,omitzero"`
	Enter   Span  `json:"enter,omitzero"`
	Body    Span  `json:"body,omitzero"`
	Barrier Span  `json:"barrier,omitzero"`
	Exit    Span  `json:"exit,omitzero"`
	Child   int64 `json:"child,omitempty"` // ns, taken out of the exclusive time for extrapolated children
	// The standard errors of Exec: of the count, and of the time in ns.
	CountError float64 `json:"count_error,omitempty"`
	TimeError  float64 `json:"time_error,omitempty"`
}

// Plus returns the sum of two estimates; their errors may have one cause, and
// are added as well.
func (x *Estimate) Plus(y *Estimate) *Estimate {
	switch {
	case x == nil:
		return y
	case y == nil:
		return x
	}
	sum := *x
	sum.Exec.add(y.Exec)
	sum.Enter.add(y.Enter)
	sum.Body.add(y.Body)
	sum.Barrier.add(y.Barrier)
	sum.Exit.add(y.Exit)
	sum.Child += y.Child
	sum.CountError += y.CountError
	sum.TimeError += y.TimeError
	return &sum
}

// costError is how far the cost of a hit may be off, as a share: measured on an
// idle machine, it is paid in a busy one, with cold caches.
const costError = 0.1

// numAmounts is the number of figures that are extrapolated: time and count of
// each of ThreadStats' spans.
const numAmounts = 10

type amounts [numAmounts]float64

func spans(s *ThreadStats) [numAmounts / 2]*Span {
	return [...]*Span{&s.Exec, &s.Enter, &s.Body, &s.Barrier, &s.Exit}
}

// amountsOf are a row's figures, without what the probes took of its times.
func amountsOf(s *ThreadStats) (v amounts) {
	var cost Cost
	if s.Cost != nil {
		cost = *s.Cost
	}
	paid := [...]int64{cost.Exec, cost.Enter, cost.Body, cost.Barrier, cost.Exit}
	for i, x := range spans(s) {
		v[2*i], v[2*i+1] = float64(x.T-paid[i]), float64(x.C)
	}
	return v
}

// reading is what had been measured of some constructs when the threads came to
// a change.
type reading struct {
	own     []int64 // by row: the measurement's cost so far, ns
	cpu     []int64 // by row: processor time; 0: not known
	known   []bool  // by row
	amounts map[*node][]amounts
}

// each calls f on all nodes of some constructs.
func (n *node) each(of event.Constructs, f func(*node)) {
	if n.parent != nil && of.Has(n.key.Construct) {
		f(n)
	}
	for _, c := range n.children {
		c.each(of, f)
	}
}

// read notes what has been measured of a row.
func (e *Engine) read(r *reading, of event.Constructs, row int) {
	for len(r.known) <= row {
		r.known, r.own, r.cpu = append(r.known, false), append(r.own, 0), append(r.cpu, 0)
	}
	r.known[row] = true
	if s := e.root.stat(row); s.Cost != nil {
		r.own[row] = s.Cost.Exec
	}
	if r.amounts == nil {
		r.amounts = map[*node][]amounts{}
	}
	e.root.each(of, func(n *node) {
		if row >= len(n.stats) {
			return
		}
		have := r.amounts[n]
		for len(have) <= row {
			have = append(have, amounts{})
		}
		have[row] = amountsOf(&n.stats[row])
		r.amounts[n] = have
	})
}

func (r *reading) at(n *node, row int) (v amounts) {
	if have := r.amounts[n]; row < len(have) {
		return have[row]
	}
	return v
}

// ran is how long a row's thread ran between two changes, and how much of that
// was the program's own time: of its processor time if that is known, else of
// wall time.
func ran(from, to *change, row int) (all, own float64) {
	all = float64(to.since(from))
	a, b := &from.seen, &to.seen
	if row >= min(len(a.known), len(b.known)) {
		return all, all
	}
	if a.cpu[row] > 0 && b.cpu[row] > a.cpu[row]+leastCPU {
		all = min(all, float64(b.cpu[row]-a.cpu[row]))
	}
	const least = 0.02 // of the time is the program's, whatever the costs seem to be
	return all, max(all-float64(b.own[row]-a.own[row]), least*all)
}

// leastCPU is the processor time (ns) from which on it is exact enough: the
// kernel tells it as of its last tick.
const leastCPU = 20e6

// observed is what is known of a set of constructs that have been away.
type observed struct {
	begun  *change          // of the current period; nil: none
	rates  map[*node][]rate // of the latest period; nil: none
	gap    *change          // it began there; nil: none that is not filled yet
	back   *change          // and ended there
	before map[*node][]rate // the rates before it
	note   *Observation
}

// rate is how fast the figures of a row grow, per ns of the program's own time.
type rate struct {
	v     amounts
	doubt float64 // standard error for want of knowing the cost, as a share
	known bool
}

// account takes a change into account to which all threads have come.
func (e *Engine) account(c *change) {
	for row := range e.rows { // those of threads that are gone, or idle
		if row >= len(c.seen.known) || !c.seen.known[row] {
			e.read(&c.seen, c.Of, row)
		}
	}
	if e.watch.groups == nil {
		e.watch.groups = map[event.Constructs]*observed{}
	}
	g := e.watch.groups[c.Of]
	if g == nil {
		g = &observed{note: &Observation{Of: c.Of}}
		e.watch.groups[c.Of] = g
	}
	c.off = e.off.T
	switch c.Change {
	case Period:
		e.endPeriod(g, c)
		g.begun = c
	case Away:
		e.endPeriod(g, c)
		g.begun, g.gap, g.back, g.before = nil, c, nil, g.rates
		g.note.Gaps++
	case Back:
		g.begun, g.back = c, c
	}
}

// endPeriod takes a period of observation into account that ends.
func (e *Engine) endPeriod(g *observed, at *change) {
	g.rates = nil
	if g.begun == nil {
		return
	}
	g.rates = e.rates(g.begun, at)
	if g.gap != nil && g.back != nil {
		e.fill(g)
	} else if at.Change != Away {
		return
	}
	g.note.Sampled += at.since(g.begun)
}

// fill extrapolates what was executed in a gap.
func (e *Engine) fill(g *observed) {
	e.extrapolate(g.gap, g.back, g.before, g.rates)
	g.note.Away += g.back.since(g.gap)
	g.gap, g.back = nil, nil
}

// since is the time that was measured between two changes, ns.
func (c *change) since(from *change) int64 { return max(0, span(from.At, c.At)-(c.off-from.off)) }

// rates are those between two changes.
func (e *Engine) rates(from, to *change) map[*node][]rate {
	out := map[*node][]rate{}
	for n, have := range to.seen.amounts {
		rates := make([]rate, len(have))
		for row := range have {
			all, own := ran(from, to, row)
			if all == 0 {
				continue
			}
			was := from.seen.at(n, row)
			r := rate{known: true, doubt: costError * (all - own) / own}
			for i := range r.v {
				r.v[i] = max(0, have[row][i]-was[i]) / own
			}
			rates[row] = r
		}
		out[n] = rates
	}
	return out
}

// guess is what is extrapolated of a row.
type guess struct {
	v        amounts
	variance [2]float64 // of the executions' time and count
	doubt    [2]float64 // standard errors that have one cause
}

// extrapolate adds what was executed between two changes, by the rates before
// and after.
func (e *Engine) extrapolate(from, to *change, before, after map[*node][]rate) {
	if e.watch.guesses == nil {
		e.watch.guesses = map[*node][]guess{}
	}
	nodes := map[*node]int{}
	for _, rates := range []map[*node][]rate{before, after} {
		for n, r := range rates {
			nodes[n] = max(nodes[n], len(r))
		}
	}
	for n, rows := range nodes {
		for len(e.watch.guesses[n]) < rows {
			e.watch.guesses[n] = append(e.watch.guesses[n], guess{})
		}
		for row := range rows {
			_, own := ran(from, to, row)
			e.watch.guesses[n][row].add(own, rateOf(before, n, row), rateOf(after, n, row))
		}
	}
}

// rateOf is a region's rate in a period, which is 0 if it was not seen in one
// that there was.
func rateOf(rates map[*node][]rate, n *node, row int) rate {
	if r := rates[n]; row < len(r) {
		return r[row]
	}
	return rate{known: rates != nil}
}

// add adds a gap. If the rate changed, nobody knows when: the standard error is
// such that it holds for rates that vary from period to period, and is on the
// safe side for one that changed once. Of one period alone half is believed.
func (g *guess) add(gap float64, before, after rate) {
	var mean, difference amounts
	for i := range mean {
		switch {
		case before.known && after.known:
			mean[i], difference[i] = (before.v[i]+after.v[i])/2, (before.v[i]-after.v[i])/math.Sqrt2
		case before.known:
			mean[i], difference[i] = before.v[i], before.v[i]/2
		case after.known:
			mean[i], difference[i] = after.v[i], after.v[i]/2
		}
		g.v[i] += gap * mean[i]
	}
	for i := range g.variance {
		g.variance[i] += gap * gap * difference[i] * difference[i]
		g.doubt[i] += gap * mean[i] * max(before.doubt, after.doubt)
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
			e.read(&c.seen, of, row)
		}
		switch {
		case g.gap == nil:
		case g.back != nil:
			e.endPeriod(g, c)
		default:
			g.back = c
			e.extrapolate(g.gap, c, g.before, nil)
			g.note.Away += c.since(g.gap)
		}
	}
	all := ^event.Constructs(0)
	e.root.each(all, func(n *node) { // parents first
		for row := range e.watch.guesses[n] {
			e.addGuess(n, row, &e.watch.guesses[n][row])
		}
	})
}

// observations are what the profile says of it all.
func (w *watching) observations() (out []Observation) {
	for _, g := range w.groups {
		if g.note.Gaps > 0 {
			out = append(out, *g.note)
		}
	}
	slices.SortFunc(out, func(a, b Observation) int { return cmp.Compare(a.Of, b.Of) })
	return out
}

// addGuess adds what was extrapolated of a row to its figures. The time was the
// parent's own.
func (e *Engine) addGuess(n *node, row int, g *guess) {
	var x Estimate
	as := ThreadStats{}
	for i, s := range spans(&as) {
		s.T, s.C = int64(math.Round(g.v[2*i])), uint64(math.Round(g.v[2*i+1]))
	}
	if as.Exec == (Span{}) {
		return
	}
	x.Exec, x.Enter, x.Body, x.Barrier, x.Exit = as.Exec, as.Enter, as.Body, as.Barrier, as.Exit
	x.TimeError = math.Sqrt(g.variance[0] + g.doubt[0]*g.doubt[0])
	x.CountError = math.Sqrt(g.variance[1] + g.doubt[1]*g.doubt[1])
	s := n.stat(row)
	for i, to := range spans(s) {
		to.add(*spans(&as)[i])
	}
	s.Estimate = s.Estimate.Plus(&x)
	n.note(noteAway)
	if n.parent == nil || n.parent == e.root {
		return
	}
	up := n.parent.stat(row)
	part := min(x.Exec.T, max(0, up.Exec.T-up.Child))
	up.Child += part
	up.Estimate = up.Estimate.Plus(&Estimate{Child: part})
}
