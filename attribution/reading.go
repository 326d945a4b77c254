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
	within  map[*node][]int64 // by region and row: the time in it, ns
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
		if c := n.key.Construct; c.IsParallel() && c != event.Unknown {
			return n
		}
	}
	return nil
}

// read notes what has been measured of a row, and of its thread, if there is one,
// until a time.
func (e *Engine) read(c *change, row int, t *thread) {
	r := &c.seen
	for len(r.known) <= row {
		r.known, r.own, r.cpu = append(r.known, false), append(r.own, 0), append(r.cpu, 0)
	}
	if r.amounts == nil {
		r.amounts, r.within = map[*node][]amounts{}, map[*node][]int64{}
	}
	r.known[row] = true
	if s := e.root.stat(row); s.Cost != nil {
		r.own[row] = s.Cost.Exec
	}
	if t != nil {
		r.cpu[row] = c.CPU[t.tid]
	}
	e.root.each(c.Of, func(n *node) {
		if row < len(n.stats) {
			setRow(r.amounts, n, row, amountsOf(&n.stats[row]))
		}
		if in := n.region(); in != nil {
			setRow(r.within, in, row, in.timeOf(row, t, c.At))
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

// timeOf is how long a row has been in a region, until a time in one that its
// thread has open.
func (n *node) timeOf(row int, t *thread, at uint64) int64 {
	sum := int64(0)
	if row < len(n.stats) {
		sum = n.stats[row].Exec.T
	}
	if t == nil {
		return sum
	}
	for i := range t.stack {
		if f := &t.stack[i]; f.node == n && f.row == row && f.team != nil && !f.team.charged {
			sum += span(f.start, at)
		}
	}
	return sum
}

// period is the time between two changes.
type period struct{ from, to *change }

// leastCPU is the processor time (ns) from which on it is exact enough: the
// kernel tells it as of its last tick.
const leastCPU = 20e6

// ran is how long a row's thread ran where a node could have been executed, and
// how much of that was the program's own time: of the thread's processor time,
// or of wall time if that is not known, and no more than the time in the parallel
// region that the node lies in.
func (p period) ran(n *node, row int) (all, own float64) {
	all = float64(p.to.since(p.from))
	a, b := &p.from.seen, &p.to.seen
	var paid float64
	if row < min(len(a.known), len(b.known)) {
		paid = float64(b.own[row] - a.own[row])
		if a.cpu[row] > 0 && b.cpu[row] > a.cpu[row]+leastCPU {
			all = min(all, float64(b.cpu[row]-a.cpu[row]))
		}
	}
	if in := n.region(); in != nil {
		all = min(all, float64(getRow(b.within, in, row)-getRow(a.within, in, row)))
	}
	all = max(0, all)
	const least = 0.02 // of the time is the program's, whatever the costs seem to be
	return all, max(all-paid, least*all)
}

// rate is how fast the figures of a row grow, per ns of the program's own time.
type rate struct {
	v     amounts
	doubt float64 // standard error for want of knowing what the measurement has cost, as a share
	known bool    // else the thread was never where it could have executed the region
}

// waits is the share of the time that a thread waits at a node. It may have
// waited for others that were slowed down, by probes that are none of its own
// cost: how much of it is not known.
func (r *rate) waits(n *node) float64 {
	const exec, enter, barrier = 0, 2, 6 // times, in amounts
	switch n.key.Construct {
	case event.Barrier, event.TaskWait:
		return r.v[exec]
	}
	return r.v[enter] + r.v[barrier]
}

// rate is a row's at a node in a period, if there is one.
func (p *period) rate(n *node, row int) (r rate) {
	if p == nil {
		return r
	}
	all, own := p.ran(n, row)
	if all <= 0 {
		return r
	}
	r.known = true
	have, was := getRow(p.to.seen.amounts, n, row), getRow(p.from.seen.amounts, n, row)
	for i := range r.v {
		r.v[i] = max(0, have[i]-was[i]) / own
	}
	r.doubt = costError*(all-own)/own + min(1, r.waits(n))
	return r
}
