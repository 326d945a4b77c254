package attribution

import (
	"ompp-attach/attribution/ends"
	"ompp-attach/attribution/ledger"
	"ompp-attach/attribution/stack"
	"ompp-attach/event"
)

// Ends of calls that are not reported. A probe at a return costs nearly as much as a second hit. So
// the kernel side reports few of the returns of short and frequent calls (bpf/sparse.h): of forks,
// barriers, and ends of teams. The arrivals of the team tell nearly as much: a barrier ends, and a
// team is joined, when the last thread has arrived. The time from the last arrival to the end is
// taken from executions with a reported end. Only those executions count in which the thread came
// to its next event about as late.
//
// Before a thread's next event is applied, the end is derived and applied like an event. The event
// waits until the arrivals of the whole team are known. So an end is never corrected afterwards,
// and the profile does not depend on the order in which threads are read.

const noteDerived = "short and frequent: startup, shutdown and ends of barriers of most executions are derived from the arrivals of all threads and from the executions that were measured in full (without --derive-edges all are measured)"

const noteAlone = "for some barriers with derived ends the arrivals of other threads are not known (the region was under way, or events are missing): the time in these barriers is a mean of times that were measured in full (without --derive-edges all are measured)"

// expect notes that the call which begins with an event has an end that may not be reported.
func (e *engine) expect(t *stack.Thread, ev *event.Event, at uint64) {
	t.DropEdge() // its end was not seen
	x := stack.Edge{Enter: *ev, Depth: len(t.Stack), Turn: -1}
	x.Enter.Time, x.Enter.Counters = at, nil
	i := len(t.Stack) - 1
	switch ev.Edge {
	case event.Fork:
		x.Edge = event.Begin
		if i < 0 || t.Stack[i].Team == nil || t.Stack[i].Phase != stack.Starting {
			return
		}
	case event.End:
		x.Edge = event.Join
		if ofLeague(t, ev) {
			return
		}
		if i = t.Forked(); i >= 0 && t.Stack[i].Phase != stack.InBarrier {
			return
		}
		if i >= 0 && ev.Runtime == event.Kmpc && t.Stack[i].Team.Size == 1 {
			joinsInside(&t.Stack[i], ev)
			return
		}
	case event.Wait:
		x.Edge, x.Turn = event.Waited, t.Turn
		if l := t.Level(); l >= 0 {
			x.Team = t.Stack[l].Team
		}
	default:
		return
	}
	if i >= 0 {
		x.Node, x.Seat = t.Stack[i].Node, t.Stack[i].Seat
		if x.Edge != event.Waited {
			x.Team = t.Stack[i].Team
		}
	}
	t.Edge = x
	e.edges.All++
}

// joinsInside notes that the end of a team of one thread of libomp needs no join of its own. The
// call ends the team by __kmpc_end_serialized_parallel, whose return is reported. If the return of
// the call itself is left out, that report stands for the join.
func joinsInside(r *stack.OpenRegion, end *event.Event) {
	if end.Flags&event.Unarmed != 0 {
		r.Flags |= event.NoReturn
	}
}

// endsOne tells whether an event behind a team's end says that the team has one thread. It does so
// where the team's size is not known, because its begin was lost.
func endsOne(x *stack.Edge, ev *event.Event) bool {
	return x.Edge == event.Join && x.Team != nil && x.Team.Size == 0 &&
		ev.Runtime == event.Kmpc && ev.Edge == event.End && ev.Flags&event.Inside != 0
}

// longestHold is how long (ns) a sample waits for the thread's next event of another kind.
const longestHold = 100e6

// passEdge applies the pending end of a thread's call, if it comes before the thread's next event
// and is not that event. It answers false if events of other threads have to be applied first, or
// if a sample has to wait for the event behind it.
func (e *engine) passEdge(t *stack.Thread, ev *event.Event) bool {
	x := &t.Edge
	switch {
	case ev.Edge == event.NoCore, ev.Edge == event.OffCore:
		return true
	case e.isTaskIn(t, ev):
		if ev.Lost > 0 { // the end of the task may be lost, and the call over
			t.DropEdge()
		}
		return true
	case ev.Edge == event.Sampled:
		return x.Reported() || e.passSample(t, ev.Time)
	}
	if endsOne(x, ev) {
		if i := t.Forked(); i >= 0 {
			joinsInside(&t.Stack[i], &x.Enter)
		}
		e.edges.All--
		t.DropEdge()
		return true
	}
	until := max(stack.Start(ev), x.Enter.Time)
	if ev.Lost == 0 && !x.Decided() && !e.isGivenUp(x, ev.Time) {
		e.Await(t, until)
		return false
	}
	if !x.Reported() {
		e.derive(t, until)
		return true
	}
	if ev.Edge == x.Edge {
		t.Ends.Learn(x.Lesson(ev.Time, t.Waited > 0))
	}
	t.DropEdge()
	return true
}

