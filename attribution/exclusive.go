package attribution

import (
	"slices"

	"ompp-attach/attribution/ledger"
	"ompp-attach/attribution/stack"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// Constructs that one thread executes by itself: critical, lock, ordered, master, atomic, flush.

// exclusive applies the events of constructs that one thread executes by itself.
type exclusive struct {
	*stack.Stacks
	*threads
	// Locks that were unset by a thread other than the holder, read before the holder's events.
	foreign []foreignRelease
}

// enterMaster applies the call for a master construct: all threads ask the runtime, only the
// primary thread executes the body.
func (ex *exclusive) enterMaster(t *stack.Thread, ev *event.Event) {
	if t.Bears(0) {
		ex.enter(t, ev)
	}
}

func (ex *exclusive) enterMasked(t *stack.Thread, ev *event.Event) {
	if t.Bears(int32(ev.Value)) {
		ex.enter(t, ev)
	}
}

func (ex *exclusive) enterTarget(t *stack.Thread, ev *event.Event) {
	if !t.TargetAgain(ev) {
		ex.enter(t, ev)
	}
}

// enter applies a thread's request for a construct that it executes by itself.
func (ex *exclusive) enter(t *stack.Thread, ev *event.Event) {
	k := t.Key(motion(ev), ev)
	// __kmpc_critical ends in a jump to __kmpc_critical_with_hint: one call,
	// two probes. The second finds the first one's return probe in place of
	// the return address, so the sites differ.
	if r := t.Top(); r != nil && r.Phase == stack.Entering && r.Node.Key.Construct == ev.Construct && r.Sp == ev.SP {
		return
	}
	r := ex.Push(t, k, ev)
	r.Resource = ev.Fn
	r.Phase = stack.Entering
	if ev.Flags&(event.FreeAtOnce|event.NoReturn) != 0 {
		r.Phase, r.Parts[profile.Body].C, r.Parts[profile.Enter].C = stack.InBody, 1, 1
	}
}

func isEntering(r *stack.OpenRegion) bool { return r.Phase == stack.Entering }

// entering returns the index of the innermost region of a construct that the thread waits to enter.
// If there is none, ok is false, and the event counts as unmatched.
func (ex *exclusive) entering(t *stack.Thread, c event.Construct) (i int, ok bool) {
	if i = t.Find(c, isEntering); i < 0 {
		ex.Unmatched++
	}
	return i, i >= 0
}

func (ex *exclusive) acquired(t *stack.Thread, ev *event.Event) {
	i := t.Find(ev.Construct, isEntering)
	if i < 0 {
		if bodyEnds(ev) {
			return // the end of the body is counted as unmatched instead
		}
		if t.Find(ev.Construct, nil) < 0 {
			ex.Unmatched++
		}
		return // it had been free, or was entered before measurement began
	}
	r := &t.Stack[i]
	if t.OffCore != nil {
		t.AskLock(r, ev.Time)
	}
	r.Pass(profile.Enter, ev.Time)
	r.Parts[profile.Enter].C++
	if r.Flags&event.Whole != 0 {
		ex.Remove(t, i, ev.Time)
		return
	}
	r.Phase, r.Mark, r.Parts[profile.Body].C = stack.InBody, ev.Time, r.Parts[profile.Body].C+1
}

// bodyEnds tells whether an event will follow that ends the body of the acquired construct.
func bodyEnds(acquired *event.Event) bool {
	switch acquired.Construct {
	case event.Critical, event.Ordered, event.Lock, event.NestLock, event.Atomic:
		return acquired.Flags&event.Whole == 0
	}
	return false
}

func (ex *exclusive) release(t *stack.Thread, ev *event.Event) {
	match := func(r *stack.OpenRegion) bool { return r.Phase != stack.Leaving }
	if ev.Construct == event.Lock || ev.Construct == event.NestLock {
		match = func(r *stack.OpenRegion) bool { return r.Resource == ev.Fn && r.Phase != stack.Leaving }
	}
	i := t.Find(ev.Construct, match)
	if i < 0 {
		switch ev.Construct {
		case event.Master: // only the primary thread ends it
			t.Primary = true
		case event.Masked:
		case event.Reduction: // a reduction by atomics has ended already
		case event.Lock, event.NestLock:
			ex.releaseForeign(ev)
		default:
			ex.Unmatched++
		}
		return
	}
	r := &t.Stack[i]
	if ev.Construct == event.Target && r.TargetInner() {
		return
	}
	if t.Interval != nil {
		t.NoteUse(i, ev.Time)
	}
	r.Pass(profile.Body, ev.Time)
	r.Phase, r.Mark = stack.Leaving, ev.Time
	if ev.Flags&(event.FreeAtOnce|event.NoReturn) != 0 {
		ex.Remove(t, i, ev.Time)
	}
}

// foreignRelease is the release of a lock by a thread that did not set it. OpenMP forbids that, but
// programs do it, and the holder must not stay inside the lock for ever. Events of the holder after
// the release that were read before it stay inside the lock's region.
type foreignRelease struct {
	construct event.Construct
	lock      uint64
	at        uint64
}

func (ex *exclusive) releaseForeign(ev *event.Event) {
	ex.Unmatched++
	r := foreignRelease{ev.Construct, ev.Fn, ev.Time}
	for _, t := range ex.threads.byID {
		if ex.endForeign(t, r) {
			return
		}
	}
	const few = 64 // the events in which the holder sets it have not been read yet
	if len(ex.foreign) < few {
		ex.foreign = append(ex.foreign, r)
	}
}

// endForeign closes the lock's region if the thread t held the lock at the time of the release.
func (ex *exclusive) endForeign(t *stack.Thread, r foreignRelease) bool {
	i := t.Find(r.construct, func(open *stack.OpenRegion) bool {
		return open.Resource == r.lock && open.Phase == stack.InBody && open.Mark <= r.at
	})
	if i < 0 {
		return false
	}
	open := &t.Stack[i]
	open.Node.Note("released by another thread than the one that had set it")
	open.Uncounted = true
	open.Pass(profile.Body, r.at)
	ex.Remove(t, i, r.at)
	return true
}

// endForeigns closes the locks of a thread that other threads have released before a time.
func (ex *exclusive) endForeigns(t *stack.Thread, now uint64) {
	ex.foreign = slices.DeleteFunc(ex.foreign, func(r foreignRelease) bool { return r.at <= now && ex.endForeign(t, r) })
}

func (ex *exclusive) released(t *stack.Thread, ev *event.Event) {
	if ev.Flags&event.Whole != 0 {
		ex.endWhole(t, ev)
		return
	}
	i := t.Find(ev.Construct, func(r *stack.OpenRegion) bool {
		// A flush, or an atomic that is one call, has no body.
		return r.Phase == stack.Leaving || ev.Construct == event.Flush || ev.Construct == event.Atomic && r.Phase == stack.Entering
	})
	if i < 0 {
		return // it has no leaving phase, and is closed already
	}
	r := &t.Stack[i]
	r.Pass(profile.Exit, ev.Time)
	if t.Interval != nil {
		t.NoteUseOver(i, ev.Time)
	}
	ex.Remove(t, i, ev.Time)
}

// tested applies the result of a lock test: the thread has the lock, or there was no region.
func (ex *exclusive) tested(t *stack.Thread, ev *event.Event) {
	i, ok := ex.entering(t, ev.Construct)
	if !ok {
		return
	}
	if ev.Value != 0 {
		ex.acquired(t, ev)
		return
	}
	if r := &t.Stack[i]; t.Interval != nil && t.Interval.Noting() {
		d := ledger.Between(r.Mark, ev.Time)
		t.Interval.Folded(r.Node, r.Node.Parent, t.Seat, -d, -d)
	}
	ex.Disown(t, i)
	t.Stack = append(t.Stack[:i], t.Stack[i+1:]...) // the time of a failed test is its parent's own
}

// cancelled applies the runtime's answer whether the region is cancelled.
func (ex *exclusive) cancelled(t *stack.Thread, ev *event.Event) {
	i, ok := ex.entering(t, ev.Construct)
	if !ok {
		return
	}
	r := &t.Stack[i]
	r.Pass(profile.Body, ev.Time)
	if ev.Value != 0 {
		r.Parts[profile.Body].C++
		ex.BreakWaits(t) // the thread may leave out barriers
		t.Tear()         // the other threads need not come to its barriers
	}
	ex.Remove(t, i, ev.Time)
}

// reduces applies the runtime's answer whether the thread combines its result.
func (ex *exclusive) reduces(t *stack.Thread, ev *event.Event) {
	i, ok := ex.entering(t, event.Reduction)
	if !ok {
		return
	}
	r := &t.Stack[i]
	r.Pass(profile.Enter, ev.Time)
	r.Parts[profile.Enter].C++
	r.Phase, r.Mark = stack.InBody, ev.Time
	const combine = 1
	if ev.Value == combine {
		r.Parts[profile.Body].C++
		return
	}
	ex.Remove(t, i, ev.Time)
}

// endWhole ends a directive without a body. Its time counts as leaving.
func (ex *exclusive) endWhole(t *stack.Thread, ev *event.Event) {
	r := t.Top()
	if r == nil || r.Flags&event.Whole == 0 {
		ex.Unmatched++
		return
	}
	r.Pass(profile.Exit, ev.Time)
	ex.Pop(t, ev.Time)
}

// motion tells two directives of libgomp apart that make the same call (GOMP_TARGET_FLAG_EXIT_DATA,
// gomp-constants.h).
func motion(ev *event.Event) event.Construct {
	const exitData = 2
	if ev.Construct == event.TargetEnterData && ev.Runtime == event.Gomp && ev.Value&exitData != 0 {
		return event.TargetExitData
	}
	return ev.Construct
}
