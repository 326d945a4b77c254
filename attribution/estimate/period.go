package estimate

import (
	"math"

	"ompp-attach/attribution/tree"
)

// rate returns the rate of a seat at a node in this period. Without a period, or time in it, known
// is false.
func (p *period) rate(n *tree.Node, seat int) (r rate) {
	if p == nil || p.to.since(p.from) == 0 {
		return r
	}
	x := p.stay(n, seat)
	have, was := getSeat(p.to.seen.amounts, n, seat), getSeat(p.from.seen.amounts, n, seat)
	for i := range r.v {
		r.v[i] = max(0, have[i]-was[i])
	}
	if x.ran <= 0 && x.executions < enoughExecutions {
		return r
	}
	r.known = true
	doubt := 1.0
	if x.ran > 0 {
		doubt = (costError*(x.ran-x.own) + min(waits(n, &r.v), x.others) + x.slack) / x.own
	}
	squares := getSeat(p.to.seen.spreads, n, seat).Squares - getSeat(p.from.seen.spreads, n, seat).Squares
	spread := spreadError(x.executions, r.v[1], squares)
	switch {
	case x.executions >= enoughExecutions && spread <= alikeError,
		x.dense && x.executions > 0 && spread <= alikeError && (!x.cut || x.executions >= fewExecutions):
		r.perExecution = true
		r.noise, r.doubt[0] = max(spread, 1/x.executions), min(1, doubt)
		r.v.scale(1 / x.executions)
	case x.dense:
		r.blind = true
	default:
		if x.own < leastOwn {
			doubt = max(1, doubt)
		}
		r.noise, r.doubt = 1/math.Sqrt(max(1, r.v[1])), [2]float64{doubt, doubt}
		r.v.scale(1 / x.own)
	}
	return r
}

// period is the time between two changes.
type period struct{ from, to *Moment }

// tick is how far the processor time of a running thread may lag behind (ns): the kernel tells the
// time of its last timer tick.
const tick = 5e6

// stay describes the time of a seat's thread, within a period, in which it could have executed a
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

// stay returns the stay of a seat at a node. The thread ran for its processor time, or for the wall
// time if the processor time is not known. It ran no longer than its time in the parallel region
// around the node.
func (p period) stay(n *tree.Node, seat int) (x stay) {
	a, b := &p.from.seen, &p.to.seen
	x.wall = float64(p.to.since(p.from))
	was, is := a.seat(seat), b.seat(seat)
	paid, dense := float64(is.own-was.own), float64(is.dense-was.dense)
	for other := range b.seats {
		if other != seat {
			x.others += max(0, float64(b.seats[other].own-a.seat(other).own))
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
		was, is := getSeat(a.within, in, seat), getSeat(b.within, in, seat)
		x.wall = max(0, min(x.wall, float64(is.Time-was.Time)))
		// A seat whose thread has changed is read later, so the count may be lower.
		x.executions = max(0, float64(is.Count-was.Count))
		x.cut = was.Open || is.Open
		paid, dense = min(paid, float64(is.Taken-was.Taken)), float64(is.Dense-was.Dense)
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
