package stack

import (
	"math"

	"ompp-attach/attribution/tree"
	"ompp-attach/attribution/waits"
	"ompp-attach/event"
)

// Barriers that all threads of a team come to (package waits).

// Barriers matches the arrivals of threads at barriers.
type Barriers struct{ Waits *waits.Meter }

// beginWaits starts the matching of a team's barriers for a thread that begins the team's body. A
// team of one thread waits for nobody. The teams of a league do not wait for each other.
func (bs *Barriers) beginWaits(t *Thread, open *OpenRegion, m *Team) {
	if len(m.Members) == 1 && m.Size > 1 && m.Node.Key.Construct != event.Teams {
		m.Waits = bs.Waits.NewTeam(m.Size)
	}
	if m.Waits != nil && t.Lossy {
		bs.Waits.Break(m.Waits)
	}
	switch {
	case open.Num >= 0 && t.Interval != nil: // it goes on in the team around
		t.Interval = m.Waits.Begin(t.Interval, nil, t.Num, m.Forked)
	case m.Waits == nil:
		t.Interval = nil
	default:
		t.spare = m.Waits.Begin(nil, t.spare, t.Num, m.Forked)
		t.Interval = t.spare
	}
	open.Interval, t.inTeam = t.Interval, len(t.Stack)-1
	if t.Interval != nil {
		t.Interval.OffCore = t.OffCore
	}
}

// interval returns what the thread does between the barriers of its innermost team, nil if these
// are not matched.
func (t *Thread) interval() *waits.Interval {
	if t.Interval == nil {
		return nil
	}
	i := t.inTeam
	if i >= len(t.Stack) || t.Stack[i].Interval != t.Interval { // a lock below has been unset
		if i = t.Level(); i < 0 || t.Stack[i].Interval != t.Interval {
			return nil
		}
	}
	if open := &t.Stack[i]; t.Interval.Of(open.Team.Waits) {
		return t.Interval
	}
	return nil
}

// Arrive notes that a thread has come to a barrier from a region (ns).
func (bs *Barriers) Arrive(t *Thread, barrier, from *tree.Node, at uint64) {
	if iv := t.interval(); iv != nil {
		bs.Waits.Arrive(iv, &waits.Arrival{Barrier: barrier, From: from, Seat: t.Seat, At: at})
	}
}

// ArriveSplit notes that a thread has come to a barrier at one of two times (ns), which the other
// threads tell.
func (bs *Barriers) ArriveSplit(t *Thread, barrier, from *tree.Node, first, second uint64) {
	if iv := t.interval(); iv != nil {
		bs.Waits.Arrive(iv, &waits.Arrival{Barrier: barrier, From: from, Seat: t.Seat, At: first, Second: second})
	}
}

// ArriveLast notes that a thread has come to the final barrier of its team (ns).
func (bs *Barriers) ArriveLast(open *OpenRegion, seat int, at uint64) {
	if open.Interval != nil && open.Interval.Of(open.Team.Waits) {
		bs.Waits.Arrive(open.Interval, &waits.Arrival{Barrier: open.Node, From: open.Node, Seat: seat, At: at, Final: true})
	}
}

// Leave notes that a thread has left the barrier that it was in (ns); 0: it is not known when.
func (bs *Barriers) Leave(t *Thread, at uint64) {
	if iv := t.interval(); iv != nil {
		bs.Waits.Leave(iv, at)
	}
}

// BreakWaits notes that a thread may pass barriers of its innermost team that are not seen.
func (bs *Barriers) BreakWaits(t *Thread) {
	if iv := t.interval(); iv != nil {
		bs.Waits.Lose(iv)
	}
}

// LoseWaits is BreakWaits for all teams that a thread is in.
func (bs *Barriers) LoseWaits(t *Thread) {
	for i := range t.Stack {
		open := &t.Stack[i]
		if open.Interval != nil && open.Interval.Of(open.Team.Waits) {
			bs.Waits.Lose(open.Interval)
		}
		// It may have created and executed tasks that are not known.
		open.Brood, open.Idle = nil, math.MaxUint64
	}
}

// CutOffWaits ends a thread's waits when measurement ends (ns).
func (bs *Barriers) CutOffWaits(t *Thread, end uint64) {
	for i := range t.Stack {
		if open := &t.Stack[i]; open.Interval != nil && open.Interval.Of(open.Team.Waits) {
			bs.Waits.CutOff(open.Interval, end)
		}
	}
	t.Interval = nil
}

// leaveInterval goes on in the team around when a region goes.
func (t *Thread) leaveInterval(open *OpenRegion) {
	if open.Interval != nil && t.Interval == open.Interval {
		t.Interval = open.Interval.Outer()
		t.inTeam = len(t.Stack) // not known
	}
}

// LeaveTeam goes on in the team around when a team is joined (ns). The thread's time in the team
// counts for the team's region.
func (t *Thread) LeaveTeam(open *OpenRegion, at uint64) {
	t.leaveInterval(open)
	if iv := t.Interval; iv != nil && iv.Noting() {
		iv.Note(open.Node, open.Seat, false, at)
	}
}

// IsPending tells whether a thread may have come to a barrier, which a later event tells.
func (b *Between) IsPending() bool { return b.Interval != nil && b.Interval.Pending() }

// executedWaiting notes a task that a thread has executed in a barrier.
func (t *Thread) executedWaiting(open *OpenRegion, k *waits.Task) {
	if t.inBarrier(open) {
		t.Interval.EndWork(k)
	}
}

// BeginWork notes that a thread begins a task in a barrier (ns).
func (t *Thread) BeginWork(at uint64) {
	if open := t.Top(); open != nil && t.inBarrier(open) {
		t.Interval.BeginWork(at)
	}
}

// BeginTaskWaiting notes that a thread begins a task in a barrier or a wait for tasks. A construct
// has created the task on the thread of a seat at a time (ns).
func (t *Thread) BeginTaskWaiting(created uint64, by *tree.Node, seat int) {
	switch open := t.Top(); {
	case open == nil || open.Phase != InBarrier:
	case open.Node.Key.Construct.IsTasking():
		if created > open.Idle {
			open.late.Add(by, seat, int64(created-open.Idle))
		}
	case t.inBarrier(open):
		t.Interval.BeginTask(created, by, seat)
	}
}

// inBarrier tells whether a thread is in its implicit task, in a barrier of its innermost team. The
// argument is the thread's innermost open region.
func (t *Thread) inBarrier(open *OpenRegion) bool {
	return open.Phase == InBarrier && !open.Node.Key.Construct.IsTasking() && t.Executing() == nil && t.interval() == t.Interval
}
