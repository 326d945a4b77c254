package stack

import (
	"ompp-attach/attribution/place"
	"ompp-attach/attribution/tree"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// After a loss. Among a thread's lost events may have been the end of a region that the thread has
// open. So no construct is put into a region that cannot hold it. Which region can is told by the
// rules of OpenMP (version 5.2, chapter 17.1) and by the stack pointer. A region that cannot hold
// the next construct has ended unseen: it is counted and marked, and the next construct goes to
// where it belongs. Threads that lost nothing are believed, because programs break those rules and
// get away with it.

const (
	noteLostBegin = "the beginning of some threads' bodies was lost: startupT reaches to their next event"
	noteLostWhere = "events were lost that tell in which region some threads were: what these threads did until their next region is counted here"
)

// sameStackDistance is how far apart two stack pointers of one stack may lie (bytes) when nothing
// else tells. Pointers further apart belong to two stacks, for example to that of a coroutine or a
// signal handler. The stacks of threads have megabytes. The stacks of coroutines mostly have 64 KiB
// and more, and only their uppermost part is used.
const sameStackDistance = 256 << 10

// Mend closes the regions that a thread cannot have open any more when it begins a construct. It
// does so only for threads that lost events.
func (st *Stacks) Mend(t *Thread, c event.Construct, ev *event.Event) {
	if !t.Lossy {
		return
	}
	st.LeaveContexts(t, c, ev)
	if len(t.Stack) == 0 {
		st.lostWorker(t, c, ev)
		return
	}
	st.BeginLost(t, ev)
	for open := t.Top(); open != nil && !open.holds(c, ev); open = t.Top() {
		st.Abandon(t)
	}
	if c == event.Lock { // a lock can be set only once
		if i := t.Find(c, func(open *OpenRegion) bool { return open.Resource == ev.Fn }); i >= 0 {
			st.drop(t, i)
		}
	}
}

// LeaveContexts leaves the tasks and regions that a thread cannot be in any more. Either the stack
// pointer tells, or the next construct does if all threads of a team come to it together.
func (st *Stacks) LeaveContexts(t *Thread, c event.Construct, ev *event.Event) {
	left := -1
	for i := range t.Stack {
		open := &t.Stack[i]
		switch {
		case tree.IsExecution(open.Node.Key.Construct):
			// All calls in a task lie below the call of the task's function on the
			// stack.
			if IsShared(c) || st.above(ev.SP, open.Sp-1) {
				left = i
			}
		case open.Team != nil:
			if IsShared(c) {
				left = -1 // tasks further out are suspended for this region
			}
			if open.Num >= 0 && st.above(ev.SP, open.Sp) {
				left = i
			}
		}
		if left == i {
			break
		}
	}
	if left < 0 {
		return
	}
	m := st.UnwindTo(t, left, ev.Time).Team
	st.Abandon(t)
	if open := t.Top(); open != nil {
		t.Seat = open.Seat
	} else if m != nil {
		t.Seat = st.Seat(m.Root, 0)
	}
}

// above tells whether a stack pointer lies above another one on the same stack. It answers false if
// one of them is not known.
func (ms *MainStack) above(sp, other uint64) bool {
	return sp != 0 && other+1 > 1 && sp > other && ms.SameStack(sp, other)
}

// IsShared tells whether all threads of a team come to a construct, in their implicit tasks.
func IsShared(c event.Construct) bool {
	switch c {
	case event.Loop, event.Sections, event.Single, event.Workshare, event.Scope, event.Barrier:
		return true
	}
	return false
}

// holds tells whether a construct can begin in a region.
func (o *OpenRegion) holds(c event.Construct, ev *event.Event) bool {
	// Unobserved tasks make calls too.
	if o.Node.Existing || c == event.MPI && o.Phase == InBarrier {
		return true
	}
	switch k := o.Node.Key.Construct; k {
	case event.Task, event.UntiedTask, event.TaskLoop, event.Barrier, event.TaskWait, event.TaskYield:
		return tree.IsExecution(c)
	case event.Atomic, event.Flush, event.Cancel, event.CancellationPoint,
		event.TargetEnterData, event.TargetExitData, event.TargetUpdate:
		return false
	case event.Critical, event.Ordered, event.Lock, event.NestLock, event.Reduction:
		if o.Phase == Entering || o.Phase == Leaving {
			return tree.IsExecution(c)
		}
		same := c == k && k != event.NestLock && o.Resource == ev.Fn
		return !same && (k == event.Lock || k == event.NestLock || !IsShared(c) && c != k || c == event.Critical)
	case event.Loop, event.Sections, event.Single, event.Workshare, event.Scope, event.TaskGroup:
		if o.Phase == InBarrier {
			return tree.IsExecution(c)
		}
		return !IsShared(c) || k == event.TaskGroup
	case event.Master, event.Masked:
		return !IsShared(c)
	case event.Distribute:
		return c != k
	case event.Target:
		return c < event.Target || c > event.TargetUpdate
	}
	return true
}

// BeginLost begins a region's body for the primary thread, if the event of that was lost.
func (st *Stacks) BeginLost(t *Thread, ev *event.Event) {
	if open := t.Top(); t.Lossy && open != nil && open.Team != nil && open.Phase == Starting {
		open.Node.Note(noteLostBegin)
		open.Uncounted = true
		st.BeginAs(t, open, open.Team, 0, ev.Time)
	}
}

// lostWorker gives a worker that seems to be outside of all regions a place. A worker is never
// outside, so the begin of its region was lost.
func (st *Stacks) lostWorker(t *Thread, c event.Construct, ev *event.Event) {
	if t.Initial || t.Tid == st.Pid || c.IsParallel() && !t.Known {
		return
	}
	seat := t.Seat
	if !t.Known {
		seat = st.Seat(0, profile.UnknownNum)
		t.Seat = seat
		st.NoteTID(t.Seat, t.Tid)
	}
	n := st.Tree.Child(st.Tree.Root, place.Key{RuntimeConstruct: place.RuntimeConstruct{Construct: event.Unknown}})
	n.Note(noteLostWhere)
	st.Partial++
	t.OpenUnderWay(n, seat, ev.Time)
}

// InLostTask tells whether an event of a worker in its final barrier belongs to a task whose begin
// was lost. The worker's part in the region is over, and the region has not ended.
func (t *Thread) InLostTask(ev *event.Event) bool {
	open := t.Top()
	m := open.Team
	return t.Lossy && ev.Edge != event.Begin && !m.Charged && m.Forked <= open.Mark && (m.Joined == 0 || ev.Time <= m.Joined)
}

// LeaveAll drops regions on the thread's stack whose end was not seen.
func (st *Stacks) LeaveAll(t *Thread) {
	for len(t.Stack) > 0 {
		if t.Top().Node.Key.Construct == event.Unknown {
			t.Stack = t.Stack[:0]
			return
		}
		st.Abandon(t)
	}
}

// SameStack tells whether two addresses lie on one stack of the program.
func (ms *MainStack) SameStack(a, b uint64) bool {
	in := func(x uint64) bool { return ms.StackLo <= x && x < ms.StackHi }
	if in(a) || in(b) {
		return in(a) && in(b)
	}
	return max(a, b)-min(a, b) <= sameStackDistance
}

// Lose records that events of a thread are missing before the current one.
func (st *Stacks) Lose(t *Thread, n uint32) {
	st.LoseWaits(t)
	at := st.Tree.Root
	if open := t.Top(); open != nil {
		at = open.Node
	}
	st.Losses[tree.Seat{Node: at, Seat: t.Seat}] += uint64(n)
}
