package attribution

import (
	"math"

	"ompp-attach/attribution/tree"
	"ompp-attach/event"
)

// A rate says how often and how long a construct is executed while it is observed. The rates before
// and after a gap give the estimate for the gap.

// rate is how fast the figures of a row at a node grow. They grow with the executions of the
// parallel region around the node if there were enough of these; the number of such executions is
// known in the gaps too. Otherwise they grow with the program's own time, in ns.
type rate struct {
	v            amounts
	perExecution bool
	// Standard error of this period's figures by themselves, as a share of them.
	noise float64
	// Error of the executions' time and count that the unknown effects of the measurement may
	// make, as shares.
	doubt [2]float64
	known bool // false: the thread was never where it could have executed the node
	// The thread was there, but its figures say nothing about its pace without probes.
	blind bool
}

const (
	// enoughExecutions of the region around the node tell how often the construct is executed
	// in each. One execution may have been cut at either end of the period; among that many it
	// matters little. If there are fewer and longer ones, the time tells more, if it tells
	// anything.
	enoughExecutions = 10
	// fewExecutions are enough where the time tells nothing.
	fewExecutions = 3
	// leastOwn is the least of the program's own time (ns) for which a rate per time is
	// believed. In less time, one execution more or less decides the rate, or the error of the
	// hits' costs does.
	leastOwn = 1e6
	// alikeError: executions of the region around are alike if the standard error of their mean
	// is no larger than this share of it.
	alikeError = 0.3
)

// waits returns the time that a thread waited at a node. The thread may have waited for others that
// probes slowed down. These probes are not in its own cost, so how much of the wait they made is
// not known.
func waits(n *tree.Node, v *amounts) float64 {
	const exec, enter, barrier = 0, 2, 6 // times, in amounts
	switch n.Key.Construct {
	case event.Barrier, event.TaskWait:
		return v[exec]
	}
	return v[enter] + v[barrier]
}

// rate returns the rate of a row at a node in this period. Without a period, or time in it, known
// is false.
func (p *period) rate(n *tree.Node, row int) (r rate) {
	if p == nil || p.to.since(p.from) == 0 {
		return r
	}
	x := p.stay(n, row)
	have, was := getRow(p.to.seen.amounts, n, row), getRow(p.from.seen.amounts, n, row)
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
	squares := getRow(p.to.seen.spreads, n, row).Squares - getRow(p.from.seen.spreads, n, row).Squares
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

// spreadError returns the standard error of the mean number of executions of a construct per
// execution of the region around it, as a share of that mean. squares is the sum of the squared
// numbers.
func spreadError(regions, executions, squares float64) float64 {
	if regions <= 1 || executions <= 0 {
		return 0
	}
	variance := (squares - executions*executions/regions) / (regions - 1)
	return math.Sqrt(max(0, variance)/regions) / (executions / regions)
}

// vague tells whether a rate says nothing: its error is as large as the rate.
func (r *rate) vague() bool { return r.known && r.doubt[1] >= 1 }

// in returns the figures that a rate predicts for a gap: at most as much time as the gap had.
func (r *rate) in(gap stay) amounts {
	v := r.v
	if r.perExecution {
		v.scale(gap.executions)
		v.fit(gap.wall)
		return v
	}
	v.scale(gap.own)
	if v[0] > gap.wall { // more executions than that do not fit into the gap
		v.scale(gap.wall / v[0])
	}
	return v
}

func (v *amounts) scale(by float64) {
	for i := range v {
		v[i] *= by
	}
}

// fit shortens all times in proportion, so that the executions take at most the given time.
func (v *amounts) fit(time float64) {
	if v[0] <= time {
		return
	}
	by := max(0, time) / v[0]
	for i := 0; i < len(v); i += 2 {
		v[i] *= by
	}
}

// guess is the estimate for all gaps of one row.
type guess struct {
	v        amounts
	variance [2]float64 // of the executions' time and count
	doubt    [2]float64 // errors with one cause in all gaps, which add up linearly
	most     float64    // time that the executions can have taken at most, ns; 0: no bound
	blind    bool       // some gaps cannot be estimated
}

// add adds a gap to the estimate, from the rates before and after it. If the rate changed in the
// gap, nobody knows when. The standard error holds for rates that vary from period to period, and
// is too large for a rate that changed once. If only one of the two rates is known, a rate per time
// may be off by half, a rate per execution of the region around by a quarter.
func (g *guess) add(gap stay, before, after rate) {
	if gap.wall <= 0 && gap.executions <= 0 {
		return // the thread was not where it could have executed the node
	}
	if before.blind || after.blind {
		g.blind = true
		return
	}
	switch { // a vague rate is not used where the other one is better
	case before.vague() && after.known && !after.vague():
		before = rate{}
	case after.vague() && before.known && !before.vague():
		after = rate{}
	}
	var mean, difference amounts
	a, b := before.in(gap), after.in(gap)
	for i := range mean {
		switch {
		case before.known && after.known:
			mean[i], difference[i] = (a[i]+b[i])/2, (a[i]-b[i])/math.Sqrt2
		case before.known:
			mean[i], difference[i] = a[i], a[i]*before.alone()
		case after.known:
			mean[i], difference[i] = b[i], b[i]*after.alone()
		}
		g.v[i] += mean[i]
	}
	for i := range g.variance {
		noise := (math.Abs(a[i]*before.noise) + math.Abs(b[i]*after.noise)) / 2
		g.variance[i] += difference[i]*difference[i] + noise*noise
		g.doubt[i] += mean[i] * max(before.doubt[i], after.doubt[i])
	}
}

// alone is the error, as a share, of a rate that is the only one beside a gap.
func (r *rate) alone() float64 {
	if r.perExecution {
		return 0.25
	}
	return 0.5
}

// sigma returns the standard errors of the executions' time (ns) and count.
func (g *guess) sigma() (time, count float64) {
	time = math.Sqrt(g.variance[0] + g.doubt[0]*g.doubt[0])
	if g.most != 0 {
		time = min(time, g.most)
	}
	return time, math.Sqrt(g.variance[1] + g.doubt[1]*g.doubt[1])
}

// fit shortens the estimates of the constructs directly in a region, so that together they take at
// most the given time (ns).
func fit(guesses []*guess, time int64) {
	sum := 0.0
	for _, g := range guesses {
		sum += g.v[0]
	}
	if sum <= float64(time) {
		return
	}
	for _, g := range guesses {
		g.v.fit(g.v[0] * float64(time) / sum)
		g.most = float64(time)
	}
}
