package estimate

import (
	"math"

	"ompp-attach/attribution/tree"
	"ompp-attach/event"
)

// rate is how fast the figures of a seat at a node grow. They grow with the executions of the
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

// sure tells whether a rate is good enough to conclude from no execution in its period that there
// was none beside the period.
func (r *rate) sure() bool { return r.known && !r.vague() }

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

// alone is the error, as a share, of a rate that is the only one beside a gap.
func (r *rate) alone() float64 {
	if r.perExecution {
		return 0.25
	}
	return 0.5
}
