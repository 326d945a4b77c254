package attribution

import (
	"cmp"

	"ompp-attach/attribution/estimate"
	"ompp-attach/attribution/sharing"
	"ompp-attach/attribution/stack"
	"ompp-attach/attribution/waits"
	"ompp-attach/event"
)

func (e *engine) presentSince(tids []int, at uint64) {
	e.Began = at
	for _, t := range tids {
		e.Older[uint32(t)] = true
	}
}

func (e *engine) feed(ev *event.Event) {
	slot := &e.recent[ev.TID%uint32(len(e.recent))]
	t := *slot
	if t == nil || t.Tid != ev.TID {
		t = e.threads.byID[ev.TID]
		if t == nil {
			t = e.newThread(ev.TID)
			t.Born, t.BornOff, t.LastOff = ev.Time, e.OffTime.T, e.OffTime.T
			e.threads.byID[ev.TID] = t
			if e.Started == 0 {
				e.Started = ev.Time
			}
			if e.OffCoreTold {
				t.OffCore = &waits.OffCoreTimes{}
			}
			t.Strip = e.Strip.Thread(t.Tid, cmp.Or(e.From, ev.Time))
			e.Enroll(t)
		}
		*slot = t
	}
	if t.Parked() {
		e.queue(t, ev)
		return
	}
	if !e.try(t, ev) {
		e.park(t, ev)
	}
}

// try applies an event, also if what the event waits for comes meanwhile.
func (e *engine) try(t *stack.Thread, ev *event.Event) bool {
	for {
		t.Again = false
		if e.step(t, ev) {
			return true
		}
		if !t.Again {
			return false
		}
	}
}

// step applies an event to its thread's stack. It returns false if the event has to wait for
// earlier events of other threads.
func (e *engine) step(t *stack.Thread, ev *event.Event) bool {
	if t.Ends.Learns() && ev.Edge.IsHit() {
		t.Ends.Conclude(stack.Start(ev), t.Waited > 0, e.Ledger.Return())
	}
	applied := false
	if e.Switching {
		applied = e.stepSwitching(t, ev)
	} else {
		applied = e.apply(t, ev)
	}
	if len(e.Woken) > 0 || len(e.Ready) > 0 || e.goOnBy != nil {
		e.followUp()
	}
	return applied
}

// followUp does what an event has made possible for other threads.
func (e *engine) followUp() {
	for len(e.Woken) > 0 {
		n := len(e.Woken) - 1
		k := e.Woken[n]
		e.Woken = e.Woken[:n]
		e.unpark(k)
	}
	for len(e.Ready) > 0 {
		n := len(e.Ready) - 1
		t := e.Ready[n]
		e.Ready = e.Ready[:n]
		if t.Parked() && !t.Replaying {
			e.replay(t)
		} else {
			t.Again = true
		}
	}
	if t := e.goOnBy; t != nil {
		e.goOnBy = nil
		e.goOn(t, e.goOnAt)
	}
}

// apply applies an event to its thread. It returns false if the event has to wait for earlier
// events of other threads.
func (e *engine) apply(t *stack.Thread, ev *event.Event) bool {
	if t.Edge.Pending() && !e.passEdge(t, ev) || ev.Edge == event.Waited && t.AwaitsEnds(ev) && !e.certain(t, ev) {
		return false
	}
	if !ev.Edge.IsHit() {
		e.applyOther(t, ev)
		return true
	}
	if t.OffCore != nil {
		t.OffCore.Seen(ev.Time)
	}
	if ev.Lost > 0 {
		e.noteLost(t, ev)
	}
	t.LastOff = e.OffTime.T
	readTo(t, ev)
	if len(e.foreign) > 0 {
		e.endForeigns(t, ev.Time)
	}
	real := ev.Time
	if t.Suspended != 0 && ev.Edge != event.Begin && !ev.Construct.IsParallel() {
		ev = onTaskClock(t, ev)
	}
	e.popEnded(t, ev)
	if t.Interval != nil && t.Interval.Noting() && ev.Fold == nil {
		t.NoteInterval(real)
	}
	if t.Idle() && !(ev.Construct == event.TaskExec && ev.Edge == event.Begin) && !t.InFinalBarrier(ev) && !t.InUnobservedTask(ev) && !t.InLostTask(ev) {
		t.Stack = t.Stack[:0]
	}
	if ev.Fold == nil || ev.Fold.Executions > 0 {
		e.Count(t, ev)
	}
	if e.hasToWait(t, ev) {
		return false
	}
	// A begin may have to wait for another thread, and is taxed when it is applied.
	if ev.Edge != event.Begin {
		e.Tax(t, ev)
	}
	e.EndUntold(t, ev)
	switch c := ev.Construct; {
	case c == event.UserRegion:
	case c == event.MPI:
		e.user.LeaveLeft(t, ev)
	case c.IsTasking():
		e.tasksSeen = true
		e.user.LeaveLeft(t, ev)
	default:
		e.user.LeaveLeft(t, ev)
		e.endInline(t, ev)
		if ev.Flags&event.Inline != 0 {
			e.inline(t, ev)
			return true
		}
	}
	if !handlers.dispatch(e, t, ev) {
		return false
	}
	if ev.Flags&event.Sparse != 0 {
		e.expect(t, ev, real)
	}
	return true
}

