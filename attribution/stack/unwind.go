package stack

import (
	"ompp-attach/attribution/ledger"
	"ompp-attach/attribution/tree"
	"ompp-attach/event"
	"ompp-attach/profile"
)

const (
	noteUnwound = "left by an exception or longjmp: their time reaches to the thread's next event"
	NoteMutual  = "entered again from other regions that were entered from it: the inner executions' time is counted here, and left out of those other regions, within which it lay"
	noteNoEnd   = "entered again, or left, before their end marker was reached: their time reaches until then"
)

const NoteNowaitSingle = "single nowait makes no call at its end: its body time is not known and shows as 0"

// LeaveUser closes a user region whose end was not reached. Other constructs opened in it have been
// left with it, except locks, which may still be unset, and user regions of markers.
func (st *Stacks) LeaveUser(t *Thread, i int, at uint64) {
	for j := len(t.Stack) - 1; j > i; j-- {
		switch f := &t.Stack[j]; f.Node.Key.Construct {
		case event.Lock, event.NestLock, event.UserRegion:
		default:
			st.drop(t, j)
		}
	}
	f := &t.Stack[i]
	switch f.UserKind {
	case event.UserMarker:
		f.Node.Note(noteNoEnd)
	default:
		f.Node.Note(noteUnwound)
	}
	f.Parts[profile.Body].T = ledger.Between(f.Mark, at)
	st.Remove(t, i, at)
}

// CloseAt closes the i-th region of a thread's stack at a time. The region keeps its figures until
// then.
func (st *Stacks) CloseAt(t *Thread, i int, at uint64) {
	at -= t.suspendedAt(i)
	if i+1 < len(t.Stack) && tree.IsExecution(t.Stack[i+1].Node.Key.Construct) {
		at = t.Stack[i+1].Start - t.suspendedAt(i) // the region's clock has stood still since then
	}
	f := &t.Stack[i]
	f.Node.Flags |= tree.Unobserved
	if f.Phase == Done {
		st.Remove(t, i, f.Mark)
		return
	}
	f.Uncounted = true
	f.Stop(at)
	st.Remove(t, i, at)
}

// UnwindTo closes all regions inside the i-th region and returns the i-th.
func (st *Stacks) UnwindTo(t *Thread, i int, at uint64) *OpenRegion {
	for len(t.Stack)-1 > i {
		switch f := t.Top(); {
		case f.Phase == Done:
			st.Pop(t, f.Mark)
		case f.Phase == InBody && f.End == LastInRegion && f.Node.Key.Construct == event.Single:
			f.Pass(profile.Body, at)
			st.Pop(t, at)
		case f.IsOpenSingle():
			st.PopSingle(t)
		case f.Node.Key.Construct == event.UserRegion:
			st.LeaveUser(t, len(t.Stack)-1, at)
		default:
			st.Abandon(t)
		}
	}
	return t.Top()
}

// PopSingle closes an open single whose thread turns out to have gone on.
func (st *Stacks) PopSingle(t *Thread) {
	f := t.Top()
	f.Node.Note(NoteNowaitSingle)
	st.Pop(t, f.Mark)
}
