package attribution

import (
	"cmp"
	"maps"
	"slices"

	"ompp-attach/attribution/estimate"
	"ompp-attach/attribution/ledger"
	"ompp-attach/attribution/stack"
	"ompp-attach/attribution/tree"
	"ompp-attach/event"
	"ompp-attach/profile"
	"ompp-attach/timeline"
)

// To keep a budget, constructs may be unobserved for a while: the probes of all constructs of one
// group are removed together. The figures of that time are extrapolated from the periods in which
// the constructs are observed (package estimate).

// observing applies the changes of what is observed.
type observing struct {
	*stack.Stacks
	*tasking
	*threads
	*progress
	pending    []*estimate.Moment // changes that some threads have not come to
	done       int                // number of changes that all threads have come to
	unobserved event.Constructs   // constructs that are unobserved for all threads
	away       event.Constructs   // constructs that were, at some time
	gaps       *estimate.Gaps
	since      map[event.Constructs]uint64 // by constructs: when their probes were removed
}

// noteUnobserved tells a timeline of the stretches in which constructs were not observed.
func (ob *observing) noteUnobserved(w *estimate.Switch) {
	from, unobserved := ob.since[w.Of]
	switch {
	case w.Change == estimate.Unobserved && !unobserved:
		if ob.since == nil {
			ob.since = map[event.Constructs]uint64{}
		}
		ob.since[w.Of] = w.At
	case w.Change == estimate.Observed && unobserved:
		delete(ob.since, w.Of)
		ob.Spans.Gap(from, w.At, timeline.ByBudget, w.Of)
	}
}

// stayedUnobserved tells a timeline of the constructs that are not observed when measurement ends.
func (ob *observing) stayedUnobserved(end uint64) {
	for _, of := range slices.Sorted(maps.Keys(ob.since)) {
		ob.Spans.Gap(ob.since[of], end, timeline.ByBudget, of)
	}
	ob.since = nil
}

// catchUp applies the changes before a time to a thread. All of the thread's events before that
// time have been applied.
func (ob *observing) catchUp(t *stack.Thread, to uint64) {
	if t.Switched < ob.done {
		t.Switched, t.Unobserved = ob.done, ob.unobserved
		t.Gone |= ob.away // the thread may have run unseen
	}
	for t.Switched-ob.done < len(ob.pending) {
		c := ob.pending[t.Switched-ob.done]
		if c.At >= to {
			return
		}
		t.Switched++
		if c.Of.Has(event.Barrier) {
			ob.LoseWaits(t)
		}
		t.Tear()
		if c.Change == estimate.Unobserved {
			ob.closeUnobserved(t, c)
		}
		t.Unobserved = c.Unobserved
		t.Gone |= c.Unobserved
		ob.gaps.Read(c, t.Seat, t.Tid, func(n *tree.Node) tree.Presence { return stack.PresentUntil(n, t.Seat, t, c.At) })
	}
}

// closeUnobserved closes the open regions of a thread whose constructs become unobserved.
func (ob *observing) closeUnobserved(t *stack.Thread, c *estimate.Moment) {
	if c.Of.Has(event.TaskExec) {
		ob.leaveTasks(t, c.At)
	}
	for i := len(t.Stack) - 1; i >= 0 && i < len(t.Stack); i-- {
		switch r := &t.Stack[i]; {
		case r.Team != nil:
			if r.Node.Key.Construct == event.ParallelSections && c.Of.Has(event.Sections) {
				r.Node.Flags |= tree.Unobserved
				if r.Section != 0 {
					r.Parts[profile.Body].T += ledger.Between(r.Section, c.At)
					r.Section = 0
				}
			}
		case c.Of.Has(r.Node.Key.Element()) && !tree.IsExecution(r.Node.Key.Construct):
			ob.CloseAt(t, i, c.At)
		}
	}
}

// leaveTasks ends the tasks that a thread executes. It keeps the tasks below a parallel region that
// they have started: the ends of these are still seen. Constructs that are open in an ended task
// are counted, with their time until then.
func (ob *observing) leaveTasks(t *stack.Thread, at uint64) {
	first := -1
	for i := len(t.Stack) - 1; i >= 0 && t.Stack[i].Team == nil; i-- {
		if tree.IsExecution(t.Stack[i].Node.Key.Construct) {
			first = i
		}
	}
	for first >= 0 && len(t.Stack) > first {
		t.SetClock()
		r := t.Top()
		if !tree.IsExecution(r.Node.Key.Construct) {
			ob.Gone |= event.SetOf(r.Node.Key.Element())
			ob.CloseAt(t, len(t.Stack)-1, at)
			continue
		}
		r.Node.Flags |= tree.Unobserved
		r.Uncounted = true
		ob.LeaveTask(t, at)
	}
	t.SetClock()
}

// advanceSwitches applies the changes that no event can precede any more. Threads that wait for
// other threads may have older events queued. A change waits for these events, for up to a second.
func (ob *observing) advanceSwitches(pass func(t *stack.Thread, at uint64)) {
	for len(ob.pending) > 0 && ob.allRead(ob.pending[0].At+1) {
		c := ob.pending[0]
		for _, t := range ob.threads.byID {
			pass(t, c.At)
			ob.catchUp(t, c.At+1)
		}
		ob.gaps.Account(c, ob.measure())
		// Older tasks were executed meanwhile.
		if c.Change == estimate.Observed && c.Of.Has(event.TaskExec) {
			maps.DeleteFunc(ob.tasksByKey, func(_ taskKey, x *task) bool { return x.created < c.At })
		}
		ob.pending, ob.unobserved = ob.pending[1:], c.Unobserved
		ob.away |= c.Unobserved
		ob.done++
	}
}

// measure returns what the estimates have to know of the measurement so far.
func (ob *observing) measure() estimate.Measure {
	return estimate.Measure{Seats: len(ob.Seats.List), From: cmp.Or(ob.From, ob.Began, ob.Started), Began: cmp.Or(ob.Began, ob.Started), Off: ob.OffTime.T, Unsure: ob.Unsure}
}

// addEstimates adds the estimates to the figures when measurement ends. Everything that was open
// has been charged.
func (ob *observing) addEstimates(end uint64) {
	if !ob.Switching {
		return
	}
	for len(ob.pending) > 0 {
		ob.gaps.Account(ob.pending[0], ob.measure())
		ob.pending = ob.pending[1:]
	}
	ob.gaps.Finish(end, ob.measure())
}
