package attribution

import (
	"math"

	"ompp-attach/event"
)

// Rates: how often constructs are executed, and for how long, while they are observed,
// and what follows from that for a gap.

// rate is how fast the figures of a row at a node grow: with the executions of
// the parallel region around it, which are known in the gaps too, if there were
// enough to tell; else with the program's own time, ns.
type rate struct {
	v            amounts
	perExecution bool
	noise        float64    // standard error of this period's figures for themselves, as a share
	doubt        [2]float64 // by how much the executions' time and count may be off for want of knowing the measurement's effects, as shares
	known        bool       // else the thread was never where it could have executed the node
	blind        bool       // it was, but what it did tells nothing of how it goes on without probes
}

const (
	// enoughExecutions of the region around tell how often a construct is executed
	// in each: that one may have been cut at either end of the period matters
	// little then. Of fewer, longer ones, the time tells more, if it can tell.
	enoughExecutions = 10
	// fewExecutions tell it where the time can not.
	fewExecutions = 3
	// leastOwn is the program's own time (ns) of which a rate per time is
	// believed: in less, one execution more or less, or what the hits really
	// cost, decides.
	leastOwn = 1e6
	// alikeError: executions of the region around are alike if the standard error of their mean
	// is no larger than this share of it.
	alikeError = 0.3
)

// waits is the time that a thread waits at a node. It may have waited for others
// that were slowed down, by probes that are none of its own cost: how much of it
// is not known.
func waits(n *node, v *amounts) float64 {
	const exec, enter, barrier = 0, 2, 6 // times, in amounts
	switch n.key.Construct {
	case event.Barrier, event.TaskWait:
		return v[exec]
	}
	return v[enter] + v[barrier]
}

// rate is a row's at a node in a period, if there is one.
func (p *period) rate(n *node, row int) (r rate) {
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
	squares := getRow(p.to.seen.spreads, n, row).squares - getRow(p.from.seen.spreads, n, row).squares
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

// spreadError is the standard error of the mean number of executions of a
// construct in those of the region around, as a share of it.
func spreadError(regions, executions, squares float64) float64 {
	if regions <= 1 || executions <= 0 {
		return 0
	}
	variance := (squares - executions*executions/regions) / (regions - 1)
	return math.Sqrt(max(0, variance)/regions) / (executions / regions)
}

// vague tells whether a rate says nothing: its error is as large as itself.
func (r *rate) vague() bool { return r.known && r.doubt[1] >= 1 }

// in is what a rate lets expect in a gap: no more time than there was.
func (r *rate) in(gap stay) amounts {
	v := r.v
	if r.perExecution {
		v.scale(gap.executions)
		v.fit(gap.wall)
		return v
	}
	v.scale(gap.own)
	if v[0] > gap.wall { // so many cannot have been executed
		v.scale(gap.wall / v[0])
	}
	return v
}

func (v *amounts) scale(by float64) {
	for i := range v {
		v[i] *= by
	}
}

// fit makes the times so short that executions take no more than a time.
func (v *amounts) fit(time float64) {
	if v[0] <= time {
		return
	}
	by := max(0, time) / v[0]
	for i := 0; i < len(v); i += 2 {
		v[i] *= by
	}
}

// guess is what is extrapolated of a row.
type guess struct {
	v        amounts
	variance [2]float64 // of the executions' time and count
	doubt    [2]float64 // errors that have one cause
	most     float64    // the time that there was for it, ns; 0: enough
	blind    bool       // of some of the gaps nothing can be said
}

// add adds a gap. If the rate changed, nobody knows when: the standard error is
// such that it holds for rates that vary from period to period, and is on the
// safe side for one that changed once. A rate per time in one period alone may
// be off by half, one per execution of the region around by a quarter.
func (g *guess) add(gap stay, before, after rate) {
	if gap.wall <= 0 && gap.executions <= 0 {
		return // the thread was not where it could have executed the node
	}
	if before.blind || after.blind {
		g.blind = true
		return
	}
	switch { // what says nothing is not asked where another can tell
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

// alone is by what share a rate may be off if it is the only one around a gap.
func (r *rate) alone() float64 {
	if r.perExecution {
		return 0.25
	}
	return 0.5
}

// sigma are the standard errors of the executions' time and count.
func (g *guess) sigma() (time, count float64) {
	time = math.Sqrt(g.variance[0] + g.doubt[0]*g.doubt[0])
	if g.most != 0 {
		time = min(time, g.most)
	}
	return time, math.Sqrt(g.variance[1] + g.doubt[1]*g.doubt[1])
}

// fit makes the guesses of what was executed straight in a region no longer, in
// all, than a time.
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
