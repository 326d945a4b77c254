package attribution

import (
	"ompp-attach/attribution/stack"
	"ompp-attach/attribution/tree"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// Constructs that the compiler turned into plain instructions: GCC's static loops, master, the end
// of a single nowait.

// NoteInline is the note on loops that are measured although they make no call.
const NoteInline = "GCC's code for a static loop makes no call. So probes in the program's own code show where " +
	"the loop begins and ends. Counts and times mean the same as those of other loops"

const (
	noteLastLoop  = "GCC leaves out the barrier of a loop at the end of a parallel region: the wait is the region's exitBarT"
	noteInlineEnd = "threads leave this construct at no common place in the code, so its end was not seen. Its time counts until " +
		"the thread's next event, or the end of measurement. So its time may be too long"
)

// inlined applies the events of probes in the program's own code.
type inlined struct{ *stack.Stacks }

// inline applies an event of a probe in the program's own code.
func (in *inlined) inline(t *stack.Thread, ev *event.Event) {
	switch ev.Edge {
	case event.Open:
		if r := t.Top(); r != nil && r.Again(ev) {
			return
		}
		if t.OpenShare() >= 0 {
			// A call has reported the loop already: GCC calls the runtime for static
			// loops with task reductions only.
			return
		}
		r := in.Push(t, t.Key(ev.Construct, ev), ev)
		r.Phase, r.InlineEnd = stack.InBody, event.InlineEnd(ev.Value)
		r.Node.Flags |= tree.Inline
	case event.Enter:
		if counted(ev) {
			in.countOnly(t, ev)
			return
		}
		if !t.Bears(0) {
			return // all threads execute this instruction, only the primary thread the body
		}
		r := in.Push(t, t.Key(ev.Construct, ev), ev)
		r.Phase, r.Parts[profile.Body].C, r.Parts[profile.Enter].C = stack.InBody, 1, 1
	case event.Close, event.Release:
		// Threads that are not in the construct execute this instruction too.
		i := t.Find(ev.Construct, func(r *stack.OpenRegion) bool { return r.Flags&event.Inline != 0 && r.Phase == stack.InBody })
		if i >= 0 {
			in.UnwindTo(t, i, ev.Time).LeaveInline(ev.Time)
			in.Pop(t, ev.Time)
		}
	}
}

// beginsAfter opens the loop that a thread begins right behind an event, if there is one. The event
// is the beginning of a region, or the end of a barrier. at is the address by which the program's
// files name the loop.
func (in *inlined) beginsAfter(t *stack.Thread, at uint64, ev *event.Event) {
	if at == 0 || ev.Runtime != event.Gomp || t.Unobserved.Has(event.Loop) {
		return
	}
	l := in.Tree.Answers.LoopAfter(at)
	if l.Site == 0 {
		return
	}
	loop := *ev
	loop.Construct, loop.Edge, loop.Flags, loop.Value = event.Loop, event.Open, event.Inline, int64(l.End)
	loop.Site, loop.Fn, loop.Loc, loop.Key, loop.Lost = l.Site, 0, 0, 0, 0
	in.inline(t, &loop)
	r := t.Top()
	if r == nil || r.Node.Key.Construct != event.Loop {
		return // a call has reported the loop already
	}
	r.Told = true
	if ev.Flags&event.Unarmed != 0 {
		r.Node.Note(noteDerived)
	}
}

// begin starts a team's body on a thread, and the loop with which the body begins.
func (e *engine) begin(t *stack.Thread, ev *event.Event) bool {
	if !e.parallel.begin(t, ev) {
		return false
	}
	if ev.Construct == event.Parallel {
		e.beginsAfter(t, t.Function(), ev)
	}
	return true
}

// waited ends a thread's barrier, and begins the loop right behind it.
func (e *engine) waited(t *stack.Thread, ev *event.Event) {
	r := t.Top()
	if r == nil || r.Phase != stack.InBarrier {
		e.Waited(t, ev)
		return
	}
	depth, returns := len(t.Stack), r.Returns
	e.Waited(t, ev)
	if ev.Construct == event.Barrier && len(t.Stack) < depth {
		e.beginsAfter(t, returns, ev)
	}
}

// counted reports whether an event only counts: probes around an atomic would measure mostly
// themselves.
func counted(ev *event.Event) bool {
	return ev.Construct == event.Atomic || ev.Construct == event.Flush
}

// countOnly counts an execution of a construct that is not timed.
func (in *inlined) countOnly(t *stack.Thread, ev *event.Event) {
	in.Initial(t)
	at := in.Tree.Root
	if r := t.Top(); r != nil {
		at = r.Node
	}
	n := in.Tree.Child(at, t.Key(ev.Construct, ev))
	s := n.Stat(t.Seat)
	s.Exec.C++
	in.Ledger.CountUnknown(s)
	if in.Spans != nil {
		in.Spans.Counted(t.Tid, n, t.Seat, ev.Time+t.Suspended)
	}
}

// endInline ends the innermost construct if it is inline and the event cannot lie in it. No
// worksharing construct or barrier may stand in another one, nor in a master.
func (in *inlined) endInline(t *stack.Thread, ev *event.Event) {
	r := t.Top()
	if r == nil || r.Flags&event.Inline == 0 || r.Phase != stack.InBody {
		return
	}
	switch ev.Edge {
	case event.Open:
		if r.Again(ev) {
			return
		}
	case event.Wait, event.End, event.Join:
	case event.Enter:
		if ev.Flags&event.Inline == 0 || counted(ev) {
			return
		}
	default:
		return
	}
	r.LeaveInline(ev.Time)
	switch r.InlineEnd {
	case event.EndBarrier:
		if ev.Edge == event.Wait && ev.Construct == event.Barrier {
			return // the loop's body is done, and its barrier begins
		}
	case event.EndRegion:
		if ev.Edge == event.End {
			r.Node.Note(noteLastLoop)
		}
	case event.EndNext:
		r.Node.Note(noteInlineEnd)
	}
	in.Pop(t, ev.Time)
}
