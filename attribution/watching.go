package attribution

import (
	"cmp"
	"maps"

	"ompp-attach/attribution/estimate"
	"ompp-attach/attribution/ledger"
	"ompp-attach/attribution/stack"
	"ompp-attach/attribution/tree"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// To save cost, constructs may be unobserved for a while: the probes of all constructs of one class
// are removed together. The figures of that time are extrapolated from the periods in which the
// constructs are observed (extrapolate.go).

// watching applies the changes of what is observed.
type watching struct {
	*stack.Stacks
	*tasking
	*threads
	*progress
	pending []*estimate.Moment // changes that some threads have not come to
	done    int                // number of changes that all threads have come to
	away    event.Constructs   // constructs that are unobserved for all threads
	gaps    *estimate.Gaps
}

// catchUp applies the changes before a time to a thread. All of the thread's events before that
// time have been applied.
func (wa *watching) catchUp(t *stack.Thread, to uint64) {
	if t.Watched < wa.done {
		t.Watched, t.Away = wa.done, wa.away
	}
	for t.Watched-wa.done < len(wa.pending) {
		c := wa.pending[t.Watched-wa.done]
		if c.At >= to {
			return
		}
		t.Watched++
		if c.Change == estimate.Away {
			wa.closeAway(t, c)
		}
		t.Away = c.Unobserved
		wa.gaps.Read(c, t.Row, t.Tid, func(n *tree.Node) tree.Presence { return stack.PresentUntil(n, t.Row, t, c.At) })
	}
}

// closeAway closes the open regions of a thread whose constructs become unobserved.
func (wa *watching) closeAway(t *stack.Thread, c *estimate.Moment) {
	if c.Of.Has(event.TaskExec) {
		wa.leaveTasks(t, c.At)
	}
	for i := len(t.Stack) - 1; i >= 0 && i < len(t.Stack); i-- {
		switch f := &t.Stack[i]; {
		case f.Team != nil:
			if f.Node.Key.Construct == event.ParallelSections && c.Of.Has(event.Sections) {
				f.Node.Flags |= tree.Unobserved
				if f.Section != 0 {
					f.Parts[profile.Body].T += ledger.Span(f.Section, c.At)
					f.Section = 0
				}
			}
		case c.Of.Has(f.Node.Key.Construct) && !tree.IsExecution(f.Node.Key.Construct):
			wa.CloseAt(t, i, c.At)
		}
	}
}

// leaveTasks ends the tasks that a thread executes. It keeps the tasks below a parallel region that
// they have started: the ends of these are still seen. Constructs that are open in an ended task
// are counted, with their time until then.
func (wa *watching) leaveTasks(t *stack.Thread, at uint64) {
	first := -1
	for i := len(t.Stack) - 1; i >= 0 && t.Stack[i].Team == nil; i-- {
		if tree.IsExecution(t.Stack[i].Node.Key.Construct) {
			first = i
		}
	}
	for first >= 0 && len(t.Stack) > first {
		t.SetClock()
		f := t.Top()
		if !tree.IsExecution(f.Node.Key.Construct) {
			wa.Gone |= event.SetOf(f.Node.Key.Construct)
			wa.CloseAt(t, len(t.Stack)-1, at)
			continue
		}
		f.Node.Flags |= tree.Unobserved
		f.Uncounted = true
		wa.LeaveTask(t, at)
	}
	t.SetClock()
}

// advanceWatch applies the changes that no event can precede any more. Threads that wait for others
// may have older events queued; a change waits for those, for up to a second.
func (wa *watching) advanceWatch() {
	for len(wa.pending) > 0 && wa.allRead(wa.pending[0].At+1) {
		c := wa.pending[0]
		for _, t := range wa.threads.byID {
			wa.catchUp(t, c.At+1)
		}
		wa.gaps.Account(c, wa.measure())
		if c.Change == estimate.Back && c.Of.Has(event.TaskExec) { // older ones were executed meanwhile
			maps.DeleteFunc(wa.tasksByKey, func(_ taskKey, x *task) bool { return x.created < c.At })
		}
		wa.pending, wa.away = wa.pending[1:], c.Unobserved
		wa.done++
	}
}

// measure returns what the estimates have to know of the measurement so far.
func (wa *watching) measure() estimate.Measure {
	return estimate.Measure{Rows: len(wa.Rows.List), Began: cmp.Or(wa.Began, wa.Started), Off: wa.OffTime.T}
}

// addEstimates adds the estimates to the figures when measurement ends. Everything that was open
// has been charged.
func (wa *watching) addEstimates(end uint64) {
	if !wa.Watched {
		return
	}
	for len(wa.pending) > 0 {
		wa.gaps.Account(wa.pending[0], wa.measure())
		wa.pending = wa.pending[1:]
	}
	wa.gaps.Finish(end, wa.measure())
}
