package attribution

import (
	"slices"

	"ompp-attach/attribution/ledger"
	"ompp-attach/attribution/place"
	"ompp-attach/attribution/tree"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// User regions: functions, lines and marked stretches of the program's own code. Plain probes
// report where they are entered and left. An exception or a longjmp may leave them without passing
// such a probe. Stacks grow down, so an event whose stack pointer lies above that of a function's
// entry shows that the function has been left.

const (
	noteUnwound = "left by an exception or longjmp: their time reaches to the thread's next event"
	noteMutual  = "entered again from other regions that were entered from it: the inner executions' time is counted here, and left out of those other regions, within which it lay"
	noteNoEnd   = "entered again, or left, before their end marker was reached: their time reaches until then"
)

// sameStackDistance is how far apart two stack pointers of one stack may lie (bytes) when nothing
// else tells. Pointers further apart belong to two stacks, for example to that of a coroutine or a
// signal handler. The stacks of threads have megabytes. Those of coroutines mostly have 64 KiB and
// more, of which they use the uppermost part.
const sameStackDistance = 256 << 10

// users applies the events of user regions.
type users struct {
	*stacks
	hasUser bool // user regions occur
}

// MainStack sets the bounds of the process's first stack: all addresses in it belong to one stack.
func (e *Engine) MainStack(lo, hi uint64) { e.stackLo, e.stackHi = lo, hi }

func (st *stacks) sameStack(a, b uint64) bool {
	in := func(x uint64) bool { return st.stackLo <= x && x < st.stackHi }
	if in(a) || in(b) {
		return in(a) && in(b)
	}
	return max(a, b)-min(a, b) <= sameStackDistance
}

// leaveLeft closes functions that the stack pointer of an event shows to have been left.
func (us *users) leaveLeft(t *thread, ev *event.Event) {
	if us.hasUser && ev.SP != 0 {
		us.leaveUnwound(t, ev, ev.SP)
	}
}

func (us *users) enterUser(t *thread, ev *event.Event) {
	us.hasUser = true
	above := ev.SP
	if ev.Value == event.UserFunction {
		above++ // a function entered at the same stack pointer has replaced the other one
	}
	us.leaveUnwound(t, ev, above)
	k := place.Key{Kind: place.Kind{Construct: event.UserRegion}, Site: ev.Site, Fn: ev.Fn}
	if ev.Value != event.UserFunction {
		// The same code in the same call of its function.
		if i := t.find(event.UserRegion, func(f *frame) bool { return f.node.Key == k && f.sp == ev.SP }); i >= 0 {
			if ev.Value == event.UserLinesAgain {
				return
			}
			us.leaveUser(t, i, ev.Time)
		}
	}
	var f *frame
	if outer := t.enteredFromOther(k); outer != nil {
		f = t.open(outer, ev)
		f.inner = true
		outer.Note(noteMutual)
	} else {
		f = us.push(t, k, ev)
	}
	f.kind, f.phase, f.Parts[profile.Body].C = uint8(ev.Value), inBody, 1
	if f.kind == event.UserLinesAgain {
		f.kind = event.UserLines
	}
	if ev.Flags&event.FreeAtOnce != 0 { // the same instruction leaves the region
		us.pop(t, ev.Time)
	}
}

// enteredFromOther returns the outer execution's node if a user region is entered again from
// another one that was entered from it, otherwise nil. Paths of regions that call each other would
// grow with every call. So the inner execution uses the node of the outer one, whose time holds the
// inner time, and the regions between are suspended meanwhile. A function that calls only itself
// has a node for every level.
func (t *thread) enteredFromOther(k place.Key) *tree.Node {
	others := false
	for i := len(t.stack) - 1; i >= 0; i-- {
		f := &t.stack[i]
		switch {
		case isContext(f.node.Key.Construct):
			return nil
		case f.node.Key.Construct != event.UserRegion:
		case f.node.Key != k:
			others = true
		case others || f.inner:
			return f.node
		default:
			return nil
		}
	}
	return nil
}

// outer returns the index of the outer execution whose time contains that of the i-th frame, or -1.
func (t *thread) outer(i int) int {
	if !t.stack[i].inner {
		return -1
	}
	n := t.stack[i].node
	for i--; i >= 0 && t.stack[i].node != n; i-- {
	}
	return i
}

// exitUser closes the execution that ends. Of the executions of a recursive function, that is the
// one whose entry lies least above the current stack pointer.
func (us *users) exitUser(t *thread, ev *event.Event) {
	at := -1
	for i := len(t.stack) - 1; i >= 0; i-- {
		f := &t.stack[i]
		if isContext(f.node.Key.Construct) {
			break
		}
		if f.node.Key.Construct != event.UserRegion || f.node.Key.Site != ev.Site || f.node.Key.Fn != ev.Fn {
			continue
		}
		if f.kind != event.UserFunction {
			at = i
			break
		}
		if f.sp >= ev.SP && (ev.Value != event.UserJump || f.sp == ev.SP) && (at < 0 || f.sp < t.stack[at].sp) {
			at = i
		}
	}
	if at < 0 {
		switch ev.Value {
		// Mostly the jump of a switch, or a last line that was reached another way.
		case event.UserJump, event.UserLines:
		default:
			us.unmatched++
		}
		return
	}
	sp := t.stack[at].sp
	for i := len(t.stack) - 1; i > at; i-- {
		switch f := &t.stack[i]; {
		case f.node.Key.Construct != event.UserRegion:
		case t.stack[at].kind == event.UserMarker:
			if f.kind == event.UserMarker {
				us.leaveUser(t, i, ev.Time)
			}
		case f.kind != event.UserMarker && f.sp <= sp && us.sameStack(f.sp, sp):
			us.leaveUser(t, i, ev.Time)
		}
	}
	f := &t.stack[at]
	f.Parts[profile.Body].T = ledger.Span(f.Mark, ev.Time)
	us.remove(t, at, ev.Time)
}

// leaveUnwound closes the functions whose stack frames lie below the address sp, from the innermost
// one outwards. It stops at the first function on another stack.
func (us *users) leaveUnwound(t *thread, ev *event.Event, sp uint64) {
	lowest, near, last := -1, false, uint64(0)
	for i := len(t.stack) - 1; i >= 0; i-- {
		f := &t.stack[i]
		if isContext(f.node.Key.Construct) {
			break
		}
		if f.node.Key.Construct != event.UserRegion || f.kind == event.UserMarker {
			continue
		}
		if last == 0 && f.sp >= sp {
			return // the usual case
		}
		if last != 0 && !us.sameStack(f.sp, last) {
			break
		}
		last = f.sp
		near = near || us.sameStack(f.sp, sp)
		if f.sp >= sp {
			break
		}
		lowest = i
	}
	if !near || lowest < 0 {
		return
	}
	for i := len(t.stack) - 1; i >= lowest; i-- {
		if f := &t.stack[i]; f.node.Key.Construct == event.UserRegion && f.kind != event.UserMarker {
			us.leaveUser(t, i, ev.Time)
		}
	}
}

// leaveUser closes a user region whose end was not reached. Other constructs opened in it have been
// left with it, except locks, which may still be unset, and user regions of markers.
func (st *stacks) leaveUser(t *thread, i int, at uint64) {
	for j := len(t.stack) - 1; j > i; j-- {
		switch f := &t.stack[j]; f.node.Key.Construct {
		case event.Lock, event.NestLock, event.UserRegion:
		default:
			st.drop(t, j)
		}
	}
	f := &t.stack[i]
	switch f.kind {
	case event.UserMarker:
		f.node.Note(noteNoEnd)
	default:
		f.node.Note(noteUnwound)
	}
	f.Parts[profile.Body].T = ledger.Span(f.Mark, at)
	st.remove(t, i, at)
}

// outsideAll moves user regions from below the node for a region under way at attach to the root,
// when the thread turns out to be in no region.
func (st *stacks) outsideAll(t *thread) {
	open, was := slices.Clone(t.stack[1:]), t.stack[0]
	t.stack, t.known = t.stack[:0], false
	st.initial(t)
	was.node.Outside, was.node.RowWas, was.node.RowNow = true, was.row, t.row
	parent := st.tree.Root
	moved := map[*tree.Node]*tree.Node{}
	for _, f := range open {
		if to := moved[f.node]; to != nil {
			f.node = to
		} else {
			to = st.tree.Child(parent, f.node.Key)
			moved[f.node], f.node = to, to
		}
		f.row = t.row
		parent = f.node
		t.stack = append(t.stack, f)
	}
}

// userOnly reports whether only user regions are open above the bottom frame.
func (t *thread) userOnly() bool {
	return !slices.ContainsFunc(t.stack[1:], func(f frame) bool { return f.node.Key.Construct != event.UserRegion })
}
