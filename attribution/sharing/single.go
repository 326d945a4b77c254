package sharing

import (
	"ompp-attach/attribution/place"
	"ompp-attach/attribution/stack"
	"ompp-attach/event"
	"ompp-attach/profile"
)

const noteLastSingle = "GCC leaves out the barrier of a single at the end of a parallel region: the others' waiting time is the region's exitBarT"

// Chosen applies the runtime's answer who executes the body of a single.
func (sh *Constructs) Chosen(t *stack.Thread, ev *event.Event) {
	open := t.Top()
	if open == nil || open.Node.Key.Construct != event.Single || open.Phase != stack.InBody {
		// Otherwise another call ends it, and is counted as unmatched there.
		if ev.Value == 0 || ev.Runtime == event.Gomp {
			sh.Unmatched++
		}
		return
	}
	kind := place.BarrierUnknown
	switch {
	case ev.Flags&event.CopyPrivate != 0:
		kind = place.BarrierImplicit
	case ev.Runtime == event.Gomp:
		kind = sh.Tree.Answers.SingleBarrier(open.Node.Key.Site, t.Function())
	}
	if ev.Value != 0 {
		sh.mayHaveArrived(t, open.Node, ev.Time)
		open.Parts[profile.Body].C++
		switch kind {
		case place.BarrierExplicit: // nowait
			open.Node.Note(stack.NoteNowaitSingle)
			sh.Pop(t, ev.Time)
		case place.BarrierDropped:
			open.End = stack.LastInRegion
			open.Node.Note(noteLastSingle)
		case place.BarrierUnknown:
			if ev.Runtime == event.Gomp {
				open.End, open.Mark = stack.EndUnknown, ev.Time
			}
		case place.BarrierNone:
			open.Flags, open.InlineEnd = open.Flags|event.Inline, event.EndPoint
		}
		return
	}
	if ev.Flags&event.CopyPrivate != 0 && t.IsPending() {
		sh.Arrive(t, open.Node, open.Node, open.Start)
		sh.Leave(t, ev.Time)
	}
	open.WaitForOther()
	// In a single with copyprivate, the other threads wait in this very call.
	open.Pass(profile.Barrier, ev.Time)
	if kind == place.BarrierExplicit || kind == place.BarrierDropped || kind == place.BarrierNone {
		sh.Pop(t, ev.Time)
		return
	}
	open.Phase, open.Mark = stack.Done, ev.Time
}

// EndsSingle tells whether an event shows that its thread is in no single any more. If the single
// had a barrier, that would have been reported before.
func EndsSingle(ev *event.Event) bool {
	return ev.Edge == event.Open && stack.IsShared(ev.Construct) || ev.Edge == event.End && ev.Construct.IsParallel()
}

// EndSingle ends the body of a single.
func (sh *Constructs) EndSingle(t *stack.Thread, ev *event.Event) {
	i := t.Find(event.Single, func(open *stack.OpenRegion) bool { return open.Phase == stack.InBody })
	if i < 0 {
		sh.Unmatched++
		return
	}
	open := sh.UnwindTo(t, i, ev.Time)
	open.Pass(profile.Body, ev.Time)
	open.Phase, open.Mark = stack.Done, ev.Time
	if open.Flags&event.CopyPrivate != 0 {
		sh.Arrive(t, open.Node, open.Node, ev.Time)
	}
}
