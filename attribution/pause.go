package attribution

import (
	"cmp"
	"slices"

	"ompp-attach/attribution/ledger"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// Switching measurement off and on. The time while it is off belongs to no region, and constructs
// entered meanwhile are not counted.

func (e *Engine) pauseAt(at uint64) {
	e.offSince = 0 // the events that are settled now were before the switch
	e.settleAll(at)
	e.offSince = at
	for _, t := range e.threads.byID {
		t.stack, t.suspended = t.stack[:0], 0
		t.queue.Drop(&e.chunks)
		t.counters.Reset()
		t.waited, t.waitedInCall, t.waitUnsure = 0, 0, true
	}
	e.now = at
	e.teamsByKey, e.joined, e.parked, e.foreign = map[teamKey]*teamList{}, nil, nil, nil
	clear(e.lists[:])
	e.tasksByKey, e.leagues = map[taskKey]*task{}, nil
}

func (e *Engine) resumeAt(tids []int, at uint64) {
	e.countOff(at)
	e.presentSince(tids, at)
	for _, t := range e.threads.byID {
		if !t.initial {
			e.forget(t)
			continue
		}
		e.enroll(t)
		t.row = t.home
		for i := range t.stack {
			t.stack[i].row = t.row
		}
	}
}

func (e *Engine) countOff(at uint64) {
	e.off.T += ledger.Span(e.offSince, at)
	e.off.C++
	e.offSince, e.resumed = 0, at
}

// switched applies the program's own markers. If the thread that switched measurement off switches
// it on while in no team, its open regions stay open, without the time between. Otherwise all is as
// after Pause and Resume.
func (e *Engine) switched(t *thread, ev *event.Event) {
	switch {
	case ev.Edge == event.Off && e.offSince == 0:
		e.offSince, e.offBy = ev.Time, t
	case ev.Edge == event.On && e.offSince != 0 && e.offBy == t && t.level() < 0:
		gap := ledger.Span(e.offSince, ev.Time)
		for i := range t.stack {
			t.stack[i].LeaveOut(gap)
		}
		e.countOff(ev.Time)
		t.waited = 0
	case ev.Edge == event.On && e.offSince != 0:
		e.goOnBy, e.goOnAt = t, ev.Time
	}
}

// goOn does the work of Pause and Resume for a marker of the program that was reached while teams
// were at work. Queued events of parked threads that are later than the marker are fed afterwards.
func (e *Engine) goOn(t *thread, at uint64) {
	var later []event.Event
	for _, p := range e.parked {
		later = append(later, p.queue.Cut(&e.chunks, at)...)
	}
	e.parked = slices.DeleteFunc(e.parked, func(p *thread) bool { return !p.parked() })
	for i, p := range e.parked {
		p.place = i
	}
	slices.SortStableFunc(later, func(a, b event.Event) int { return cmp.Compare(a.Time, b.Time) })

	var tids []int
	for tid := range e.threads.byID {
		tids = append(tids, int(tid))
	}
	t.last = min(t.last, e.offSince) // the marker itself says nothing about open regions
	now := e.now
	e.pauseAt(e.offSince)
	e.resumeAt(tids, at)
	e.now = now // earlier events of other threads may still come
	for i := range later {
		e.feed(&later[i])
	}
}

// hasToWait tells whether an event is a marker for goOn in the queue that is being replayed. goOn
// settles all threads, so it has to wait until no replay is under way.
func (e *Engine) hasToWait(t *thread, ev *event.Event) bool {
	return t.replaying && isMarker(ev) && e.offSince != 0 && !(e.offBy == t && t.level() < 0)
}

func isMarker(ev *event.Event) bool {
	return ev.Construct == event.UserRegion && ev.Edge == event.On
}

// goOnParked applies the earliest marker that parked threads have come to.
func (e *Engine) goOnParked() bool {
	if e.offSince == 0 {
		return false
	}
	var first *thread
	for _, t := range e.parked {
		if isMarker(t.queue.Front()) && (first == nil || t.queue.Front().Time < first.queue.Front().Time) {
			first = t
		}
	}
	if first == nil {
		return false
	}
	at := first.queue.Front().Time
	first.queue.Pop(&e.chunks)
	e.goOn(first, at)
	return true
}

// Off returns how long measurement was switched off (ns), and how often.
func (e *Engine) Off() profile.Span { return e.off }
