package stack

import (
	"ompp-attach/attribution/strip"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// whole gives the state of constructs whose thread is in one state during the whole execution;
// None: the parts of an execution have different states.
var whole = func() (of [256]strip.State) {
	for _, c := range []event.Construct{event.Barrier, event.TaskWait, event.TaskYield} {
		of[c] = strip.Barrier
	}
	for _, c := range []event.Construct{event.Task, event.UntiedTask, event.TaskLoop} {
		of[c] = strip.Runtime
	}
	for _, c := range []event.Construct{event.TaskExec, event.UntiedTaskExec} {
		of[c] = strip.Work
	}
	return of
}()

// shows tells whether the thread was in a state of its own in a region that ends.
func shows(open *OpenRegion) bool {
	return whole[open.Node.Key.Construct] != strip.None || open.Team != nil ||
		open.Parts[profile.Enter].T|open.Parts[profile.Barrier].T|open.Parts[profile.Exit].T != 0
}

// show notes the states of a thread in the i-th region of its stack, which ends at a time (ns). If
// the execution stood still meanwhile, Enter is taken to lie at its begin, and Barrier and Exit at
// its end.
func (t *Thread) show(i int, at uint64) {
	open := &t.Stack[i]
	note := t.Strip.Note(open.Node.Key.Construct, open.Start, at)
	if !shows(open) {
		return
	}
	in := t.state(i - 1)
	from, to := open.began(), at
	if !IsContext(open.Node.Key.Construct) {
		to += t.suspendedAt(i)
	}
	if s := whole[open.Node.Key.Construct]; s != strip.None {
		note.Move(in, s, from, to)
		return
	}
	first, last := strip.Lock, strip.Runtime
	if open.Team != nil {
		from, first = open.Team.Forked, strip.Runtime
		note.Move(in, strip.Work, from, to)
		in = strip.Work
	}
	if to <= from {
		return
	}
	length := to - from
	enter := min(uint64(max(open.Parts[profile.Enter].T, 0)), length)
	exit := min(uint64(max(open.Parts[profile.Exit].T, 0)), length-enter)
	note.Move(in, first, from, from+enter)
	if open.Waiting != 0 { // the wait includes the tasks that the thread executed in it
		note.Move(in, strip.Barrier, max(open.Waiting, from), to-exit)
	} else {
		barrier := min(uint64(max(open.Parts[profile.Barrier].T, 0)), length-enter-exit)
		note.Move(in, strip.Barrier, to-exit-barrier, to-exit)
	}
	note.Move(in, last, to-exit, to)
}

// state returns the present state of a thread by the first i+1 regions of its stack; None: none of
// them tells a state.
func (s *Stack) state(i int) strip.State {
	for ; i >= 0; i-- {
		open := &(*s)[i]
		if open.Internal { // its time counts for what it interrupts
			continue
		}
		if of := whole[open.Node.Key.Construct]; of != strip.None {
			return of
		}
		switch open.Phase {
		case InBarrier:
			return strip.Barrier
		case Entering:
			return strip.Lock
		case Leaving:
			return strip.Runtime
		case Starting:
			if open.Team != nil {
				return strip.Runtime
			}
		}
		if open.Team != nil {
			return strip.Work
		}
	}
	return strip.None
}

// around returns the thread's state around an open region. The region is mostly the innermost
// one, so the search begins there.
func (s *Stack) around(open *OpenRegion) strip.State {
	i := len(*s) - 1
	for i > 0 && &(*s)[i] != open {
		i--
	}
	return s.state(i - 1)
}

// show notes the states of a team's thread, between the team's fork and its join (ns).
func (mem *Member) show(c event.Construct, forked, begin, end, last, joined uint64) {
	note := mem.strip.Note(c, forked, joined)
	note.Move(mem.in, strip.Runtime, forked, begin)
	note.Move(mem.in, strip.Work, begin, end)
	note.Move(mem.in, strip.Barrier, end, last)
	note.Move(mem.in, strip.Runtime, last, joined)
}

// ShowFold notes the states of a thread in executions that the kernel side has added up. Their
// times are spread evenly from the first execution (at, ns) to the last one.
func (t *Thread) ShowFold(c event.Construct, at uint64, f *event.Fold) {
	if f.Enter|f.Exit == 0 || !t.Strip.Due(c, f.Last-min(at, f.Last)) {
		return
	}
	in, note := t.state(len(t.Stack)-1), t.Strip.Note(c, min(at, f.Last), f.Last)
	note.Spread(in, strip.Lock, at, f.Last, int64(f.Enter))
	note.Spread(in, strip.Runtime, at, f.Last, int64(f.Exit))
}

// ShowCall notes an MPI call that took a time (took, ns), and ended at another (end, ns).
func (t *Thread) ShowCall(end uint64, took int64) {
	if t.Strip.Due(event.MPI, uint64(took)) {
		note := t.Strip.Note(event.MPI, end-uint64(took), end)
		note.Move(t.state(len(t.Stack)-1), strip.MPI, end-uint64(took), end)
	}
}
