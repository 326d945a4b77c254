package attribution

import (
	"ompp-attach/attribution/place"
	"ompp-attach/attribution/tree"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// After a loss. Among a thread's lost events may have been the end of a region that the thread has
// open. So no construct is put into a region that cannot hold it. The rules of OpenMP (version 5.2,
// chapter 17.1) and the stack pointer tell which region can. A region that cannot hold the next
// construct has ended unseen: it is counted and marked, and the next construct goes to where it
// belongs. Threads that lost nothing are believed, because programs break those rules and get away
// with it.

const (
	noteLostBegin = "the beginning of some threads' bodies was lost: startupT reaches to their next event"
	noteLostWhere = "of some threads events were lost that tell in which region they were: what they did until their next region is counted here"
)

// mend closes the regions that a thread cannot have open any more when it begins a construct. It
// does so only for threads that lost events.
func (st *stacks) mend(t *thread, c event.Construct, ev *event.Event) {
	if !t.lossy {
		return
	}
	st.leaveContexts(t, c, ev)
	if len(t.stack) == 0 {
		st.lostWorker(t, c, ev)
		return
	}
	st.beginLost(t, ev)
	for f := t.top(); f != nil && !f.holds(c, ev); f = t.top() {
		st.abandon(t)
	}
	if c == event.Lock { // a lock can be set only once
		if i := t.find(c, func(f *frame) bool { return f.resource == ev.Fn }); i >= 0 {
			st.drop(t, i)
		}
	}
}

// leaveContexts leaves the tasks and regions that a thread cannot be in any more. Either the stack
// pointer tells, or the next construct does if all threads of a team come to it together.
func (st *stacks) leaveContexts(t *thread, c event.Construct, ev *event.Event) {
	left := -1
	for i := range t.stack {
		f := &t.stack[i]
		switch {
		case tree.IsExecution(f.node.Key.Construct):
			// All calls in a task lie below the call of the task's function on the
			// stack.
			if isShared(c) || st.above(ev.SP, f.sp-1) {
				left = i
			}
		case f.team != nil:
			if isShared(c) {
				left = -1 // tasks further out are suspended for this region
			}
			if f.num >= 0 && st.above(ev.SP, f.sp) {
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
	m := st.unwindTo(t, left, ev.Time).team
	st.abandon(t)
	if f := t.top(); f != nil {
		t.row = f.row
	} else if m != nil {
		t.row = st.row(m.root, 0)
	}
}

// above tells whether a stack pointer lies above another one on the same stack. It answers false if
// one of them is not known.
func (st *stacks) above(sp, other uint64) bool {
	return sp != 0 && other+1 > 1 && sp > other && st.sameStack(sp, other)
}

// isShared tells whether all threads of a team come to a construct, in their implicit tasks.
func isShared(c event.Construct) bool {
	switch c {
	case event.Loop, event.Sections, event.Single, event.Workshare, event.Scope, event.Barrier:
		return true
	}
	return false
}

// holds tells whether a construct can begin in a frame.
func (f *frame) holds(c event.Construct, ev *event.Event) bool {
	// Unobserved tasks make calls too.
	if f.node.Existing || c == event.MPI && f.phase == inBarrier {
		return true
	}
	switch k := f.node.Key.Construct; k {
	case event.Task, event.UntiedTask, event.TaskLoop, event.Barrier, event.TaskWait, event.TaskYield:
		return tree.IsExecution(c)
	case event.Atomic, event.Flush, event.Cancel, event.CancellationPoint,
		event.TargetEnterData, event.TargetExitData, event.TargetUpdate:
		return false
	case event.Critical, event.Ordered, event.Lock, event.NestLock, event.Reduction:
		if f.phase == entering || f.phase == leaving {
			return tree.IsExecution(c)
		}
		same := c == k && k != event.NestLock && f.resource == ev.Fn
		return !same && (k == event.Lock || k == event.NestLock || !isShared(c) && c != k || c == event.Critical)
	case event.Loop, event.Sections, event.Single, event.Workshare, event.Scope, event.TaskGroup:
		if f.phase == inBarrier {
			return tree.IsExecution(c)
		}
		return !isShared(c) || k == event.TaskGroup
	case event.Master, event.Masked:
		return !isShared(c)
	case event.Distribute:
		return c != k
	case event.Target:
		return c < event.Target || c > event.TargetUpdate
	}
	return true
}

// beginLost begins a region's body for the primary thread, if the event of that was lost.
func (st *stacks) beginLost(t *thread, ev *event.Event) {
	if f := t.top(); t.lossy && f != nil && f.team != nil && f.phase == starting {
		f.node.Note(noteLostBegin)
		f.Uncounted = true
		st.beginAs(t, f, f.team, 0, ev.Time)
	}
}

// lostWorker gives a worker that seems to be outside of all regions a place. A worker is never
// outside, so the begin of its region was lost.
func (st *stacks) lostWorker(t *thread, c event.Construct, ev *event.Event) {
	if t.initial || t.tid == st.pid || c.IsParallel() && !t.known {
		return
	}
	row := t.row
	if !t.known {
		row = st.row(0, profile.UnknownNum)
		t.row = row
		st.bear(t)
	}
	n := st.tree.Child(st.tree.Root, place.Key{Kind: place.Kind{Construct: event.Unknown}})
	n.Note(noteLostWhere)
	st.partial++
	t.openUnderWay(n, row, ev.Time)
}

// inLostTask tells whether an event of a worker in its final barrier belongs to a task whose begin
// was lost. The worker's part in the region is over, and the region has not ended.
func (t *thread) inLostTask(ev *event.Event) bool {
	f := t.top()
	m := f.team
	return t.lossy && ev.Edge != event.Begin && !m.charged && m.forked <= f.Mark && (m.joined == 0 || ev.Time <= m.joined)
}
