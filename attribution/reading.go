package attribution

import (
	"ompp-attach/attribution/tree"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// Readings of the figures at each change of what is observed. A rate is computed from two of them.

// numAmounts is the number of extrapolated figures: the time and the count of each of ThreadStats'
// spans.
const numAmounts = 2 * profile.NumParts

type amounts [numAmounts]float64

// amountsOf returns a row's figures, with the cost of probes taken out of the times.
func amountsOf(s *profile.ThreadStats) (v amounts) {
	var cost profile.Cost
	if s.Cost != nil {
		cost = *s.Cost
	}
	paid := cost.Parts()
	for i, x := range s.Parts() {
		v[2*i], v[2*i+1] = float64(x.T-*paid[i]), float64(x.C)
	}
	return v
}

// reading holds the figures of some constructs when the threads came to a change.
type reading struct {
	rows    []rowReading
	amounts map[*tree.Node][]amounts
	spreads map[*tree.Node][]tree.Spread
	within  map[*tree.Node][]tree.Presence // by region and row
}

// rowReading holds the figures of a row's thread.
type rowReading struct {
	known bool
	own   int64 // the measurement's cost for the thread so far, ns
	cpu   int64 // processor time so far, ns; 0: not known
	delay int64 // time waiting for a core so far, ns
	dense int64 // the part of own in blocks of which probes took most of the time, ns (pace.go)
}

func (r *reading) row(i int) (x rowReading) {
	if i < len(r.rows) {
		x = r.rows[i]
	}
	return x
}

// read notes the figures of a row until a change. t is the row's thread; it may be nil.
func (e *Engine) read(c *change, row int, t *thread) {
	r := &c.seen
	for len(r.rows) <= row {
		r.rows = append(r.rows, rowReading{})
	}
	if r.amounts == nil {
		r.amounts, r.spreads, r.within = map[*tree.Node][]amounts{}, map[*tree.Node][]tree.Spread{}, map[*tree.Node][]tree.Presence{}
	}
	x := rowReading{known: true, dense: e.tree.Root.Present(row).Dense}
	if s := e.tree.Root.Stat(row); s.Cost != nil {
		x.own = s.Cost.Exec
	}
	if t != nil {
		x.cpu, x.delay = c.CPU[t.tid], c.Delay[t.tid]
	}
	r.rows[row] = x
	e.tree.Root.Each(^event.Constructs(0), func(n *tree.Node) {
		if c.Of.Has(n.Key.Construct) && row < len(n.Stats) {
			setRow(r.amounts, n, row, amountsOf(&n.Stats[row]))
			setRow(r.spreads, n, row, n.SpreadUntil(row))
		}
		// Also if none of the constructs has been seen there: they may have been executed.
		if n.IsRegion() {
			setRow(r.within, n, row, presentUntil(n, row, t, c.At))
		}
	})
}

func setRow[V any](m map[*tree.Node][]V, n *tree.Node, row int, v V) {
	have := m[n]
	for len(have) <= row {
		var none V
		have = append(have, none)
	}
	have[row] = v
	m[n] = have
}

func getRow[V any](m map[*tree.Node][]V, n *tree.Node, row int) (v V) {
	if have := m[n]; row < len(have) {
		return have[row]
	}
	return v
}

// period is the time between two changes.
type period struct{ from, to *change }

// tick is how far the processor time of a running thread may lag behind (ns): the kernel tells the
// time of its last timer tick.
const tick = 5e6

// stay describes the time of a row's thread, within a period, in which it could have executed a
// node.
type stay struct {
	wall       float64 // wall time, ns
	ran        float64 // the part of wall that the thread ran, as far as that is known, ns
	slack      float64 // error of ran, ns
	own        float64 // the part of ran that is the program's own, ns
	others     float64 // time that probes took of the other threads in the period, ns
	dense      bool    // probes took so much that the program's own pace did not show
	executions float64 // executions of the parallel region around the node, if there is one
	cut        bool    // the first or the last of these executions lies only partly in the period
}

// stay returns the stay of a row at a node. The thread ran for its processor time, or for the wall
// time if the former is not known, but no longer than its time in the parallel region around the
// node.
func (p period) stay(n *tree.Node, row int) (x stay) {
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
		// How long a running thread waited for a core, the kernel knows exactly. How long a
		// thread slept, the kernel knows as of its last tick.
		x.ran = max(0, x.wall-max(0, float64(is.delay-was.delay)))
		if cpu := max(0, float64(is.cpu-was.cpu)); cpu < x.ran-tick {
			x.ran, x.slack = cpu, min(tick, cpu)
		}
	}
	if in := n.Region(); in != nil {
		was, is := getRow(a.within, in, row), getRow(b.within, in, row)
		x.wall = max(0, min(x.wall, float64(is.Time-was.Time)))
		// A row whose thread has changed is read later, so the count may be lower.
		x.executions = max(0, float64(is.Count-was.Count))
		x.cut = was.Open || is.Open
		paid, dense = min(paid, float64(is.Paid-was.Paid)), float64(is.Dense-was.Dense)
	}
	paid = max(0, paid)
	x.ran = max(0, min(x.ran, x.wall))
	// At least this share of the time is the program's, whatever the costs seem to be.
	const least = 0.02
	x.own = max(x.ran-paid, least*x.ran)
	const some = 0.2 // of the cost; a smaller share is a moment's only
	x.dense = dense > some*paid || x.own < leastOwn && paid > paceShare*x.ran
	return x
}
