package attribution

import (
	"ompp-attach/event"
	"ompp-attach/profile"
)

// What is extrapolated, and from what: readings of the figures at each change of
// what is observed, and rates between two of them.

// numAmounts is the number of figures that are extrapolated: time and count of
// each of ThreadStats' spans.
const numAmounts = 10

type amounts [numAmounts]float64

func spans(s *profile.ThreadStats) [numAmounts / 2]*profile.Span {
	return [...]*profile.Span{&s.Exec, &s.Enter, &s.Body, &s.Barrier, &s.Exit}
}

// amountsOf are a row's figures, without what the probes took of its times.
func amountsOf(s *profile.ThreadStats) (v amounts) {
	var cost profile.Cost
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
	rows    []rowReading
	amounts map[*node][]amounts
	spreads map[*node][]spread
	within  map[*node][]presence // by region and row
}

// rowReading is what was known of a row's thread.
type rowReading struct {
	known bool
	own   int64 // the measurement's cost so far, ns
	cpu   int64 // processor time; 0: not known
	delay int64 // waiting for a core, ns
	dense int64 // of the cost: where it took most of the time
}

func (r *reading) row(i int) (x rowReading) {
	if i < len(r.rows) {
		x = r.rows[i]
	}
	return x
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
	for len(r.rows) <= row {
		r.rows = append(r.rows, rowReading{})
	}
	if r.amounts == nil {
		r.amounts, r.spreads, r.within = map[*node][]amounts{}, map[*node][]spread{}, map[*node][]presence{}
	}
	x := rowReading{known: true, dense: e.root.present(row).dense}
	if s := e.root.stat(row); s.Cost != nil {
		x.own = s.Cost.Exec
	}
	if t != nil {
		x.cpu, x.delay = c.CPU[t.tid], c.Delay[t.tid]
	}
	r.rows[row] = x
	e.root.each(^event.Constructs(0), func(n *node) {
		if c.Of.Has(n.key.Construct) && row < len(n.stats) {
			setRow(r.amounts, n, row, amountsOf(&n.stats[row]))
			setRow(r.spreads, n, row, n.spreadUntil(row))
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

// tick is how far the processor time of a thread that runs may lag behind (ns): the
// kernel tells it as of its last tick.
const tick = 5e6

// stay is what a row's thread did in a period where a node could have been
// executed.
type stay struct {
	wall       float64 // ns
	ran        float64 // of that, as far as it is known, ns
	slack      float64 // by how much ran may be off, ns
	own        float64 // of ran, the program's own, ns
	others     float64 // what probes took of the other threads in the period, ns
	dense      bool    // the program's own pace did not show
	executions float64 // of the parallel region around, as far as there is one
	cut        bool    // the first or last of them is not all in it
}

// stay is that of a row at a node. How long the thread ran is its processor
// time, or wall time if that is not known, and no more than its time in the
// parallel region that the node lies in.
func (p period) stay(n *node, row int) (x stay) {
	a, b := &p.from.seen, &p.to.seen
	x.wall = float64(p.to.since(p.from))
	was, is := a.row(row), b.row(row)
	paid, dense := float64(is.own-was.own), float64(is.dense-was.dense)
	for other := range b.rows {
		if other != row {
			x.others += max(0, float64(b.rows[other].own-a.row(other).own))
		}
	}
	x.ran = x.wall
	if was.cpu > 0 && is.cpu > 0 {
		// Of one that had no core now and then the kernel knows that exactly; what it
		// knows of one that slept is as of a tick.
		x.ran = max(0, x.wall-max(0, float64(is.delay-was.delay)))
		if cpu := max(0, float64(is.cpu-was.cpu)); cpu < x.ran-tick {
			x.ran, x.slack = cpu, min(tick, cpu)
		}
	}
	if in := n.region(); in != nil {
		was, is := getRow(a.within, in, row), getRow(b.within, in, row)
		x.wall = max(0, min(x.wall, float64(is.time-was.time)))
		x.executions = max(0, float64(is.count-was.count)) // rows whose thread has changed are read later
		x.cut = was.open || is.open
		paid, dense = min(paid, float64(is.paid-was.paid)), float64(is.dense-was.dense)
	}
	paid = max(0, paid)
	x.ran = max(0, min(x.ran, x.wall))
	const least = 0.02 // of the time is the program's, whatever the costs seem to be
	x.own = max(x.ran-paid, least*x.ran)
	const some = 0.2 // of the cost is more than a moment's
	x.dense = dense > some*paid || x.own < leastOwn && paid > paceShare*x.ran
	return x
}
