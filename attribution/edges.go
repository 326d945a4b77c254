package attribution

import (
	"ompp-attach/attribution/ledger"
	"ompp-attach/attribution/stack"
	"ompp-attach/event"
)

// Ends of calls that are not reported. An armed return costs nearly as much as a second hit, so the
// kernel side arms the returns of short and frequent calls only now and then (bpf/sparse.h): that of
// the fork, of a barrier, of a team's end. The team's arrivals tell nearly as much: a barrier ends,
// and a team is joined, when the last thread has come. What follows takes about as long as in the
// executions whose end was reported.
//
// Before a thread's next event is applied, the end is derived and applied like an event. The event
// waits until the arrivals of the whole team are known. So an end is never corrected afterwards,
// and the profile does not depend on the order in which threads are read.

const noteDerived = "short and frequent: startup, shutdown and ends of barriers of most executions are derived from the arrivals of all threads and from the executions that were measured in full (without --derive-edges all are measured)"

const noteAlone = "of some barriers with derived ends the arrivals of other threads are not known (the region was under way, or events are missing): their barT is a mean of those measured in full (without --derive-edges all are measured)"

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
		if i = t.Forked(); i >= 0 && t.Stack[i].Phase != stack.InBarrier {
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
		x.Node = t.Stack[i].Node
		if x.Edge != event.Waited {
			x.Team = t.Stack[i].Team
		}
	}
	t.Edge = x
	e.edges.All++
}

// passEdge applies the pending end of a thread's call, if it comes before the thread's next event
// and is not that event. It answers false if events of other threads have to be applied first.
func (e *engine) passEdge(t *stack.Thread, ev *event.Event) bool {
	x := &t.Edge
	if ev.Edge == event.CoreWait {
		return true
	}
	if e.isTaskIn(t, ev) {
		if ev.Lost > 0 { // the end of the task may be lost, and the call over
			t.DropEdge()
		}
		return true
	}
	until := ev.Time
	if ev.MPI != nil && ev.MPI.Start >= x.Enter.Time {
		until = ev.MPI.Start
	}
	if ev.Lost == 0 && !x.Decided() && !e.allRead(ev.Time) {
		e.Await(t, until)
		return false
	}
	x.Next = 0
	switch {
	case !x.Reported():
		e.derive(t, until, ev.Edge == event.Sampled)
	case ev.Edge == event.Sampled:
	default:
		if ev.Edge == x.Edge && t.Waited == 0 {
			t.Learn(x, ev.Time, e.Ledger.BeforeReturn())
		}
		t.DropEdge()
	}
	return true
}

// isTaskIn tells whether an event belongs to a task that the thread executes in the call.
func (e *engine) isTaskIn(t *stack.Thread, ev *event.Event) bool {
	return len(t.Stack) > t.Edge.Depth || ev.Construct == event.TaskExec && ev.Edge == event.Begin
}

// derive applies the pending end of a call before a time. A sample that was taken earlier than a
// usual end leaves it pending.
func (e *engine) derive(t *stack.Thread, until uint64, sampled bool) {
	x, y := &t.Edge, t.Mean(&t.Edge)
	from := min(max(x.From(until), t.Last), until)
	gap := ledger.Span(from, until)
	if sampled && !y.Fits(gap) {
		return
	}
	// The thread's time without a core lies anywhere between the call's beginning and the next event.
	idle := t.Waited - t.WaitedInCall
	before := int64(0)
	if all := ledger.Span(x.Enter.Time, until); all > 0 {
		before = int64(float64(idle) * float64(ledger.Span(x.Enter.Time, from)) / float64(all))
	}
	in := int64(float64(idle-before) * y.Share())
	d := y.Derive(max(0, gap-(idle-before)))
	ev := event.Event{Time: min(from+uint64(d+in), until), PID: x.Enter.PID, TID: x.Enter.TID, Construct: x.Enter.Construct,
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
	t.Waited, t.WaitedInCall = before+in, 0
	e.Spans.Derived(ev.Edge == event.Waited)
	e.apply(t, &ev)
	e.Spans.Derived(false)
	t.Waited, t.WaitedInCall = waited-(before+in), inCall
}

// passUntil applies the pending end of a thread's call if it came before a time. All events before
// that time have been applied.
func (e *engine) passUntil(t *stack.Thread, at uint64) {
	x := &t.Edge
	if !x.Pending() || x.Reported() || len(t.Stack) > x.Depth || !x.Decided() || x.From(at) >= at {
		return
	}
	e.derive(t, at, true)
}