// isGivenUp tells whether the arrivals that decide a call's end, before a time, will not come. A
// thread can be preempted between reading the clock and storing its record, so a second has to
// pass. If arrivals were lost, all that comes has been read.
func (e *engine) isGivenUp(x *stack.Edge, at uint64) bool {
	return x.GivenUp || e.allRead(at) && (x.Team.Torn || e.now >= at+stragglerWait)
}

// isTaskIn tells whether an event belongs to a task that the thread executes in the call.
func (e *engine) isTaskIn(t *stack.Thread, ev *event.Event) bool {
	return len(t.Stack) > t.Edge.Depth || ev.Construct == event.TaskExec && ev.Edge == event.Begin
}

// passSample applies the pending end of a thread's call if it came before a sample. The thread's
// next event of another kind has to be read first: it tells how long the end may have taken.
func (e *engine) passSample(t *stack.Thread, at uint64) bool {
	x := &t.Edge
	if x.Next == 0 {
		e.FindNext(t)
	}
	until := at + longestHold
	if e.finishing != 0 { // no event comes after the end of measurement
		until = min(until, max(at, e.finishing))
	}
	switch {
	case x.Next != 0:
		until = min(until, x.Next)
	case e.now < until+clockSlack:
		return false
	}
	if !x.Decided() {
		if e.allRead(at) {
			return true // the team has not arrived before: the thread is in the call
		}
		e.Await(t, x.Next)
		return false
	}
	if x.At == 0 && x.From(until) <= at {
		e.deriveTime(t, until)
	}
	if x.At != 0 && x.At <= at {
		e.derive(t, until)
	}
	return true
}

// queue appends an event to the queue of a thread whose events wait.
func (e *engine) queue(t *stack.Thread, ev *event.Event) {
	if !t.Holding() || t.Replaying {
		t.Queue.Push(&e.chunks, ev)
		return
	}
	if ev.Edge == event.NoCore { // it belongs to the time before the next event
		e.HadNoCore(t, ev)
		return
	}
	t.Queue.Push(&e.chunks, ev)
	if ev.Edge == event.Sampled {
		return
	}
	if x := &t.Edge; x.Team != nil {
		e.Await(t, stack.Start(ev))
	} else {
		x.Next = stack.Start(ev)
	}
	e.replay(t)
	e.followUp()
}

// deriveTime derives when the pending end of a call came, before a time.
func (e *engine) deriveTime(t *stack.Thread, until uint64) {
	x := &t.Edge
	from := min(max(x.From(until), t.Last), until)
	y, others := t.Ends.Of(x.Kind())
	x.At = from + uint64(y.Derive(ends.Gap{Time: ledger.Between(from, until), Idle: t.Waited > 0}, others, x.Seat))
}

// derive applies the pending end of a call, which came before a time.
func (e *engine) derive(t *stack.Thread, until uint64) {
	x := &t.Edge
	if x.At == 0 {
		e.deriveTime(t, until)
	}
	at := min(x.At, until)
	// The thread's time without a core lies anywhere between the call's beginning
	// and the next event.
	idle, in := t.Waited-t.WaitedInCall, int64(0)
	if all := ledger.Between(x.Enter.Time, until); all > 0 {
		in = int64(float64(idle) * float64(ledger.Between(x.Enter.Time, at)) / float64(all))
	}
	ev := event.Event{Time: at, PID: x.Enter.PID, TID: x.Enter.TID, Construct: x.Enter.Construct,
		Edge: x.Edge, Flags: event.Unarmed, Runtime: x.Enter.Runtime, Instance: x.Enter.Instance, SP: x.Enter.SP}
	if x.Node != nil {
		x.Node.Note(noteDerived)
		if x.Alone() {
			x.Node.Note(noteAlone)
		}
	}
	e.edges.Derived++
	if x.Team != nil && ev.Edge != event.Waited {
		x.Team.Derive(ev.Edge == event.Join)
	}
	t.DropEdge()

	waited, inCall := t.Waited, t.WaitedInCall
	t.Waited, t.WaitedInCall = in, 0
	e.Spans.Derived(ev.Edge == event.Waited)
	e.apply(t, &ev)
	e.Spans.Derived(false)
	t.Waited, t.WaitedInCall = waited-in, inCall
}

// passUntil applies the pending end of a thread's call if it came before a time. All events before
// that time have been applied.
func (e *engine) passUntil(t *stack.Thread, at uint64) {
	x := &t.Edge
	if !x.Pending() || x.Reported() || len(t.Stack) > x.Depth || !x.Decided() || x.From(at) >= at {
		return
	}
	if x.At == 0 {
		// A program that ends has mostly left its last region. What goes on is told later.
		ended := x.Edge == event.Join && !e.Waits.Quiet
		if y, others := t.Ends.Of(x.Kind()); !ended && !y.Fits(ledger.Between(x.From(at), at), others) {
			return
		}
		e.deriveTime(t, at)
	}
	if x.At <= at {
		e.derive(t, at)
	}
}
