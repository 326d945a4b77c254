package estimate

import (
	"math"

	"ompp-attach/profile"
)

// SpareTime returns how much of a region's own time can have been that of unobserved executions in
// it (ns). The cost of probes is left out, because there was none while the constructs were
// unobserved. If the region has a body, the body's own time is the bound.
func SpareTime(s *profile.ThreadStats) int64 {
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

// estimate is the estimate for all gaps of one seat.
type estimate struct {
	v        amounts
	variance [2]float64 // of the executions' time and count
	doubt    [2]float64 // errors with one cause in all gaps, which add up linearly
	most     float64    // time that the executions can have taken at most, ns; 0: no bound
	blind    bool       // some gaps cannot be estimated
	// Nothing shows that executions were as rare in some gap as they are estimated.
	unsure bool
}

// add adds a gap to the estimate, from the rates before and after it. If the rate changed in the
// gap, nobody knows when. The standard error holds for rates that vary from period to period. It is
// too large for a rate that changed once. If only one of the two rates is known, a rate per time
// may be off by half. A rate per execution of the region around may be off by a quarter.
func (g *estimate) add(gap stay, before, after rate) {
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
	g.unsure = g.unsure || !before.sure() || !after.sure()
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

// sigma returns the standard errors of the executions' time (ns) and count.
func (g *estimate) sigma() (time, count float64) {
	time = math.Sqrt(g.variance[0] + g.doubt[0]*g.doubt[0])
	if g.most != 0 {
		time = min(time, g.most)
	}
	return time, math.Sqrt(g.variance[1] + g.doubt[1]*g.doubt[1])
}

// fit shortens the estimates of the constructs directly in a region, so that together they take at
// most the given time (ns).
func fit(estimates []*estimate, time int64) {
	sum := 0.0
	for _, g := range estimates {
		sum += g.v[0]
	}
	if sum <= float64(time) {
		return
	}
	for _, g := range estimates {
		g.v.fit(g.v[0] * float64(time) / sum)
		g.most = float64(time)
	}
}
