// Package sharing applies the events of constructs whose work a team divides (loop, sections,
// single), and of barriers. The arrivals at barriers go to package waits.
//
//   - sharing.go: loops and sections, and how they end
//   - single.go: singles; sections.go: single sections
//   - barrier.go: barriers, and what they belong to
//   - arriving.go: arrivals at barriers, as the runtimes' calls tell them
package sharing

import (
	"ompp-attach/attribution/stack"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// Constructs are the worksharing constructs and barriers of a process.
type Constructs struct{ *stack.Stacks }

// Open opens a construct at its start.
func (sh *Constructs) Open(t *stack.Thread, ev *event.Event) {
	c := ev.Construct
	if ev.Loc != 0 && c == event.Loop {
		if s := sh.Tree.Answers.Workshare(ev.Loc); s != event.NoConstruct {
			c = s
		}
	}
	k := t.Key(c, ev)
	// Entry points that jump to one another report one call twice. For example, libgomp's
	// GOMP_loop_runtime_start ends in a jump to GOMP_loop_dynamic_start.
	if open := t.Top(); open != nil && open.Node.Key.Construct == c && open.Sp == ev.SP &&
		open.Phase == stack.InBody && open.Child == 0 && open.Parts[profile.Body].C == 0 {
		return
	}
	open := sh.Push(t, k, ev)
	open.Phase = stack.InBody
	if ev.Flags&event.CopyPrivate != 0 {
		sh.mayArrive(t) // threads that are not chosen wait in this very call
	}
	if c == event.Sections && ev.Runtime == event.Kmpc {
		size := t.TeamSize()
		open.Parts[profile.Body].C = sectionsOfThread(ev.Value, t.Num, size)
		open.Node.Note(noteDerivedSections)
		if size == 0 {
			open.Node.Note(NoteUnknownSections)
		}
	}
}

// Close ends a thread's share of a construct.
func (sh *Constructs) Close(t *stack.Thread, ev *event.Event) {
	i := t.OpenShare()
	if i < 0 {
		// The body of a combined parallel loop or sections region closes a construct that
		// the fork has opened.
		if p := t.Level(); p < 0 || !combined(t.Stack[p].Node.Key.Construct) {
			sh.Unmatched++
		}
		return
	}
	open := sh.UnwindTo(t, i, ev.Time)
	if open.Phase == stack.InBody {
		open.CloseBody(ev.Time)
	}
	if ev.Runtime == event.Gomp {
		sh.Pop(t, ev.Time) // GOMP_*_end_nowait: no barrier will follow
		return
	}
	open.Phase, open.Mark = stack.Done, ev.Time
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

// EndUntold ends the loop that a thread is in if an event tells the loop's end. A barrier may be
// the loop's own.
func (sh *Constructs) EndUntold(t *stack.Thread, ev *event.Event) {
	if !endsShare(ev) {
		return
	}
	i := t.OpenShare()
	if i < 0 || t.Stack[i].Flags&event.EndsNext == 0 || t.Stack[i].Phase != stack.InBody {
		return
	}
	open := sh.UnwindTo(t, i, ev.Time)
	open.CloseBody(ev.Time)
	if !sh.Continues(open, ev) {
		sh.Pop(t, ev.Time)
	}
}

func combined(c event.Construct) bool { return c == event.ParallelLoop || c == event.ParallelSections }
