package attribution

import (
	"ompp-attach/attribution/tree"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// Constructs that the compiler turned into plain instructions: GCC's static loops, master, the end
// of a single nowait.

// NoteInline is the note on loops that are measured although they make no call.
const NoteInline = "a static loop makes no call: it is measured at instructions of the program's own code"

const (
	noteLastLoop  = "GCC leaves out the barrier of a loop at the end of a parallel region: the wait is the region's exitBarT"
	noteInlineEnd = "the code has no place at which every thread leaves the construct: it lasts until the thread's next event"
)

// inlined applies the events of probes in the program's own code.
type inlined struct{ *stacks }

// inline applies an event of a probe in the program's own code.
func (in *inlined) inline(t *thread, ev *event.Event) {
	switch ev.Edge {
	case event.Open:
		if f := t.top(); f != nil && f.again(ev) {
			return
		}
		if t.openShare() >= 0 {
			// A call has reported the loop already: GCC calls the runtime for static
			// loops with task reductions only.
			return
		}
		f := in.push(t, t.key(ev.Construct, ev), ev)
		f.phase, f.inlineEnd = inBody, event.InlineEnd(ev.Value)
		f.node.Flags |= tree.Inline
	case event.Enter:
		if counted(ev) {
			in.tally(t, ev)
			return
		}
		if !t.bears(0) {
			return // all threads execute this instruction, only the primary thread the body
		}
		f := in.push(t, t.key(ev.Construct, ev), ev)
		f.phase, f.Parts[profile.Body].C, f.Parts[profile.Enter].C = inBody, 1, 1
	case event.Close, event.Release:
		// Threads that are not in the construct execute this instruction too.
		i := t.find(ev.Construct, func(f *frame) bool { return f.flags&event.Inline != 0 && f.phase == inBody })
		if i >= 0 {
			in.unwindTo(t, i, ev.Time).leaveInline(ev.Time)
			in.pop(t, ev.Time)
		}
	}
}

// counted reports whether an event only counts: probes around an atomic would measure mostly
// themselves.
func counted(ev *event.Event) bool {
	return ev.Construct == event.Atomic || ev.Construct == event.Flush
}

// tally counts an execution of a construct that is not timed.
func (in *inlined) tally(t *thread, ev *event.Event) {
	in.initial(t)
	at := in.tree.Root
	if f := t.top(); f != nil {
		at = f.node
	}
	s := in.tree.Child(at, t.key(ev.Construct, ev)).Stat(t.row)
	s.Exec.C++
	in.ledger.CountUnknown(s)
}

// again reports whether an event opens the loop that is open already. Some loops have a probe
// before the loop and one before its barrier, because some threads come to the second one only.
func (f *frame) again(ev *event.Event) bool {
	return f.flags&ev.Flags&event.Inline != 0 && f.phase == inBody && f.node.Key.Construct == event.Loop &&
		f.node.Key.Site == ev.Site && f.inlineEnd == event.EndBarrier
}

// leaveInline ends the body of an inline construct.
func (f *frame) leaveInline(at uint64) {
	if f.node.Key.Construct == event.Loop {
		f.closeBody(at)
		return
	}
	f.Pass(profile.Body, at)
	f.phase, f.Mark = done, at
}

// endInline ends the innermost construct if it is inline and the event cannot lie in it. No
// worksharing construct or barrier may stand in another one, nor in a master.
func (in *inlined) endInline(t *thread, ev *event.Event) {
	f := t.top()
	if f == nil || f.flags&event.Inline == 0 || f.phase != inBody {
		return
	}
	switch ev.Edge {
	case event.Open:
		if f.again(ev) {
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
	f.leaveInline(ev.Time)
	switch f.inlineEnd {
	case event.EndBarrier:
		if ev.Edge == event.Wait && ev.Construct == event.Barrier {
			return // the loop's body is done, and its barrier begins
		}
	case event.EndRegion:
		if ev.Edge == event.End {
			f.node.Note(noteLastLoop)
		}
	case event.EndNext:
		f.node.Note(noteInlineEnd)
	}
	in.pop(t, ev.Time)
}
