package sharing

import (
	"ompp-attach/attribution/stack"
	"ompp-attach/attribution/tree"
	"ompp-attach/event"
)

// Arrivals at barriers (package waits), as the runtimes' calls tell them.

// arrive notes that a thread has come to the barrier of an open region.
func (sh *Constructs) arrive(t *stack.Thread, open *stack.OpenRegion, ev *event.Event) {
	if ev.Construct == event.ReductionBarrier { // it depends on the answer
		sh.mayArrive(t)
		return
	}
	sh.Arrive(t, open.Node, fromNode(open), ev.Time)
}

// fromNode returns the region from which a thread comes to the barrier of an open region.
func fromNode(open *stack.OpenRegion) *tree.Node {
	if open.Node.Key.Construct == event.Barrier {
		return open.Node.Parent
	}
	return open.Node
}

// mayArrive notes that a thread makes a call in which it may come to a barrier.
func (sh *Constructs) mayArrive(t *stack.Thread) {
	if t.Interval != nil {
		t.Interval.Pause()
	}
}

// mayHaveArrived notes that there was no barrier in that call.
func (sh *Constructs) mayHaveArrived(t *stack.Thread, n *tree.Node, at uint64) {
	if t.Interval != nil {
		t.Interval.GoOn(n, t.Seat, at)
	}
}

// arriveReduced notes that a thread has come to the barrier of a reduction. There are two ways
// (__kmpc_reduce, __kmpc_end_reduce in kmp_csupport.cpp). The first call is the barrier, and
// threads other than the primary get 0 (tree method). Or each thread combines its result in turn
// and gets 1 or 2, and the second call is the barrier. The primary thread gets 1 both ways. second
// is the time of the second call, or 0.
func (sh *Constructs) arriveReduced(t *stack.Thread, second uint64) {
	open := t.Top()
	switch {
	case open == nil || open.Phase != stack.InBarrier:
	case !t.IsPending():
		if second != 0 {
			sh.ArriveSplit(t, open.Node, fromNode(open), second, second)
		}
	case second != 0:
		sh.ArriveSplit(t, open.Node, fromNode(open), open.Mark, second)
	default:
		sh.Arrive(t, open.Node, fromNode(open), open.Mark)
	}
}
