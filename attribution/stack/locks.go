package stack

import (
	"ompp-attach/attribution/ledger"
	"ompp-attach/attribution/tree"
	"ompp-attach/attribution/waits"
	"ompp-attach/event"
)

// When threads wait for locks, hold them and free them (package waits).

// locks are the constructs that a lock guards.
var locks = event.SetOf(event.Critical) | event.SetOf(event.Lock) | event.SetOf(event.NestLock)

// guards are the constructs in which a thread waits for its turn.
var guards = locks | event.SetOf(event.Ordered)

// Guards tells whether a thread waits for its turn at the start of a construct.
func Guards(c event.Construct) bool { return guards.Has(c) }

// NoteInterval notes where a thread has been since its last event, at an event (ns).
func (t *Thread) NoteInterval(at uint64) {
	i := len(t.Stack) - 1
	for i > 0 && t.Stack[i].Internal { // its time counts for what it interrupts
		i--
	}
	if i < 0 {
		return
	}
	open := &t.Stack[i]
	waited := false
	switch open.Phase {
	case Entering:
		waited = guards.Has(open.Node.Key.Construct)
	case InBarrier: // of a reduction: the threads combine their results in turn
		waited = open.Node.Key.Construct.IsTasking()
	}
	t.Interval.Note(open.Node, open.Seat, waited, at)
}

// NoteUse notes that a thread frees the lock of the i-th region of its stack (ns).
func (t *Thread) NoteUse(i int, at uint64) {
	open := &t.Stack[i]
	if open.Phase != InBody || !t.frees(i) {
		return
	}
	lock, pause := waits.Lock{Of: open.Node.Key.RuntimeConstruct, Address: open.Resource}, t.Suspended
	wait, busy := ledger.Between(open.Start, open.Mark), ledger.Between(open.Mark, at)
	if u := t.Interval.Used(open.Node, &lock); u != nil {
		u.Again(open.Start+pause, at+pause, wait, busy, 1)
		return
	}
	t.Interval.Use(&waits.Use{Lock: lock, Node: open.Node, Seat: open.Seat, N: 1,
		From: open.Start + pause, Held: open.Mark + pause, Freed: at + pause, Until: at + pause, Wait: wait, Busy: busy})
}

// NoteUseOver notes that the i-th region of a thread's stack, whose lock it has freed,
// is over (ns).
func (t *Thread) NoteUseOver(i int, at uint64) {
	open := &t.Stack[i]
	if !t.frees(i) {
		return
	}
	if u := t.Interval.Used(open.Node, &waits.Lock{Of: open.Node.Key.RuntimeConstruct, Address: open.Resource}); u != nil {
		u.Until = max(u.Until, at+t.Suspended)
	}
}

// frees tells whether the end of the i-th region frees a lock.
func (s *Stack) frees(i int) bool {
	open := &(*s)[i]
	return locks.Has(open.Node.Key.Construct) && !s.sets(open.Node.Key.Construct, open.Resource, i)
}

// sets tells whether a thread has set a nested lock already, in one of the first regions of its
// stack. Then the end of another such region does not free the lock.
func (s *Stack) sets(c event.Construct, lock uint64, regions int) bool {
	if c != event.NestLock {
		return false
	}
	for i := range (*s)[:regions] {
		if open := &(*s)[i]; open.Node.Key.Construct == c && open.Resource == lock {
			return true
		}
	}
	return false
}

// NoteUses notes executions of a construct that the kernel side has added up.
func (t *Thread) NoteUses(n *tree.Node, ev *event.Event) {
	if x := ev.Fold; locks.Has(ev.Construct) && x.Bodies > 0 && !t.sets(ev.Construct, ev.Fn, len(t.Stack)) {
		l := waits.Lock{Of: n.Key.RuntimeConstruct, Address: ev.Fn, Unknown: ev.Construct != event.Critical}
		t.Interval.Use(&waits.Use{Lock: l, Node: n, Seat: t.Seat, N: x.Bodies,
			From: ev.Time, Held: ev.Time + x.Enter, Freed: x.Last - min(x.Last, x.Exit), Until: x.Last,
			Wait: int64(x.Enter), Busy: int64(x.Body)})
	}
}
