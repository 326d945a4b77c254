package attribution

import (
	"ompp-attach/attribution/ledger"
	"ompp-attach/attribution/place"
	"ompp-attach/attribution/stack"
	"ompp-attach/attribution/tree"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// Constructs whose work a team divides (loop, sections, single), and barriers.

const (
	noteDerivedSections = "libomp makes no call between sections: sectC is derived from its static schedule, sectT is the thread's whole share"
	noteUnknownSections = "in a region that was under way when measurement began the team's size is not known: sectC is without its sections"
)

const noteLastSingle = "GCC leaves out the barrier of a single at the end of a parallel region: the others' waiting time is the region's exitBarT"

// sharing applies the events of worksharing constructs and barriers.
type sharing struct{ *stack.Stacks }

func (sh *sharing) open(t *stack.Thread, ev *event.Event) {
	c := ev.Construct
	if ev.Loc != 0 && c == event.Loop {
		if s := sh.Tree.Answers.Workshare(ev.Loc); s != event.NoConstruct {
			c = s
		}
	}
	k := t.Key(c, ev)
	// Entry points that jump to one another report one call twice. For example, libgomp's
	// GOMP_loop_runtime_start ends in a jump to GOMP_loop_dynamic_start.
	if f := t.Top(); f != nil && f.Node.Key.Construct == c && f.Sp == ev.SP && f.Phase == stack.InBody && f.Child == 0 && f.Parts[profile.Body].C == 0 {
		return
	}
	f := sh.Push(t, k, ev)
	f.Phase = stack.InBody
	if ev.Flags&event.CopyPrivate != 0 {
		sh.mayArrive(t) // threads that are not chosen wait in this very call
	}
	if c == event.Sections && ev.Runtime == event.Kmpc {
		size := t.TeamSize()
		f.Parts[profile.Body].C = sectionsOfThread(ev.Value, t.Num, size)
		f.Node.Note(noteDerivedSections)
		if size == 0 {
			f.Node.Note(noteUnknownSections)
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

func (sh *sharing) close(t *stack.Thread, ev *event.Event) {
	i := t.OpenShare()
	if i < 0 {
		// The body of a combined parallel loop or sections region closes a construct that
		// the fork has opened.
		if p := t.Level(); p < 0 || !combined(t.Stack[p].Node.Key.Construct) {
			sh.Unmatched++
		}
		return
	}
	f := sh.UnwindTo(t, i, ev.Time)
	if f.Phase == stack.InBody {
		f.CloseBody(ev.Time)
	}
	if ev.Runtime == event.Gomp {
		sh.Pop(t, ev.Time) // GOMP_*_end_nowait: no barrier will follow
		return
	}
	f.Phase, f.Mark = stack.Done, ev.Time
}

// endsShare tells whether a thread that comes to an event has left any loop that it was in.
func endsShare(ev *event.Event) bool {
	switch ev.Edge {
	case event.Open:
		return stack.IsShared(ev.Construct)
	case event.Wait:
		return ev.Construct == event.Barrier
	case event.End:
		return ev.Construct.IsParallel()
	}
	return false
}

// endUntold ends the loop that a thread is in if an event tells the loop's end. A barrier may be
// the loop's own.
func (sh *sharing) endUntold(t *stack.Thread, ev *event.Event) {
	if !endsShare(ev) {
		return
	}
	i := t.OpenShare()
	if i < 0 || t.Stack[i].Flags&event.EndsNext == 0 || t.Stack[i].Phase != stack.InBody {
		return
	}
	f := sh.UnwindTo(t, i, ev.Time)
	f.CloseBody(ev.Time)
	if !sh.continues(f, ev) {
		sh.Pop(t, ev.Time)
	}
}

func combined(c event.Construct) bool { return c == event.ParallelLoop || c == event.ParallelSections }

// reduced applies the answer of libomp's reduction: threads that get 0 have passed the barrier.
func (sh *sharing) reduced(t *stack.Thread, ev *event.Event) {
	switch f := t.Top(); {
	case ev.Value == 0:
		sh.arriveReduced(t, 0)
		sh.waited(t, ev)
	case f != nil && (ev.Value != 1 || t.Num != 0):
		sh.mayHaveArrived(t, f.Node, ev.Time)
	}
}

// chosen applies the runtime's answer who executes the body of a single.
func (sh *sharing) chosen(t *stack.Thread, ev *event.Event) {
	f := t.Top()
	if f == nil || f.Node.Key.Construct != event.Single || f.Phase != stack.InBody {
		// Otherwise another call ends it, and is counted as unmatched there.
		if ev.Value == 0 || ev.Runtime == event.Gomp {
			sh.Unmatched++
		}
		return
	}
	kind := BarrierUnknown
	switch {
	case ev.Flags&event.CopyPrivate != 0:
		kind = BarrierImplicit
	case ev.Runtime == event.Gomp:
		kind = sh.Tree.Answers.SingleBarrier(f.Node.Key.Site, t.Function())
	}
	if ev.Value != 0 {
		sh.mayHaveArrived(t, f.Node, ev.Time)
		f.Parts[profile.Body].C++
		switch kind {
		case BarrierExplicit: // nowait
			f.Node.Note(stack.NoteNowaitSingle)
			sh.Pop(t, ev.Time)
		case BarrierDropped:
			f.End = stack.LastInRegion
			f.Node.Note(noteLastSingle)
		case BarrierUnknown:
			if ev.Runtime == event.Gomp {
				f.End, f.Mark = stack.EndUnknown, ev.Time
			}
		case BarrierNone:
			f.Flags, f.InlineEnd = f.Flags|event.Inline, event.EndPoint
		}
		return
	}
	if ev.Flags&event.CopyPrivate != 0 && t.IsPending() {
		sh.Arrive(t, f.Node, f.Node, f.Start)
		sh.Leave(t, ev.Time)
	}
	f.WaitForOther()
	// In a single with copyprivate, the other threads wait in this very call.
	f.Pass(profile.Barrier, ev.Time)
	if kind == BarrierExplicit || kind == BarrierDropped || kind == BarrierNone {
		sh.Pop(t, ev.Time)
		return
	}
	f.Phase, f.Mark = stack.Done, ev.Time
}

// endsSingle tells whether an event shows that its thread is in no single any more. If the single
// had a barrier, that would have been reported before.
func endsSingle(ev *event.Event) bool {
	return ev.Edge == event.Open && stack.IsShared(ev.Construct) || ev.Edge == event.End && ev.Construct.IsParallel()
}

func (sh *sharing) endSingle(t *stack.Thread, ev *event.Event) {
	i := t.Find(event.Single, func(f *stack.Frame) bool { return f.Phase == stack.InBody })
	if i < 0 {
		sh.Unmatched++
		return
	}
	f := sh.UnwindTo(t, i, ev.Time)
	f.Pass(profile.Body, ev.Time)
	f.Phase, f.Mark = stack.Done, ev.Time
	if f.Flags&event.CopyPrivate != 0 {
		sh.Arrive(t, f.Node, f.Node, ev.Time)
	}
}

// startSection applies the runtime's answer whether there is another section. A section that is
// open is over then.
func (sh *sharing) startSection(t *stack.Thread, ev *event.Event) {
	sh.endSection(t, ev)
	if ev.Value == 0 {
		return
	}
	if f := sh.sectionFrame(t); f != nil {
		f.Parts[profile.Body].C++
		f.Section = ev.Time
	}
}

func (sh *sharing) endSection(t *stack.Thread, ev *event.Event) {
	if f := sh.sectionFrame(t); f != nil && f.Section != 0 {
		f.Parts[profile.Body].T += ledger.Between(f.Section, ev.Time)
		f.Section = 0
	}
}

// sectionFrame returns the frame of the sections that the thread executes: a sections construct, or
// a combined parallel sections region. It returns nil if there is none.
func (sh *sharing) sectionFrame(t *stack.Thread) *stack.Frame {
	if i := t.Find(event.Sections, nil); i >= 0 {
		return &t.Stack[i]
	}
	if p := t.Level(); p >= 0 && t.Stack[p].Node.Key.Construct == event.ParallelSections {
		return &t.Stack[p]
	}
	return nil
}

// continues reports whether an event belongs to the worksharing construct whose share the thread
// has done: to its implicit barrier, or to its reduction.
func (sh *sharing) continues(f *stack.Frame, ev *event.Event) bool {
	if ev.Edge == event.Waited && ev.Construct == event.Single {
		return true // the wait in GOMP_single_copy_end of the thread that executed the body
	}
	if ev.Edge != event.Wait {
		return false
	}
	switch ev.Construct {
	case event.ReductionBarrier, event.Loop, event.Sections, event.Single:
		return true
	case event.Barrier:
		if ev.Loc == 0 {
			return f.Node.Key.Construct == event.Single
		}
		return sh.ends(f.Node, ev.Loc)
	}
	return false
}

// ends reports whether a barrier of libomp, by its ident_t, may belong to a construct. Clang's code
// skips a loop without iterations, but not the loop's barrier: then the barrier follows the
// construct before that loop, which may have none of its own.
func (sh *sharing) ends(n *tree.Node, barrier uint64) bool {
	if n.Barrier == barrier {
		return true
	}
	own := sh.Tree.Answers.Barrier(barrier) != BarrierExplicit &&
		!sh.Tree.Answers.Apart(place.Following{Site: n.Key.Site, Share: n.Key.Loc, Barrier: barrier})
	if own {
		n.Barrier = barrier
	}
	return own
}

func (sh *sharing) wait(t *stack.Thread, ev *event.Event) {
	if ev.Flags&event.Sparse != 0 { // otherwise all ends are reported
		t.Turn = sh.Reach(t, ev.Time+t.Suspended, ev.Flags&event.Sparse != 0)
	}
	f := t.Top()
	share := -1
	switch {
	case f != nil && f.Phase == stack.Done:
		share = len(t.Stack) - 1
	case f != nil && f.Phase == stack.InBarrier && ev.Construct == event.ReductionBarrier:
		sh.arriveReduced(t, ev.Time)
		return // the second half of a reduction
	case sh.endsEarly(f, ev):
		share = len(t.Stack) - 1
	case ev.Construct == event.Loop || ev.Construct == event.Sections:
		if share = t.OpenShare(); share < 0 {
			if p := t.Level(); p < 0 || !combined(t.Stack[p].Node.Key.Construct) {
				sh.Unmatched++
			}
		}
	case ev.Construct == event.Barrier && ev.Loc == 0 && f != nil && f.Node.Key.Construct == event.Single && f.Phase == stack.InBody:
		// GCC's code marks the end of a single body only by the barrier behind it.
		f.Pass(profile.Body, ev.Time)
		share = len(t.Stack) - 1
	}
	if share < 0 && sh.endsUnobserved(t, ev) {
		sh.BreakWaits(t)
		return
	}
	if share < 0 {
		b := sh.Push(t, t.Key(event.Barrier, ev), ev)
		b.Phase, b.Waiting, b.Returns = stack.InBarrier, ev.Time+t.Suspended, ev.Site
		sh.arrive(t, b, ev)
		return
	}
	f = sh.UnwindTo(t, share, ev.Time)
	switch {
	case f.Phase == stack.InBody:
		f.CloseBody(ev.Time)
	case f.Parts[profile.Barrier].C > 0: // between a reduction and its barrier
		f.Pass(profile.Barrier, ev.Time)
	case f.Node.Key.Construct != event.Single:
		f.Pass(profile.Body, ev.Time) // the time from the loop's end to its barrier
	}
	f.Phase, f.Mark, f.Waiting, f.Returns = stack.InBarrier, ev.Time, ev.Time+t.Suspended, ev.Site
	sh.arrive(t, f, ev)
}

func (sh *sharing) waited(t *stack.Thread, ev *event.Event) {
	f := t.Top()
	if f != nil && f.Phase == stack.Done && ev.Construct == event.Single {
		f.Pass(profile.Barrier, ev.Time) // copyprivate: the barrier of the single itself follows
		f.Mark = ev.Time
		sh.leave(t, ev)
		return
	}
	if f == nil || f.Phase != stack.InBarrier || f.Team != nil {
		sh.Unmatched++ // the barrier was entered before measurement began
		return
	}
	sh.leave(t, ev)
	if f.Node.Key.Construct != event.Barrier {
		f.Pass(profile.Barrier, ev.Time)
		f.Parts[profile.Barrier].C++
	}
	if ev.Construct == event.ReductionBarrier && f.Node.Key.Construct != event.Barrier {
		// clang may put a barrier behind the reduction of a loop.
		f.Phase, f.Mark = stack.Done, ev.Time
		return
	}
	sh.Pop(t, ev.Time)
}

// leave tells the waits that a barrier was left, and when, if that was seen.
func (sh *sharing) leave(t *stack.Thread, ev *event.Event) {
	at := ev.Time
	if ev.Flags&event.Unarmed != 0 { // derived
		at = 0
	}
	sh.Leave(t, at)
}

// endsEarly tells whether an implicit barrier ends the construct of a frame. It ends a construct
// that libomp never closed because it was cancelled, and a scope construct of libgomp.
func (sh *sharing) endsEarly(f *stack.Frame, ev *event.Event) bool {
	if f == nil || f.Phase != stack.InBody || ev.Construct != event.Barrier {
		return false
	}
	switch f.Node.Key.Construct {
	case event.Loop, event.Sections:
		return ev.Loc != 0 && sh.Tree.Answers.Barrier(ev.Loc) == BarrierImplicit
	case event.Scope:
		return ev.Loc == 0 || sh.Tree.Answers.Barrier(ev.Loc) == BarrierImplicit
	}
	return false
}

// endsUnobserved tells whether a wait is the end of a worksharing construct whose start was not
// observed.
func (sh *sharing) endsUnobserved(t *stack.Thread, ev *event.Event) bool {
	if !sh.Gone.Has(ev.Construct) {
		return false
	}
	switch ev.Construct {
	case event.Loop, event.Sections:
		p := t.Level()
		return p < 0 || !combined(t.Stack[p].Node.Key.Construct)
	case event.Barrier:
		return ev.Loc != 0 && sh.Tree.Answers.Barrier(ev.Loc) == BarrierImplicit
	}
	return false
}
