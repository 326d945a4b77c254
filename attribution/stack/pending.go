package stack

import "ompp-attach/event"

// Holding tells whether the thread's queue has nothing but samples, which wait for the thread's
// next event of another kind.
func (t *Thread) Holding() bool {
	return t.Parked() && t.Edge.holding && t.Edge.Next == 0
}

// FindNext looks for a thread's next event that is no sample in its queue.
func (ch *Charges) FindNext(t *Thread) {
	for ev := range t.Queue.All() {
		switch ev.Edge {
		case event.Sampled, event.OffCore:
		case event.NoCore: // it belongs to the time before that event
			ch.HadNoCore(t, ev)
			ev.Value, ev.Key, ev.Num = 0, 0, 0
		default:
			t.Edge.Next = Start(ev)
			return
		}
	}
	t.Edge.holding = true
}

// Start returns when what an event reports has begun.
func Start(ev *event.Event) uint64 {
	if ev.MPI != nil && ev.MPI.Start != 0 {
		return ev.MPI.Start
	}
	return ev.Time
}

// DropEdge forgets the end. It was reported or derived, or will not come.
func (t *Thread) DropEdge() {
	x := &t.Edge
	if x.Pending() && x.Edge == event.Waited && x.Turn >= 0 && x.Team != nil {
		x.Team.turns.leave(x.Turn, x.Team.Size)
	}
	*x = Edge{}
}

// Await notes that a thread's events wait until its pending end is decided. at is the time of the
// thread's next event other than a sample. Threads that wait for the primary thread's events may go
// on.
func (tm *Teams) Await(t *Thread, at uint64) {
	x := &t.Edge
	m := x.Team
	if m.Bound && (x.Next == 0 || !x.listed) {
		tm.Woken = append(tm.Woken, m.Key)
	}
	if !x.listed {
		x.listed = true
		m.waiters = append(m.waiters, t)
	}
	x.Next = at
}

// WakeWaiters lets the threads go on that wait for a team's arrivals.
func (tm *Teams) WakeWaiters(m *Team) {
	for _, t := range m.waiters {
		t.Edge.listed = false
	}
	tm.Ready = append(tm.Ready, m.waiters...)
	m.waiters = m.waiters[:0]
}

// Reach notes that a thread comes to a barrier of its innermost team. All threads of a team come
// to the same barriers, in the same order. hold says that the thread's end of the barrier is
// pending. The result is the barrier's number in the team, -1 if the team's threads are not known.
func (tm *Teams) Reach(t *Thread, at uint64, hold bool) int {
	i := t.Level()
	if i < 0 || t.Stack[i].Team == nil {
		return -1
	}
	m := t.Stack[i].Team
	mem := m.Member(t.Num)
	if mem == nil || m.Size <= 1 || m.Torn {
		return -1
	}
	n := mem.turns
	mem.turns++
	if !m.turns.reach(n, at, hold) {
		m.Torn = true // an arrival is missing, or was counted for another thread
		return -1
	}
	if m.turns.full(n, m.Size) {
		tm.WakeWaiters(m)
		m.turns.forget(m.Size)
	}
	return n
}
