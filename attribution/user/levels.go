package user

import (
	"ompp-attach/attribution/ledger"
	"ompp-attach/attribution/stack"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// Functions of libraries' levels are user regions, too. Only calls from outside of a level count. A
// function that ends in a jump to another one leaves its return address to that one, whose end is
// then the end of both: so the stack pointer alone tells which executions end.

// isInner reports whether a beginning is no call from outside of its level: a function of the same
// level made the call, or jumped here.
func (us *Regions) isInner(t *stack.Thread, ev *event.Event) bool {
	us.leaveUnwound(t, ev, ev.SP)
	for i := len(t.Stack) - 1; i >= 0; i-- {
		f := &t.Stack[i]
		if stack.IsContext(f.Node.Key.Construct) {
			break
		}
		if f.Node.Key.Construct != event.UserRegion || f.UserKind < event.UserLevel {
			continue
		}
		if f.UserKind != uint8(ev.Value) {
			if f.Node.Key.Element() != ev.Element() {
				break // an execution that it has called may not have been seen
			}
			return false
		}
		return ev.Flags&event.Inside != 0 || ev.Value&event.UserContinues != 0 && f.Sp == ev.SP
	}
	return us.mayBeInner(t, ev)
}

// mayBeInner reports whether a call that the library itself made, in no known execution of its
// level, may lie in an execution that began while probes of the level were away. Such a call is not
// counted, so that no more is counted than was executed.
func (us *Regions) mayBeInner(t *stack.Thread, ev *event.Event) bool {
	if ev.Flags&event.Inside == 0 || t.Gone&us.kinds[uint8(ev.Value)] == 0 {
		return false
	}
	us.Unsure |= event.SetOf(ev.Element())
	return true
}

// exitLevel ends the execution whose stack frame began at the event's stack pointer, and those that
// jumped to it. The end of a call that was not counted finds none.
func (us *Regions) exitLevel(t *stack.Thread, ev *event.Event) {
	lowest, matches := -1, false
	for i := len(t.Stack) - 1; i >= 0; i-- {
		f := &t.Stack[i]
		if stack.IsContext(f.Node.Key.Construct) {
			break
		}
		if f.Node.Key.Construct == event.UserRegion && f.UserKind >= event.UserLevel && f.Sp == ev.SP {
			lowest, matches = i, matches || f.UserKind == uint8(ev.Value)
		}
	}
	if !matches {
		return
	}
	sp := t.Stack[lowest].Sp
	for i := len(t.Stack) - 1; i >= lowest; i-- {
		f := &t.Stack[i]
		if f.Node.Key.Construct != event.UserRegion || f.UserKind == event.UserMarker || f.Sp > sp || !us.SameStack(f.Sp, sp) {
			continue
		}
		f.Parts[profile.Body].T = ledger.Span(f.Mark, ev.Time)
		us.Remove(t, i, ev.Time)
	}
}