// popEnded closes the innermost open construct if an event shows that its execution has ended.
func (e *engine) popEnded(t *stack.Thread, ev *event.Event) {
	if r := t.Top(); r != nil && r.Phase == stack.Done && !e.Continues(r, ev) {
		e.Pop(t, r.Mark)
	} else if r != nil && r.IsOpenSingle() && sharing.EndsSingle(ev) {
		e.PopSingle(t)
	}
}

// applyOther applies an event that is no hit of a probe.
func (e *engine) applyOther(t *stack.Thread, ev *event.Event) {
	switch ev.Edge {
	case event.Sampled:
		if e.OffSince == 0 || ev.Time < e.OffSince {
			e.Sample(t, ev)
		}
	case event.NoCore:
		e.HadNoCore(t, ev)
	case event.OffCore:
		e.WasOffCore(t, ev, e.Pid)
	}
}

// readTo notes up to when a thread has been read: to an event, or to the end of what
// a fold adds up.
func readTo(t *stack.Thread, ev *event.Event) {
	if ev.Fold != nil {
		t.Last = max(t.Last, ev.Fold.Last)
		return
	}
	t.Last = ev.Time
}

// onTaskClock returns an event with its time by the clock of the task that its thread executes.
func onTaskClock(t *stack.Thread, ev *event.Event) *event.Event {
	v := *ev
	v.Time -= t.Suspended
	return &v
}

// noteLost notes that events of a thread were lost between its last event and this one.
func (e *engine) noteLost(t *stack.Thread, ev *event.Event) {
	e.MPI.Log.Lost(t.Last)
	t.Lossy = true
	t.Tear()
	e.Lose(t, ev.Lost)
}

// observe is Engine.Observe.
func (e *engine) observe(w estimate.Switch) {
	w.At = e.clock.at(w.At)
	c := &estimate.Moment{Switch: w, Unobserved: e.unobserved}
	if n := len(e.pending); n > 0 {
		c.Unobserved = e.pending[n-1].Unobserved
	}
	switch w.Change {
	case estimate.Unobserved:
		c.Unobserved |= w.Of
		e.Gone |= w.Of
	case estimate.Observed:
		c.Unobserved &^= w.Of
		if w.Of.Has(event.TaskExec) {
			e.tasksBack = w.At
		}
	}
	e.noteUnobserved(&w)
	e.pending = append(e.pending, c)
	e.Switching = true
}

// stepSwitching is step for a measurement in which the observed constructs change.
func (e *engine) stepSwitching(t *stack.Thread, ev *event.Event) bool {
	if t.Edge.Pending() && !e.passEdge(t, ev) {
		return false
	}
	e.catchUp(t, ev.Time)
	if ev.Edge.IsHit() && t.Unobserved.Has(ev.Element()) {
		if t.Last = ev.Time; ev.Lost > 0 {
			t.Lossy = true
			e.Lose(t, ev.Lost)
		}
		e.Tax(t, ev) // its probe was hit all the same
		return true
	}
	unmatched := e.Unmatched
	if !e.apply(t, ev) {
		return false
	}
	if e.Gone.Has(ev.Element()) { // its beginning may have been ignored
		e.Unmatched = unmatched
	}
	if ev.Edge == event.Join && t.Unobserved.Has(event.TaskExec) {
		e.tasksByKey = map[taskKey]*task{}
		e.leaveTasks(t, ev.Time)
	}
	return true
}

// stopped is Engine.Stopped.
func (e *engine) stopped(s Stop) {
	// A thread on another core runs on for a moment after the first one was stopped.
	s.From = max(s.From, e.clock.last)
	if s.From >= s.To {
		return
	}
	e.now = min(e.now, e.clock.at(s.From))
	e.MPI.Sources.Back(e.now)
	e.clock.stops = append(e.clock.stops, s)
	e.clock.sum += s.To - s.From
}

// feedAt is Engine.Feed: it converts an event to the program's clock.
func (e *engine) feedAt(ev *event.Event) {
	e.events += hits(ev)
	e.clock.last = max(e.clock.last, ev.Time)
	if e.clock.sum != 0 {
		ev = e.clock.convert(ev)
	}
	e.feed(ev)
}

// hits returns how many hits of probes an event stands for.
func hits(ev *event.Event) uint64 {
	switch {
	case !ev.Edge.IsHit():
		return 0
	case ev.Fold != nil:
		return ev.Fold.Hits
	}
	return 1 + ev.LeftOut.Hits()
}
