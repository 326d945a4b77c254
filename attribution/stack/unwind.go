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
		switch open := &t.Stack[j]; open.Node.Key.Construct {
		case event.Lock, event.NestLock, event.UserRegion:
		default:
			st.drop(t, j)
		}
	}
	open := &t.Stack[i]
	switch open.UserKind {
	case event.UserMarker:
		open.Node.Note(noteNoEnd)
	default:
		open.Node.Note(noteUnwound)
	}
	open.Parts[profile.Body].T = ledger.Between(open.Mark, at)
	st.Remove(t, i, at)
}

// CloseAt closes the i-th region of a thread's stack at a time. The region keeps its figures until
// then.
func (st *Stacks) CloseAt(t *Thread, i int, at uint64) {
	at -= t.suspendedAt(i)
	if i+1 < len(t.Stack) && tree.IsExecution(t.Stack[i+1].Node.Key.Construct) {
		at = t.Stack[i+1].Start - t.suspendedAt(i) // the region's clock has stood still since then
	}
	open := &t.Stack[i]
	open.Node.Flags |= tree.Unobserved
	if open.Phase == Done {
		st.Remove(t, i, open.Mark)
		return
	}
	open.Uncounted = true
	open.Stop(at)
	st.Remove(t, i, at)
}

// UnwindTo closes all regions inside the i-th region and returns the i-th.
func (st *Stacks) UnwindTo(t *Thread, i int, at uint64) *OpenRegion {
	for len(t.Stack)-1 > i {
		switch open := t.Top(); {
		case open.Phase == Done:
			st.Pop(t, open.Mark)
		case open.Phase == InBody && open.End == LastInRegion && open.Node.Key.Construct == event.Single:
			open.Pass(profile.Body, at)
			st.Pop(t, at)
		case open.IsOpenSingle():
			st.PopSingle(t)
		case open.Node.Key.Construct == event.UserRegion:
			st.LeaveUser(t, len(t.Stack)-1, at)
		default:
			st.Abandon(t)
		}
	}
	return t.Top()
}

// PopSingle closes an open single whose thread turns out to have gone on.
func (st *Stacks) PopSingle(t *Thread) {
	open := t.Top()
	open.Node.Note(NoteNowaitSingle)
	st.Pop(t, open.Mark)
}
