package attribution

import (
	"cmp"
	"slices"

	"ompp-attach/attribution/ledger"
	"ompp-attach/attribution/stack"
	"ompp-attach/event"
	"ompp-attach/timeline"
)

// Switching measurement off and on. The time while it is off belongs to no region, and constructs
// entered meanwhile are not counted.

func (e *engine) pauseAt(at uint64) {
	e.OffSince = 0 // the events that are applied now were before the switch
	e.closeAll(at)
	e.OffSince = at
	for _, t := range e.threads.byID {
		t.Stack, t.Suspended, t.Interval = t.Stack[:0], 0, nil
		t.Edge = stack.Edge{}
		t.Ends.Forget()
		t.Queue.Drop(&e.chunks)
		t.Counters.Reset()
		t.Waited, t.WaitedInCall, t.WaitUnsure = 0, 0, true
	}
	e.now = at
	e.TeamsByKey, e.Joined, e.parked, e.foreign = map[stack.TeamKey]*stack.TeamList{}, nil, nil, nil
	clear(e.Lists[:])
	e.tasksByKey, e.Leagues = map[taskKey]*task{}, nil
}

func (e *engine) resumeAt(tids []int, at uint64) {
	e.countOff(at)
	e.presentSince(tids, at)
	for _, t := range e.threads.byID {
		if !t.Initial {
			e.forget(t)
			continue
		}
		e.Enroll(t)
		t.Seat = t.Home
		for i := range t.Stack {
			t.Stack[i].Seat = t.Seat
		}
	}
}

func (e *engine) countOff(at uint64) {
	e.Strip.Off(e.OffSince, at)
	e.Spans.Gap(e.OffSince, at, timeline.Off, 0)
	e.OffTime.T += ledger.Between(e.OffSince, at)
	e.OffTime.C++
	e.OffSince, e.MPI.Resumed = 0, at
}

// switched applies the program's own markers. If the thread that switched measurement off switches
// it on while in no team, its open regions stay open, without the time between. Otherwise all is as
// after Pause and Resume.
func (e *engine) switched(t *stack.Thread, ev *event.Event) {
	switch {
	case ev.Edge == event.Off && e.OffSince == 0:
		e.OffSince, e.OffBy = ev.Time, t
	case ev.Edge == event.On && e.OffSince != 0 && e.OffBy == t && t.Level() < 0:
		gap := ledger.Between(e.OffSince, ev.Time)
		for i := range t.Stack {
			t.Stack[i].LeaveOut(gap)
		}
		e.countOff(ev.Time)
		for _, o := range e.threads.byID { // arrivals of other threads may not have been reported
			o.Tear()
		}
		t.LastOff, t.Waited = e.OffTime.T, 0
	case ev.Edge == event.On && e.OffSince != 0:
		e.goOnBy, e.goOnAt = t, ev.Time
	}
}

// goOn does the work of Pause and Resume for a marker of the program that was reached while teams
// were at work. Queued events of parked threads that are later than the marker are fed afterwards.
func (e *engine) goOn(t *stack.Thread, at uint64) {
	var later []event.Event
	for _, p := range e.parked {
		later = append(later, p.Queue.Cut(&e.chunks, at)...)
	}
	e.parked = slices.DeleteFunc(e.parked, func(p *stack.Thread) bool { return !p.Parked() })
	for i, p := range e.parked {
		p.Place = i
	}
	slices.SortStableFunc(later, func(a, b event.Event) int { return cmp.Compare(a.Time, b.Time) })

	var tids []int
	for tid := range e.threads.byID {
		tids = append(tids, int(tid))
	}
	t.Last = min(t.Last, e.OffSince) // the marker itself says nothing about open regions
	now := e.now
	e.pauseAt(e.OffSince)
	e.resumeAt(tids, at)
	e.now = now // earlier events of other threads may still come
	for i := range later {
		e.feed(&later[i])
	}
}

// hasToWait tells whether an event is a marker for goOn in the queue that is being replayed. goOn
// pauses and resumes all threads, so it has to wait until no replay is under way.
func (e *engine) hasToWait(t *stack.Thread, ev *event.Event) bool {
	return t.Replaying && isMarker(ev) && e.OffSince != 0 && !(e.OffBy == t && t.Level() < 0)
}

func isMarker(ev *event.Event) bool {
	return ev.Construct == event.UserRegion && ev.Edge == event.On
}

// goOnParked applies the earliest marker that parked threads have come to.
func (e *engine) goOnParked() bool {
	if e.OffSince == 0 {
		return false
	}
	var first *stack.Thread
	for _, t := range e.parked {
		if isMarker(t.Queue.Front()) && (first == nil || t.Queue.Front().Time < first.Queue.Front().Time) {
			first = t
		}
	}
	if first == nil {
		return false
	}
	at := first.Queue.Front().Time
	first.Queue.Pop(&e.chunks)
	e.goOn(first, at)
	return true
}
