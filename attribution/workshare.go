package attribution

import (
	"ompp-attach/attribution/ledger"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// Constructs whose work a team divides (loop, sections, single), and barriers.

const (
	noteDerivedSections = "libomp makes no call between sections: sectC is derived from its static schedule, sectT is the thread's whole share"
	noteUnknownSections = "in a region that was under way when measurement began the team's size is not known: sectC is without its sections"
)

const noteLastSingle = "GCC leaves out the barrier of a single at the end of a parallel region: the others' waiting time is the region's exitBarT"

const noteNowaitSingle = "single nowait makes no call at its end: its body time is not known and shows as 0"

// sharing applies the events of worksharing constructs and barriers.
type sharing struct{ *stacks }

func (sh *sharing) open(t *thread, ev *event.Event) {
	c := ev.Construct
	if ev.Loc != 0 && c == event.Loop {
		if s := sh.tree.Answers.Workshare(ev.Loc); s != event.NoConstruct {
			c = s
		}
	}
	k := t.key(c, ev)
	// Entry points that jump to one another report one call twice. For example, libgomp's
	// GOMP_loop_runtime_start ends in a jump to GOMP_loop_dynamic_start.
	if f := t.top(); f != nil && f.node.Key.Construct == c && f.sp == ev.SP && f.phase == inBody && f.Child == 0 && f.Parts[profile.Body].C == 0 {
		return
	}
	f := sh.push(t, k, ev)
	f.phase = inBody
	if c == event.Sections && ev.Runtime == event.Kmpc {
		size := t.teamSize()
		f.Parts[profile.Body].C = sectionsOfThread(ev.Value, t.num, size)
		f.node.Note(noteDerivedSections)
		if size == 0 {
			f.node.Note(noteUnknownSections)
		}
	}
}

// sectionsOfThread returns how many of n sections libomp's static schedule gives to a thread
// (__kmp_for_static_init, kmp_sch_static_balanced): n/size each, and one more for the first n mod
// size threads.
func sectionsOfThread(n int64, num, size int32) uint64 {
	if n <= 0 || size <= 0 {
		return 0
	}
	share := n / int64(size)
	if int64(num) < n%int64(size) {
		share++
	}
	return uint64(share)
}

func (sh *sharing) close(t *thread, ev *event.Event) {
	i := t.openShare()
	if i < 0 {
		// The body of a combined parallel loop or sections region closes a construct that
		// the fork has opened.
		if p := t.level(); p < 0 || !combined(t.stack[p].node.Key.Construct) {
			sh.unmatched++
		}
		return
	}
	f := sh.unwindTo(t, i, ev.Time)
	if f.phase == inBody {
		f.closeBody(ev.Time)
	}
	if ev.Runtime == event.Gomp {
		sh.pop(t, ev.Time) // GOMP_*_end_nowait: no barrier will follow
		return
	}
	f.phase, f.Mark = done, ev.Time
}

// closeBody ends the body phase of a worksharing frame.
func (f *frame) closeBody(at uint64) {
	switch f.node.Key.Construct {
	case event.Sections:
		if f.node.Key.Runtime == event.Kmpc {
			f.Pass(profile.Body, at)
		}
	case event.Single:
	default:
		f.Pass(profile.Body, at)
		f.Parts[profile.Body].C++
	}
	f.phase, f.Mark = done, at
}

func combined(c event.Construct) bool { return c == event.ParallelLoop || c == event.ParallelSections }

// openShare returns the index of the loop, sections, scope or distribute frame that an event ends,
// -1 if there is none. The event may name another of the four constructs: libomp ends all but scope
// by one call, and the linker may fold identical functions of libgomp into one.
func (t *thread) openShare() int {
	for i := len(t.stack) - 1; i >= 0; i-- {
		switch c := t.stack[i].node.Key.Construct; {
		case isContext(c):
			return -1
		case c == event.Loop, c == event.Sections, c == event.Scope, c == event.Distribute:
			return i
		}
	}
	return -1
}

// unwindTo closes all frames inside the i-th frame and returns the i-th.
func (st *stacks) unwindTo(t *thread, i int, at uint64) *frame {
	for len(t.stack)-1 > i {
		switch f := t.top(); {
		case f.phase == done:
			st.pop(t, f.Mark)
		case f.phase == inBody && f.end == lastInRegion && f.node.Key.Construct == event.Single:
			f.Pass(profile.Body, at)
			st.pop(t, at)
		case f.isOpenSingle():
			st.popSingle(t)
		case f.node.Key.Construct == event.UserRegion:
			st.leaveUser(t, len(t.stack)-1, at)
		default:
			st.abandon(t)
		}
	}
	return t.top()
}

// reduced applies the answer of libomp's reduction: threads that get 0 have passed the barrier.
func (sh *sharing) reduced(t *thread, ev *event.Event) {
	if ev.Value == 0 {
		sh.waited(t, ev)
	}
}

// chosen applies the runtime's answer who executes the body of a single.
func (sh *sharing) chosen(t *thread, ev *event.Event) {
	f := t.top()
	if f == nil || f.node.Key.Construct != event.Single || f.phase != inBody {
		// Otherwise another call ends it, and is counted as unmatched there.
		if ev.Value == 0 || ev.Runtime == event.Gomp {
			sh.unmatched++
		}
		return
	}
	kind := BarrierUnknown
	switch {
	case ev.Flags&event.CopyPrivate != 0:
		kind = BarrierImplicit
	case ev.Runtime == event.Gomp:
		kind = sh.tree.Answers.SingleBarrier(f.node.Key.Site, t.function())
	}
	if ev.Value != 0 {
		f.Parts[profile.Body].C++
		switch kind {
		case BarrierExplicit: // nowait
			f.node.Note(noteNowaitSingle)
			sh.pop(t, ev.Time)
		case BarrierDropped:
			f.end = lastInRegion
			f.node.Note(noteLastSingle)
		case BarrierUnknown:
			if ev.Runtime == event.Gomp {
				f.end, f.Mark = endUnknown, ev.Time
			}
		case BarrierNone:
			f.flags, f.inlineEnd = f.flags|event.Inline, event.EndPoint
		}
		return
	}
	f.WaitForOther()
	// In a single with copyprivate, the other threads wait in this very call.
	f.Pass(profile.Barrier, ev.Time)
	if kind == BarrierExplicit || kind == BarrierDropped || kind == BarrierNone {
		sh.pop(t, ev.Time)
		return
	}
	f.phase, f.Mark = done, ev.Time
}

// isOpenSingle tells whether a frame is a single whose body the thread executes, and nothing is
// known of the body's end. This occurs where GCC turns the call into the last jump of a function:
// the body is empty.
func (f *frame) isOpenSingle() bool {
	return f.node.Key.Construct == event.Single && f.phase == inBody && f.end == endUnknown
}

// endsSingle tells whether an event shows that its thread is in no single any more. If the single
// had a barrier, that would have been reported before.
func endsSingle(ev *event.Event) bool {
	return ev.Edge == event.Open && isShared(ev.Construct) || ev.Edge == event.End && ev.Construct.IsParallel()
}

// popSingle closes an open single whose thread turns out to have gone on.
func (st *stacks) popSingle(t *thread) {
	f := t.top()
	f.node.Note(noteNowaitSingle)
	st.pop(t, f.Mark)
}

func (sh *sharing) endSingle(t *thread, ev *event.Event) {
	i := t.find(event.Single, func(f *frame) bool { return f.phase == inBody })
	if i < 0 {
		sh.unmatched++
		return
	}
	f := sh.unwindTo(t, i, ev.Time)
	f.Pass(profile.Body, ev.Time)
	f.phase, f.Mark = done, ev.Time
}

// startSection applies the runtime's answer whether there is another section. A section that is
// open is over then.
func (sh *sharing) startSection(t *thread, ev *event.Event) {
	sh.endSection(t, ev)
	if ev.Value == 0 {
		return
	}
	if f := sh.sectionFrame(t); f != nil {
		f.Parts[profile.Body].C++
		f.section = ev.Time
	}
}

func (sh *sharing) endSection(t *thread, ev *event.Event) {
	if f := sh.sectionFrame(t); f != nil && f.section != 0 {
		f.Parts[profile.Body].T += ledger.Span(f.section, ev.Time)
		f.section = 0
	}
}

// sectionFrame returns the frame of the sections that the thread executes: a sections construct, or
// a combined parallel sections region. It returns nil if there is none.
func (sh *sharing) sectionFrame(t *thread) *frame {
	if i := t.find(event.Sections, nil); i >= 0 {
		return &t.stack[i]
	}
	if p := t.level(); p >= 0 && t.stack[p].node.Key.Construct == event.ParallelSections {
		return &t.stack[p]
	}
	return nil
}

// continues reports whether an event belongs to the worksharing construct whose share the thread
// has done: to its implicit barrier, or to its reduction.
func (sh *sharing) continues(f *frame, ev *event.Event) bool {
	if ev.Edge == event.Waited && ev.Construct == event.Single {
		return true // the wait in GOMP_single_copy_end of the thread that executed the body
	}
	if ev.Edge != event.Wait {
		return false
	}
	switch ev.Construct {
	case event.NoConstruct, event.Loop, event.Sections, event.Single:
		return true
	case event.Barrier:
		if ev.Loc == 0 {
			return f.node.Key.Construct == event.Single
		}
		return sh.tree.Answers.Barrier(ev.Loc) != BarrierExplicit
	}
	return false
}

func (sh *sharing) wait(t *thread, ev *event.Event) {
	f := t.top()
	share := -1
	switch {
	case f != nil && f.phase == done:
		share = len(t.stack) - 1
	case f != nil && f.phase == inBarrier && ev.Construct == event.NoConstruct:
		return // the second half of a reduction
	case sh.endsEarly(f, ev):
		share = len(t.stack) - 1
	case ev.Construct == event.Loop || ev.Construct == event.Sections:
		if share = t.openShare(); share < 0 {
			if p := t.level(); p < 0 || !combined(t.stack[p].node.Key.Construct) {
				sh.unmatched++
			}
		}
	case ev.Construct == event.Barrier && ev.Loc == 0 && f != nil && f.node.Key.Construct == event.Single && f.phase == inBody:
		// GCC's code marks the end of a single body only by the barrier behind it.
		f.Pass(profile.Body, ev.Time)
		share = len(t.stack) - 1
	}
	if share < 0 && sh.endsUnobserved(t, ev) {
		return
	}
	if share < 0 {
		b := sh.push(t, t.key(event.Barrier, ev), ev)
		b.phase = inBarrier
		return
	}
	f = sh.unwindTo(t, share, ev.Time)
	switch {
	case f.phase == inBody:
		f.closeBody(ev.Time)
	case f.Parts[profile.Barrier].C > 0: // between a reduction and its barrier
		f.Pass(profile.Barrier, ev.Time)
	case f.node.Key.Construct != event.Single:
		f.Pass(profile.Body, ev.Time) // the time from the loop's end to its barrier
	}
	f.phase, f.Mark = inBarrier, ev.Time
}

func (sh *sharing) waited(t *thread, ev *event.Event) {
	f := t.top()
	if f != nil && f.phase == done && ev.Construct == event.Single {
		f.Pass(profile.Barrier, ev.Time) // copyprivate: the barrier of the single itself follows
		f.Mark = ev.Time
		return
	}
	if f == nil || f.phase != inBarrier || f.team != nil {
		sh.unmatched++ // the barrier was entered before measurement began
		return
	}
	if f.node.Key.Construct != event.Barrier {
		f.Pass(profile.Barrier, ev.Time)
		f.Parts[profile.Barrier].C++
	}
	if ev.Construct == event.NoConstruct && f.node.Key.Construct != event.Barrier {
		f.phase, f.Mark = done, ev.Time // clang may put a barrier behind the reduction of a loop
		return
	}
	sh.pop(t, ev.Time)
}

// function returns the outlined function of the parallel region that a thread is in, 0 if it is in
// none.
func (t *thread) function() uint64 {
	if i := t.level(); i >= 0 {
		return t.stack[i].node.Key.Fn
	}
	return 0
}
