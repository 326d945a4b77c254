package attribution

import (
	"slices"

	"ompp-attach/event"
)

// Constructs that one thread executes by itself: critical, lock, ordered,
// master, atomic, flush.

// key identifies the construct that a call starts. A call that returns into
// the runtime itself is the last act of an outlined function, compiled as a
// jump: that function then says where it is.
func (t *thread) key(c event.Construct, ev *event.Event) Key {
	k := Key{Kind: Kind{Construct: c, Runtime: ev.Runtime}, Site: ev.Site, Loc: ev.Loc}
	if ev.Flags&event.Inside != 0 {
		if i := t.context(); i >= 0 && t.stack[i].node.key.Fn != 0 {
			k.Fn, k.Site = t.stack[i].node.key.Fn, 0
			return k
		}
	}
	if c == event.Critical {
		k.Fn = ev.Fn // the named critical's lock carries its name
	}
	return k
}

// bears reports whether a thread has a number in its team. Of one that was inside
// a region when measurement began nothing is known, but that it is the primary
// thread, if it is.
func (t *thread) bears(num int32) bool {
	if !t.known && len(t.stack) > 0 && t.stack[0].node.existing {
		return num == 0 && t.primary
	}
	return t.num == num
}

func (e *Engine) enter(t *thread, ev *event.Event) {
	switch ev.Construct {
	case event.Master:
		if !t.bears(0) {
			return // the runtime is asked by all, the body is the primary thread's
		}
	case event.Masked:
		if !t.bears(int32(ev.Value)) {
			return
		}
	case event.Target:
		if t.targetAgain(ev) {
			return
		}
	}
	k := t.key(motion(ev), ev)
	// __kmpc_critical ends in a jump to __kmpc_critical_with_hint: one call,
	// two probes. The second finds the first one's return probe in place of
	// the return address, so the sites differ.
	if f := t.top(); f != nil && f.phase == entering && f.node.key.Construct == ev.Construct && f.sp == ev.SP {
		return
	}
	f := e.push(t, k, ev)
	f.id = ev.Fn
	f.phase = entering
	if ev.Flags&(event.FreeAtOnce|event.NoReturn) != 0 {
		f.phase, f.bodies, f.enters = inBody, 1, 1
	}
}

func (e *Engine) acquired(t *thread, ev *event.Event) {
	i := t.find(ev.Construct, func(f *frame) bool { return f.phase == entering })
	if i < 0 {
		if bodyEnds(ev) {
			return // and is counted there
		}
		if t.find(ev.Construct, nil) < 0 {
			e.unmatched++
		}
		return // it had been free, or its entry was before we came
	}
	f := &t.stack[i]
	f.enter += span(f.mark, ev.Time)
	f.enters++
	if f.flags&event.Whole != 0 {
		e.remove(t, i, ev.Time)
		return
	}
	f.phase, f.mark, f.bodies = inBody, ev.Time, f.bodies+1
}

// bodyEnds tells whether the end of what was acquired will be told.
func bodyEnds(acquired *event.Event) bool {
	switch acquired.Construct {
	case event.Critical, event.Ordered, event.Lock, event.NestLock, event.Atomic:
		return acquired.Flags&event.Whole == 0
	}
	return false
}

func (e *Engine) release(t *thread, ev *event.Event) {
	switch ev.Construct {
	case event.Single:
		e.endSingle(t, ev)
		return
	case event.Sections:
		e.endSection(t, ev)
		return
	}
	match := func(f *frame) bool { return f.phase != leaving }
	if ev.Construct == event.Lock || ev.Construct == event.NestLock {
		match = func(f *frame) bool { return f.id == ev.Fn && f.phase != leaving }
	}
	i := t.find(ev.Construct, match)
	if i < 0 {
		switch ev.Construct {
		case event.Master: // only the primary thread ends it
			t.primary = true
		case event.Masked:
		case event.Reduction: // combined by atomics: it had ended
		case event.Lock, event.NestLock:
			e.releaseForeign(ev)
		default:
			e.unmatched++
		}
		return
	}
	f := &t.stack[i]
	if ev.Construct == event.Target && f.targetInner() {
		return
	}
	f.body += span(f.mark, ev.Time)
	f.phase, f.mark = leaving, ev.Time
	if ev.Flags&(event.FreeAtOnce|event.NoReturn) != 0 {
		e.remove(t, i, ev.Time)
	}
}

// foreignRelease is the end of a lock that another thread had set. OpenMP
// forbids that, programs do it; the holder must not stay inside the lock for
// ever. What the holder did after the release but was read before it stays
// inside.
type foreignRelease struct {
	construct event.Construct
	lock      uint64
	at        uint64
}

func (e *Engine) releaseForeign(ev *event.Event) {
	e.unmatched++
	r := foreignRelease{ev.Construct, ev.Fn, ev.Time}
	for _, t := range e.threads {
		if e.endForeign(t, r) {
			return
		}
	}
	const few = 64 // the holder has not been read so far
	if len(e.foreign) < few {
		e.foreign = append(e.foreign, r)
	}
}

// endForeign closes the lock if a thread held it then.
func (e *Engine) endForeign(t *thread, r foreignRelease) bool {
	i := t.find(r.construct, func(f *frame) bool { return f.id == r.lock && f.phase == inBody && f.mark <= r.at })
	if i < 0 {
		return false
	}
	f := &t.stack[i]
	f.node.note("released by another thread than the one that had set it")
	f.uncounted = true
	f.body += span(f.mark, r.at)
	e.remove(t, i, r.at)
	return true
}

// endForeigns closes the locks that others have released before a moment.
func (e *Engine) endForeigns(t *thread, now uint64) {
	e.foreign = slices.DeleteFunc(e.foreign, func(r foreignRelease) bool { return r.at <= now && e.endForeign(t, r) })
}

func (e *Engine) released(t *thread, ev *event.Event) {
	if ev.Flags&event.Whole != 0 {
		e.endWhole(t, ev)
		return
	}
	i := t.find(ev.Construct, func(f *frame) bool {
		// A flush, or an atomic that is one call, has no body.
		return f.phase == leaving || ev.Construct == event.Flush || ev.Construct == event.Atomic && f.phase == entering
	})
	if i < 0 {
		return // left at once
	}
	f := &t.stack[i]
	f.exit += span(f.mark, ev.Time)
	e.remove(t, i, ev.Time)
}

// result of a lock test: the lock is ours, or it never was a region.
func (e *Engine) tested(t *thread, ev *event.Event) {
	i := t.find(ev.Construct, func(f *frame) bool { return f.phase == entering })
	if i < 0 {
		e.unmatched++
		return
	}
	if ev.Value != 0 {
		e.acquired(t, ev)
		return
	}
	t.disownToll(i)
	e.disown(t, i)
	t.stack = append(t.stack[:i], t.stack[i+1:]...) // a failed test is its parent's own time
}
