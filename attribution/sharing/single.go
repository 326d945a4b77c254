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
	f := t.Top()
	if f == nil || f.Node.Key.Construct != event.Single || f.Phase != stack.InBody {
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
		kind = sh.Tree.Answers.SingleBarrier(f.Node.Key.Site, t.Function())
	}
	if ev.Value != 0 {
		sh.mayHaveArrived(t, f.Node, ev.Time)
		f.Parts[profile.Body].C++
		switch kind {
		case place.BarrierExplicit: // nowait
			f.Node.Note(stack.NoteNowaitSingle)
			sh.Pop(t, ev.Time)
		case place.BarrierDropped:
			f.End = stack.LastInRegion
			f.Node.Note(noteLastSingle)
		case place.BarrierUnknown:
			if ev.Runtime == event.Gomp {
				f.End, f.Mark = stack.EndUnknown, ev.Time
			}
		case place.BarrierNone:
			f.Flags, f.InlineEnd = f.Flags|event.Inline, event.EndPoint
		}
		return
	}
	if ev.Flags&event.CopyPrivate != 0 && t.IsPending() {
		sh.Arrive(t, f.Node, f.Node, f.Start)
		sh.Leave(t, ev.Time)
	}
	f.WaitForOther()
	// In a single with copyprivate, the other threads wait in this very call.
	f.Pass(profile.Barrier, ev.Time)
	if kind == place.BarrierExplicit || kind == place.BarrierDropped || kind == place.BarrierNone {
		sh.Pop(t, ev.Time)
		return
	}
	f.Phase, f.Mark = stack.Done, ev.Time
}

// EndsSingle tells whether an event shows that its thread is in no single any more. If the single
// had a barrier, that would have been reported before.
func EndsSingle(ev *event.Event) bool {
	return ev.Edge == event.Open && stack.IsShared(ev.Construct) || ev.Edge == event.End && ev.Construct.IsParallel()
}

// EndSingle ends the body of a single.
func (sh *Constructs) EndSingle(t *stack.Thread, ev *event.Event) {
	i := t.Find(event.Single, func(f *stack.OpenRegion) bool { return f.Phase == stack.InBody })
	if i < 0 {
		sh.Unmatched++
		return
	}
	f := sh.UnwindTo(t, i, ev.Time)
	f.Pass(profile.Body, ev.Time)
	f.Phase, f.Mark = stack.Done, ev.Time
	if f.Flags&event.CopyPrivate != 0 {
		sh.Arrive(t, f.Node, f.Node, ev.Time)
	}
}
