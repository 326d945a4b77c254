package user

import (
	"ompp-attach/attribution/ledger"
	"ompp-attach/attribution/stack"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// Functions of libraries' levels are user regions, too. Only calls from outside of a level count. A
// function may end in a jump to a second function. The second one then returns in place of both,
// with the same stack pointer. So the stack pointer alone tells which executions end.

// isInner reports whether a beginning is no call from outside of its level: a function of the same
// level made the call, or jumped here.
func (us *Regions) isInner(t *stack.Thread, ev *event.Event) bool {
	us.leaveUnwound(t, ev, ev.SP)
	for i := len(t.Stack) - 1; i >= 0; i-- {
		open := &t.Stack[i]
		if stack.IsContext(open.Node.Key.Construct) {
			break
		}
		if open.Node.Key.Construct != event.UserRegion || open.UserKind < event.UserLevel {
			continue
		}
		if open.UserKind != uint8(ev.Value) {
			if open.Node.Key.Element() != ev.Element() {
				break // an execution that it has called may not have been seen
			}
			return false
		}
		return ev.Flags&event.Inside != 0 || ev.Value&event.UserContinues != 0 && open.Sp == ev.SP
	}
	return us.mayBeInner(t, ev)
}

// mayBeInner is asked of a call that the library itself made while no execution of its level is
// known. It reports whether such an execution may have begun while the level's probes were removed.
// Then the call is not counted, so that the count is never above the true one.
func (us *Regions) mayBeInner(t *stack.Thread, ev *event.Event) bool {
	if ev.Flags&event.Inside == 0 || t.Gone&us.kinds[uint8(ev.Value)] == 0 {
		return false
	}
	us.Unsure |= event.SetOf(ev.Element())
	return true
}

// exitLevel ends the execution whose stack frame began at the event's stack pointer, and the
// executions that jumped to it. At the end of a call that was not counted, there is no such
// execution.
func (us *Regions) exitLevel(t *stack.Thread, ev *event.Event) {
	lowest, matches := -1, false
	for i := len(t.Stack) - 1; i >= 0; i-- {
		open := &t.Stack[i]
		if stack.IsContext(open.Node.Key.Construct) {
			break
		}
		if open.Node.Key.Construct == event.UserRegion && open.UserKind >= event.UserLevel && open.Sp == ev.SP {
			lowest, matches = i, matches || open.UserKind == uint8(ev.Value)
		}
	}
	if !matches {
		return
	}
	sp := t.Stack[lowest].Sp
	for i := len(t.Stack) - 1; i >= lowest; i-- {
		open := &t.Stack[i]
		if open.Node.Key.Construct != event.UserRegion || open.UserKind == event.UserMarker || open.Sp > sp || !us.SameStack(open.Sp, sp) {
			continue
		}
		open.Parts[profile.Body].T = ledger.Between(open.Mark, ev.Time)
		us.Remove(t, i, ev.Time)
	}
}
