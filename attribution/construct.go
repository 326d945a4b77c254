package attribution

import (
	"slices"

	"ompp-attach/attribution/place"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// Constructs that one thread executes by itself: critical, lock, ordered, master, atomic, flush.

// exclusive applies the events of constructs that one thread executes by itself.
type exclusive struct {
	*stacks
	*threads
	// Locks that were unset by a thread other than the holder, read before the holder's events.
	foreign []foreignRelease
}

// key identifies the construct that a call starts. If the call returns into the runtime itself, the
// compiler made it the last jump of an outlined function. Then the function identifies the place.
func (t *thread) key(c event.Construct, ev *event.Event) place.Key {
	k := place.Key{Kind: place.Kind{Construct: c, Runtime: ev.Runtime}, Site: ev.Site, Loc: ev.Loc}
	if ev.Flags&event.Inside != 0 {
		if i := t.context(); i >= 0 && t.stack[i].node.Key.Fn != 0 {
			k.Fn, k.Site = t.stack[i].node.Key.Fn, 0
			return k
		}
	}
	if c == event.Critical {
		k.Fn = ev.Fn // the lock of a named critical identifies the name
	}
	return k
}

// bears reports whether a thread has the number num in its team. For a thread that was inside a
// region when measurement began, the number is not known. Only the primary thread may have shown
// that it is number 0.
func (t *thread) bears(num int32) bool {
	if !t.known && len(t.stack) > 0 && t.stack[0].node.Existing {
		return num == 0 && t.primary
	}
	return t.num == num
}

// enterMaster applies the call for a master construct: all threads ask the runtime, only the
// primary thread executes the body.
func (ex *exclusive) enterMaster(t *thread, ev *event.Event) {
	if t.bears(0) {
		ex.enter(t, ev)
	}
}

func (ex *exclusive) enterMasked(t *thread, ev *event.Event) {
	if t.bears(int32(ev.Value)) {
		ex.enter(t, ev)
	}
}

func (ex *exclusive) enterTarget(t *thread, ev *event.Event) {
	if !t.targetAgain(ev) {
		ex.enter(t, ev)
	}
}

// enter applies a thread's request for a construct that it executes by itself.
func (ex *exclusive) enter(t *thread, ev *event.Event) {
	k := t.key(motion(ev), ev)
	// __kmpc_critical ends in a jump to __kmpc_critical_with_hint: one call,
	// two probes. The second finds the first one's return probe in place of
	// the return address, so the sites differ.
	if f := t.top(); f != nil && f.phase == entering && f.node.Key.Construct == ev.Construct && f.sp == ev.SP {
		return
	}
	f := ex.push(t, k, ev)
	f.resource = ev.Fn
	f.phase = entering
	if ev.Flags&(event.FreeAtOnce|event.NoReturn) != 0 {
		f.phase, f.Parts[profile.Body].C, f.Parts[profile.Enter].C = inBody, 1, 1
	}
}

func (ex *exclusive) acquired(t *thread, ev *event.Event) {
	i := t.find(ev.Construct, func(f *frame) bool { return f.phase == entering })
	if i < 0 {
		if bodyEnds(ev) {
			return // the end of the body is counted as unmatched instead
		}
		if t.find(ev.Construct, nil) < 0 {
			ex.unmatched++
		}
		return // it had been free, or was entered before measurement began
	}
	f := &t.stack[i]
	f.Pass(profile.Enter, ev.Time)
	f.Parts[profile.Enter].C++
	if f.flags&event.Whole != 0 {
		ex.remove(t, i, ev.Time)
		return
	}
	f.phase, f.Mark, f.Parts[profile.Body].C = inBody, ev.Time, f.Parts[profile.Body].C+1
}

// bodyEnds tells whether an event will follow that ends the body of the acquired construct.
func bodyEnds(acquired *event.Event) bool {
	switch acquired.Construct {
	case event.Critical, event.Ordered, event.Lock, event.NestLock, event.Atomic:
		return acquired.Flags&event.Whole == 0
	}
	return false
}

func (ex *exclusive) release(t *thread, ev *event.Event) {
	match := func(f *frame) bool { return f.phase != leaving }
	if ev.Construct == event.Lock || ev.Construct == event.NestLock {
		match = func(f *frame) bool { return f.resource == ev.Fn && f.phase != leaving }
	}
	i := t.find(ev.Construct, match)
	if i < 0 {
		switch ev.Construct {
		case event.Master: // only the primary thread ends it
			t.primary = true
		case event.Masked:
		case event.Reduction: // a reduction by atomics has ended already
		case event.Lock, event.NestLock:
			ex.releaseForeign(ev)
		default:
			ex.unmatched++
		}
		return
	}
	f := &t.stack[i]
	if ev.Construct == event.Target && f.targetInner() {
		return
	}
	f.Pass(profile.Body, ev.Time)
	f.phase, f.Mark = leaving, ev.Time
	if ev.Flags&(event.FreeAtOnce|event.NoReturn) != 0 {
		ex.remove(t, i, ev.Time)
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
	ex.unmatched++
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
func (ex *exclusive) endForeign(t *thread, r foreignRelease) bool {
	i := t.find(r.construct, func(f *frame) bool { return f.resource == r.lock && f.phase == inBody && f.Mark <= r.at })
	if i < 0 {
		return false
	}
	f := &t.stack[i]
	f.node.Note("released by another thread than the one that had set it")
	f.Uncounted = true
	f.Pass(profile.Body, r.at)
	ex.remove(t, i, r.at)
	return true
}

// endForeigns closes the locks of a thread that other threads have released before a time.
func (ex *exclusive) endForeigns(t *thread, now uint64) {
	ex.foreign = slices.DeleteFunc(ex.foreign, func(r foreignRelease) bool { return r.at <= now && ex.endForeign(t, r) })
}

func (ex *exclusive) released(t *thread, ev *event.Event) {
	if ev.Flags&event.Whole != 0 {
		ex.endWhole(t, ev)
		return
	}
	i := t.find(ev.Construct, func(f *frame) bool {
		// A flush, or an atomic that is one call, has no body.
		return f.phase == leaving || ev.Construct == event.Flush || ev.Construct == event.Atomic && f.phase == entering
	})
	if i < 0 {
		return // it has no leaving phase, and is closed already
	}
	f := &t.stack[i]
	f.Pass(profile.Exit, ev.Time)
	ex.remove(t, i, ev.Time)
}

// tested applies the result of a lock test: the thread has the lock, or there was no region.
func (ex *exclusive) tested(t *thread, ev *event.Event) {
	i := t.find(ev.Construct, func(f *frame) bool { return f.phase == entering })
	if i < 0 {
		ex.unmatched++
		return
	}
	if ev.Value != 0 {
		ex.acquired(t, ev)
		return
	}
	ex.disown(t, i)
	t.stack = append(t.stack[:i], t.stack[i+1:]...) // the time of a failed test is its parent's own
}
