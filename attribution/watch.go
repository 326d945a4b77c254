package attribution

import (
	"cmp"
	"maps"

	"ompp-attach/attribution/estimate"
	"ompp-attach/attribution/ledger"
	"ompp-attach/attribution/tree"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// To save cost, constructs may be unobserved for a while: the probes of all constructs of one class
// are removed together. The figures of that time are extrapolated from the periods in which the
// constructs are observed (extrapolate.go).

// watching applies the changes of what is observed.
type watching struct {
	*stacks
	*tasking
	*threads
	*progress
	pending []*estimate.Moment // changes that some threads have not come to
	done    int                // number of changes that all threads have come to
	away    event.Constructs   // constructs that are unobserved for all threads
	gaps    *estimate.Gaps
}

// Budgeted says that changes of what is observed may come. Call it before the first event, so that
// the pace of the threads is followed from the beginning.
func (e *Engine) Budgeted() { e.budgeted = true }

// Watch changes what is observed. Feed the changes in order, and each one before any later event.
// Events of unobserved constructs are ignored.
func (e *Engine) Watch(w estimate.Watch) {
	w.At = e.clock.at(w.At)
	c := &estimate.Moment{Watch: w, Unobserved: e.away}
	if n := len(e.pending); n > 0 {
		c.Unobserved = e.pending[n-1].Unobserved
	}
	switch w.Change {
	case estimate.Away:
		c.Unobserved |= w.Of
		e.gone |= w.Of
	case estimate.Back:
		c.Unobserved &^= w.Of
		if w.Of.Has(event.TaskExec) {
			e.tasksBack = w.At
		}
	}
	e.pending = append(e.pending, c)
	e.budgeted = true
}

// stepWatched is step for a measurement in which the observed constructs change.
func (e *Engine) stepWatched(t *thread, ev *event.Event) bool {
	e.catchUp(t, ev.Time)
	if ev.Edge != event.Sampled && ev.Edge != event.CoreWait && t.away.Has(ev.Construct) {
		if t.last = ev.Time; ev.Lost > 0 {
			t.lossy = true
			e.lose(t, ev.Lost)
		}
		e.tax(t, ev) // its probe was hit all the same
		return true
	}
	unmatched := e.unmatched
	if !e.apply(t, ev) {
		return false
	}
	if e.gone.Has(ev.Construct) { // its beginning may have been ignored
		e.unmatched = unmatched
	}
	if ev.Edge == event.Join && t.away.Has(event.TaskExec) {
		e.tasksByKey = map[taskKey]*task{}
		e.leaveTasks(t, ev.Time)
	}
	return true
}

// catchUp applies the changes before a time to a thread. All of the thread's events before that
// time have been applied.
func (wa *watching) catchUp(t *thread, to uint64) {
	if t.watched < wa.done {
		t.watched, t.away = wa.done, wa.away
	}
	for t.watched-wa.done < len(wa.pending) {
		c := wa.pending[t.watched-wa.done]
		if c.At >= to {
			return
		}
		t.watched++
		if c.Change == estimate.Away {
			wa.closeAway(t, c)
		}
		t.away = c.Unobserved
		wa.gaps.Read(c, t.row, t.tid, func(n *tree.Node) tree.Presence { return presentUntil(n, t.row, t, c.At) })
	}
}

// closeAway closes the open regions of a thread whose constructs become unobserved.
func (wa *watching) closeAway(t *thread, c *estimate.Moment) {
	if c.Of.Has(event.TaskExec) {
		wa.leaveTasks(t, c.At)
	}
	for i := len(t.stack) - 1; i >= 0 && i < len(t.stack); i-- {
		switch f := &t.stack[i]; {
		case f.team != nil:
			if f.node.Key.Construct == event.ParallelSections && c.Of.Has(event.Sections) {
				f.node.Flags |= tree.Unobserved
				if f.section != 0 {
					f.Parts[profile.Body].T += ledger.Span(f.section, c.At)
					f.section = 0
				}
			}
		case c.Of.Has(f.node.Key.Construct) && !tree.IsExecution(f.node.Key.Construct):
			wa.closeAt(t, i, c.At)
		}
	}
}

// leaveTasks ends the tasks that a thread executes. It keeps the tasks below a parallel region that
// they have started: the ends of these are still seen. Constructs that are open in an ended task
// are counted, with their time until then.
func (wa *watching) leaveTasks(t *thread, at uint64) {
	first := -1
	for i := len(t.stack) - 1; i >= 0 && t.stack[i].team == nil; i-- {
		if tree.IsExecution(t.stack[i].node.Key.Construct) {
			first = i
		}
	}
	for first >= 0 && len(t.stack) > first {
		t.setClock()
		f := t.top()
		if !tree.IsExecution(f.node.Key.Construct) {
			wa.gone |= event.SetOf(f.node.Key.Construct)
			wa.closeAt(t, len(t.stack)-1, at)
			continue
		}
		f.node.Flags |= tree.Unobserved
		f.Uncounted = true
		wa.leaveTask(t, at)
	}
	t.setClock()
}

// endsUnobserved tells whether a wait is the end of a worksharing construct whose start was not
// observed.
func (sh *sharing) endsUnobserved(t *thread, ev *event.Event) bool {
	if !sh.gone.Has(ev.Construct) {
		return false
	}
	switch ev.Construct {
	case event.Loop, event.Sections:
		p := t.level()
		return p < 0 || !combined(t.stack[p].node.Key.Construct)
	case event.Barrier:
		return ev.Loc != 0 && sh.tree.Answers.Barrier(ev.Loc) == BarrierImplicit
	}
	return false
}

// inUnobservedTask tells whether a thread in its region's final barrier may report an event of an
// unobserved task.
func (t *thread) inUnobservedTask(ev *event.Event) bool {
	return t.away.Has(event.TaskExec) && !(ev.Construct.IsParallel() && ev.Edge == event.Begin)
}

// closeAt closes the i-th region of a thread's stack at a time. The region keeps its figures until
// then.
func (st *stacks) closeAt(t *thread, i int, at uint64) {
	at -= t.suspendedAt(i)
	// Its clock has stood still since then.
	if i+1 < len(t.stack) && tree.IsExecution(t.stack[i+1].node.Key.Construct) {
		at = t.stack[i+1].Start - t.suspendedAt(i) // it has stood still since then
	}
	f := &t.stack[i]
	f.node.Flags |= tree.Unobserved
	if f.phase == done {
		st.remove(t, i, f.Mark)
		return
	}
	f.Uncounted = true
	f.stop(at)
	st.remove(t, i, at)
}

// stop ends a frame's current phase early, at a given time.
func (f *frame) stop(at uint64) {
	d := ledger.Span(f.Mark, at)
	switch f.phase {
	case starting, entering:
		f.Parts[profile.Enter].T += d
	case inBody:
		f.Parts[profile.Body].T += d
		f.Parts[profile.Body].C = max(f.Parts[profile.Body].C, 1)
	case inBarrier:
		f.Parts[profile.Barrier].T += d
	case leaving:
		f.Parts[profile.Exit].T += d
	}
}

// suspendedAt returns how far the clock of the i-th region lags behind (ns): the suspended time of
// the task that contains the region.
func (t *thread) suspendedAt(i int) uint64 {
	for i--; i >= 0; i-- {
		switch f := &t.stack[i]; {
		case tree.IsExecution(f.node.Key.Construct):
			return uint64(f.Away)
		case isContext(f.node.Key.Construct):
			return 0
		}
	}
	return 0
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
	return estimate.Measure{Rows: len(wa.rows.list), Began: cmp.Or(wa.began, wa.started), Off: wa.off.T}
}

// settleWatch adds the estimates to the figures when measurement ends. Everything that was open has
// been charged.
func (wa *watching) settleWatch(end uint64) {
	if !wa.budgeted {
		return
	}
	for len(wa.pending) > 0 {
		wa.gaps.Account(wa.pending[0], wa.measure())
		wa.pending = wa.pending[1:]
	}
	wa.gaps.Finish(end, wa.measure())
}
