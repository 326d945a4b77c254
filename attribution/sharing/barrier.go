package sharing

import (
	"ompp-attach/attribution/place"
	"ompp-attach/attribution/stack"
	"ompp-attach/attribution/tree"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// Reduced applies the answer of libomp's reduction: threads that get 0 have passed the barrier.
func (sh *Constructs) Reduced(t *stack.Thread, ev *event.Event) {
	switch open := t.Top(); {
	case ev.Value == 0:
		sh.arriveReduced(t, 0)
		sh.Waited(t, ev)
	case open != nil && (ev.Value != 1 || t.Num != 0):
		sh.mayHaveArrived(t, open.Node, ev.Time)
	}
}

// Continues reports whether an event belongs to the worksharing construct whose share the thread
// has done: to its implicit barrier, or to its reduction.
func (sh *Constructs) Continues(open *stack.OpenRegion, ev *event.Event) bool {
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
		switch open.Node.Key.Construct {
		case event.Barrier: // a reduction's; its ident_t may name the directive's end
			return ev.Loc != 0 && sh.Tree.Answers.Barrier(ev.Loc) == place.BarrierImplicit
		case event.Single:
			return ev.Loc == 0 || sh.ends(open.Node, ev.Loc)
		}
		return ev.Loc != 0 && sh.ends(open.Node, ev.Loc)
	}
	return false
}

// ends reports whether a barrier of libomp, by its ident_t, may belong to a construct. Clang's code
// skips a loop without iterations, but not the loop's barrier. Then the barrier follows the
// construct before that loop, which may have none of its own.
func (sh *Constructs) ends(n *tree.Node, barrier uint64) bool {
	if n.Barrier == barrier {
		return true
	}
	own := sh.Tree.Answers.Barrier(barrier) != place.BarrierExplicit &&
		!sh.Tree.Answers.Apart(place.Following{Site: n.Key.Site, Share: n.Key.Loc, Barrier: barrier})
	if own {
		n.Barrier = barrier
	}
	return own
}

// Wait begins the barrier that a thread comes to.
func (sh *Constructs) Wait(t *stack.Thread, ev *event.Event) {
	if ev.Flags&event.Sparse != 0 { // otherwise all ends are reported
		t.Turn = sh.Reach(t, ev.Time+t.Suspended, ev.Flags&event.Sparse != 0)
	}
	open := t.Top()
	share, alone := -1, event.Barrier
	switch {
	case open != nil && open.Phase == stack.Done:
		share = len(t.Stack) - 1
	case open != nil && open.Phase == stack.InBarrier && ev.Construct == event.ReductionBarrier:
		sh.arriveReduced(t, ev.Time)
		return // the second half of a reduction
	case sh.endsEarly(open, ev):
		share = len(t.Stack) - 1
	case ev.Construct == event.Loop || ev.Construct == event.Sections:
		if share = t.OpenShare(); share < 0 {
			if p := t.Level(); p < 0 || !combined(t.Stack[p].Node.Key.Construct) {
				sh.Unmatched++
			} else {
				// GCC has joined a parallel region and the construct in it to one call that begins
				// both. The construct keeps its end, and all that is known of it is the wait there.
				alone = ev.Construct
			}
		}
	case ev.Construct == event.Barrier && ev.Loc == 0 && open != nil && open.Node.Key.Construct == event.Single && open.Phase == stack.InBody:
		// GCC's code marks the end of a single body only by the barrier behind it.
		open.Pass(profile.Body, ev.Time)
		share = len(t.Stack) - 1
	}
	if share < 0 && sh.endsUnobserved(t, ev) {
		sh.BreakWaits(t)
		return
	}
	if share < 0 {
		b := sh.Push(t, t.Key(alone, ev), ev)
		b.Phase, b.Mark, b.Waiting, b.Returns = stack.InBarrier, ev.Time, ev.Time+t.Suspended, ev.Site
		sh.arrive(t, b, ev)
		return
	}
	open = sh.UnwindTo(t, share, ev.Time)
	switch {
	case open.Phase == stack.InBody:
		open.CloseBody(ev.Time)
	case open.Node.Key.Construct == event.Barrier: // it has no parts
	case open.Parts[profile.Barrier].C > 0: // between a reduction and its barrier
		open.Pass(profile.Barrier, ev.Time)
	case open.Node.Key.Construct != event.Single:
		open.Pass(profile.Body, ev.Time) // the time from the loop's end to its barrier
	}
	open.Phase, open.Mark, open.Waiting, open.Returns = stack.InBarrier, ev.Time, ev.Time+t.Suspended, ev.Site
	sh.arrive(t, open, ev)
}

// Waited ends the barrier that a thread is in.
func (sh *Constructs) Waited(t *stack.Thread, ev *event.Event) {
	open := t.Top()
	if open != nil && open.Phase == stack.Done && ev.Construct == event.Single {
		open.Pass(profile.Barrier, ev.Time) // copyprivate: the barrier of the single itself follows
		open.Mark = ev.Time
		sh.leave(t, ev)
		return
	}
	if open == nil || open.Phase != stack.InBarrier || open.Team != nil {
		sh.Unmatched++ // the barrier was entered before measurement began
		return
	}
	sh.leave(t, ev)
	if open.Node.Key.Construct != event.Barrier {
		open.Pass(profile.Barrier, ev.Time)
		open.Parts[profile.Barrier].C++
	}
	if ev.Construct == event.ReductionBarrier {
		// clang may put a barrier behind the reduction of a loop.
		open.Phase, open.Mark = stack.Done, ev.Time
		return
	}
	sh.Pop(t, ev.Time)
}

// leave tells the waits that a barrier was left, and when, if that was seen.
func (sh *Constructs) leave(t *stack.Thread, ev *event.Event) {
	at := ev.Time
	if ev.Flags&event.Unarmed != 0 { // derived
		at = 0
	}
	sh.Leave(t, at)
}

// endsEarly tells whether an implicit barrier ends the construct of a region. It ends a construct
// that libomp never closed because it was cancelled, and a scope construct of libgomp.
func (sh *Constructs) endsEarly(open *stack.OpenRegion, ev *event.Event) bool {
	if open == nil || open.Phase != stack.InBody || ev.Construct != event.Barrier {
		return false
	}
	switch open.Node.Key.Construct {
	case event.Loop, event.Sections:
		return ev.Loc != 0 && sh.Tree.Answers.Barrier(ev.Loc) == place.BarrierImplicit
	case event.Scope:
		return ev.Loc == 0 || sh.Tree.Answers.Barrier(ev.Loc) == place.BarrierImplicit
	}
	return false
}

// endsUnobserved tells whether a wait is the end of a worksharing construct whose start was not
// observed.
func (sh *Constructs) endsUnobserved(t *stack.Thread, ev *event.Event) bool {
	if !sh.Gone.Has(ev.Construct) {
		return false
	}
	switch ev.Construct {
	case event.ReductionBarrier:
		return true
	case event.Loop, event.Sections:
		p := t.Level()
		return p < 0 || !combined(t.Stack[p].Node.Key.Construct)
	case event.Barrier:
		return ev.Loc != 0 && sh.Tree.Answers.Barrier(ev.Loc) == place.BarrierImplicit
	}
	return false
}
