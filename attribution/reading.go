package attribution

import "ompp-attach/event"

// What is extrapolated, and from what: readings of the figures at each change of
// what is observed, and rates between two of them.

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
	within  map[*node][]presence // by region and row
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

// region returns the parallel region that a node lies in, which is observed all
// of the time; nil: none that is known.
func (n *node) region() *node {
	for n = n.parent; n != nil; n = n.parent {
		if n.isRegion() {
			return n
		}
	}
	return nil
}

// isRegion tells whether a node is a parallel region that is known.
func (n *node) isRegion() bool {
	return n.key.Construct.IsParallel() && n.key.Construct != event.Unknown
}

// read notes what has been measured of a row, and of its thread, if there is one,
// until a time.
func (e *Engine) read(c *change, row int, t *thread) {
	r := &c.seen
	for len(r.known) <= row {
		r.known, r.own, r.cpu = append(r.known, false), append(r.own, 0), append(r.cpu, 0)
	}
	if r.amounts == nil {
		r.amounts, r.within = map[*node][]amounts{}, map[*node][]presence{}
	}
	r.known[row] = true
	if s := e.root.stat(row); s.Cost != nil {
		r.own[row] = s.Cost.Exec
	}
	if t != nil {
		r.cpu[row] = c.CPU[t.tid]
	}
	e.root.each(^event.Constructs(0), func(n *node) {
		if c.Of.Has(n.key.Construct) && row < len(n.stats) {
			setRow(r.amounts, n, row, amountsOf(&n.stats[row]))
		}
		if n.isRegion() { // also where nothing of these has been seen yet: it may have been executed
			setRow(r.within, n, row, n.presentUntil(row, t, c.At))
		}
	})
}

func setRow[V any](m map[*node][]V, n *node, row int, v V) {
	have := m[n]
	for len(have) <= row {
		var none V
		have = append(have, none)
	}
	have[row] = v
	m[n] = have
}

func getRow[V any](m map[*node][]V, n *node, row int) (v V) {
	if have := m[n]; row < len(have) {
		return have[row]
	}
	return v
}

// period is the time between two changes.
type period struct{ from, to *change }

// leastCPU is the processor time (ns) from which on it is exact enough: the
// kernel tells it as of its last tick.
const leastCPU = 20e6

// stay is what a row's thread did in a period where a node could have been
// executed.
type stay struct {
	wall       float64 // ns
	ran        float64 // of that, as far as it is known, ns
	own        float64 // of that, the program's own, ns
	executions float64 // of the parallel region around, as far as there is one
}

// stay is that of a row at a node. How long the thread ran is its processor
// time, or wall time if that is not known, and no more than its time in the
// parallel region that the node lies in.
func (p period) stay(n *node, row int) (x stay) {
	a, b := &p.from.seen, &p.to.seen
	x.wall = float64(p.to.since(p.from))
	x.ran = x.wall
	var paid float64
	if row < len(b.known) {
		own, cpu := int64(0), int64(0) // at the beginning, or before the row had a thread
		if row < len(a.known) {
			own, cpu = a.own[row], a.cpu[row]
		}
		paid = float64(b.own[row] - own)
		if cpu > 0 && b.cpu[row] > cpu+leastCPU {
			x.ran = min(x.ran, float64(b.cpu[row]-cpu))
		}
	}
	if in := n.region(); in != nil {
		was, is := getRow(a.within, in, row), getRow(b.within, in, row)
		x.wall = max(0, min(x.wall, float64(is.time-was.time)))
		x.executions = max(0, float64(is.count-was.count)) // rows whose thread has changed are read later
		paid = max(0, min(paid, float64(is.paid-was.paid)))
	}
	x.ran = max(0, min(x.ran, x.wall))
	const least = 0.02 // of the time is the program's, whatever the costs seem to be
	x.own = max(x.ran-paid, least*x.ran)
	return x
}
