package estimate

import (
	"math"

	"ompp-attach/attribution/tree"
	"ompp-attach/event"
)

// rate is how fast the figures of a seat at a node grow. If the parallel region around the node was
// executed often enough, the rate is per execution of that region. The number of its executions is
// known in the gaps, too. Otherwise the rate is per time of the program itself, in ns.
type rate struct {
	v            amounts
	perExecution bool
	// Standard error of this period's figures by themselves, as a share of them.
	noise float64
	// Errors of the executions' time and of their count, as shares, that the measurement may
	// have caused: its effects on them are not known.
	doubt [2]float64
	known bool // false: the thread was never where it could have executed the node
	// The thread was there, but its figures say nothing about its pace without probes.
	blind bool
}

const (
	// enoughExecutions of the region around the node tell how often one of them executes the
	// construct. One execution may have been cut off at either end of the period; among so many
	// that matters little. If there are fewer and longer executions, a rate per time is better,
	// if the time tells anything.
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
// probes slowed down. The thread's own cost does not contain these probes, so it is not known how
// much of the wait they caused.
func waits(n *tree.Node, v *amounts) float64 {
	const exec, enter, barrier = 0, 2, 6 // times, in amounts
	switch n.Key.Construct {
	case event.Barrier, event.TaskWait:
		return v[exec]
	}
	return v[enter] + v[barrier]
}

// spreadError returns a standard error as a share of the mean. The mean is that of the number of
// executions of a construct in one execution of the region around it. squares is the sum of the
// squares of these numbers.
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
