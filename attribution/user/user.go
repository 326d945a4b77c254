// Package user applies the events of user regions: functions, lines and marked stretches of the
// program's own code. Probes on instructions report where a region is entered and left. An
// exception or a longjmp may leave a region without passing such a probe. Stacks grow down. So if
// the stack pointer of an event lies above the stack pointer at a function's entry, the function
// has been left.
package user

import (
	"ompp-attach/attribution/ledger"
	"ompp-attach/attribution/place"
	"ompp-attach/attribution/stack"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// Regions are the user regions of a process.
type Regions struct {
	*stack.Stacks
	occur bool // some thread has entered one
	// kinds are the kinds of levels (event.LevelKinds) of which functions were called, by level.
	kinds [1 << 8]event.Constructs
}

// LeaveLeft closes functions that the stack pointer of an event shows to have been left.
func (us *Regions) LeaveLeft(t *stack.Thread, ev *event.Event) {
	if us.occur && ev.SP != 0 {
		us.leaveUnwound(t, ev, ev.SP)
	}
}

// Enter opens the region whose beginning an event reports.
func (us *Regions) Enter(t *stack.Thread, ev *event.Event) {
	us.occur = true
	if ev.Value >= event.UserLevel {
		us.kinds[uint8(ev.Value)] |= event.SetOf(ev.Element())
		if us.isInner(t, ev) {
			return
		}
	}
	above := ev.SP
	if ev.Value == event.UserFunction || ev.Value >= event.UserLevel && ev.Value&event.UserContinues == 0 {
		above++ // a function entered at the same stack pointer has replaced the other one
	}
	us.leaveUnwound(t, ev, above)
	k := place.Key{RuntimeConstruct: place.RuntimeConstruct{Construct: event.UserRegion}, Site: ev.Site, Fn: ev.Fn}
	if ev.Value != event.UserFunction && ev.Value < event.UserLevel {
		// The region may be open already, in the same call of its function.
		if i := t.Find(event.UserRegion, func(open *stack.OpenRegion) bool { return open.Node.Key == k && open.Sp == ev.SP }); i >= 0 {
			if ev.Value == event.UserLinesAgain {
				return
			}
			us.LeaveUser(t, i, ev.Time)
		}
	}
	var open *stack.OpenRegion
	if outer := t.EnteredFromOther(k); outer != nil {
		open = t.Open(outer, ev)
		open.Opened(t.Suspended)
		open.Inner = true
		outer.Note(stack.NoteMutual)
	} else {
		open = us.Push(t, k, ev)
	}
	open.UserKind, open.Phase, open.Parts[profile.Body].C = uint8(ev.Value), stack.InBody, 1
	if open.UserKind == event.UserLinesAgain {
		open.UserKind = event.UserLines
	}
	if ev.Flags&event.FreeAtOnce != 0 { // the same instruction leaves the region
		us.Pop(t, ev.Time)
	}
}

// Exit closes the execution whose end an event reports. Of the executions of a recursive function,
// that is the one whose entry lies least above the current stack pointer.
func (us *Regions) Exit(t *stack.Thread, ev *event.Event) {
	if ev.Value >= event.UserLevel {
		us.exitLevel(t, ev)
		return
	}
	at := -1
	for i := len(t.Stack) - 1; i >= 0; i-- {
		open := &t.Stack[i]
		if stack.IsContext(open.Node.Key.Construct) {
			break
		}
		if open.Node.Key.Construct != event.UserRegion || open.Node.Key.Site != ev.Site || open.Node.Key.Fn != ev.Fn {
			continue
		}
		if open.UserKind != event.UserFunction {
			at = i
			break
		}
		if open.Sp >= ev.SP && (ev.Value != event.UserJump || open.Sp == ev.SP) && (at < 0 || open.Sp < t.Stack[at].Sp) {
			at = i
		}
	}
	if at < 0 {
		switch ev.Value {
		// Mostly the jump of a switch, or a last line that was reached another way.
		case event.UserJump, event.UserLines:
		default:
			us.Unmatched++
		}
		return
	}
	sp := t.Stack[at].Sp
	for i := len(t.Stack) - 1; i > at; i-- {
		switch open := &t.Stack[i]; {
		case open.Node.Key.Construct != event.UserRegion:
		case t.Stack[at].UserKind == event.UserMarker:
			if open.UserKind == event.UserMarker {
				us.LeaveUser(t, i, ev.Time)
			}
		case open.UserKind != event.UserMarker && open.Sp <= sp && us.SameStack(open.Sp, sp):
			us.LeaveUser(t, i, ev.Time)
		}
	}
	open := &t.Stack[at]
	open.Parts[profile.Body].T = ledger.Between(open.Mark, ev.Time)
	us.Remove(t, at, ev.Time)
}

// leaveUnwound closes the functions whose stack frames lie below the address sp, from the innermost
// one outwards. It stops at the first function on another stack.
func (us *Regions) leaveUnwound(t *stack.Thread, ev *event.Event, sp uint64) {
	lowest, near, last := -1, false, uint64(0)
	for i := len(t.Stack) - 1; i >= 0; i-- {
		open := &t.Stack[i]
		if stack.IsContext(open.Node.Key.Construct) {
			break
		}
		if open.Node.Key.Construct != event.UserRegion || open.UserKind == event.UserMarker {
			continue
		}
		if last == 0 && open.Sp >= sp {
			return // the usual case
		}
		if last != 0 && !us.SameStack(open.Sp, last) {
			break
		}
		last = open.Sp
		near = near || us.SameStack(open.Sp, sp)
		if open.Sp >= sp {
			break
		}
		lowest = i
	}
	if !near || lowest < 0 {
		return
	}
	for i := len(t.Stack) - 1; i >= lowest; i-- {
		if open := &t.Stack[i]; open.Node.Key.Construct == event.UserRegion && open.UserKind != event.UserMarker {
			us.LeaveUser(t, i, ev.Time)
		}
	}
}
