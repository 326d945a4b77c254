package attribution

import (
	"cmp"
	"maps"
	"slices"

	"ompp-attach/attribution/build"
	"ompp-attach/attribution/ledger"
	"ompp-attach/attribution/stack"
	"ompp-attach/attribution/tree"
	"ompp-attach/event"
	"ompp-attach/profile"
	"ompp-attach/timeline"
)

// finish is Engine.Finish.
func (e *engine) finish(end uint64) *profile.Profile {
	end = e.clock.at(end)
	e.finishing = end
	// A parked thread may have a marker in its queue that switches measurement on.
	e.advance(end + 2*stragglerWait)
	if e.OffSince != 0 {
		off := e.OffSince
		e.countOff(end)
		end = off
	}
	e.closeAll(end)
	e.addEstimates(end)
	for _, tid := range slices.Sorted(maps.Keys(e.threads.byID)) {
		e.threads.byID[tid].Ends.Sum()
	}
	e.stayedUnobserved(end)
	d := e.dictionary()
	if d == nil && e.MPI.Log != nil {
		d = &timeline.Dictionary{}
	}
	e.PlaceExisting()
	e.tellLives()
	p := build.Assemble(&build.Input{Tree: e.Tree, Threads: e.Seats.List, Pid: e.Pid, Untied: e.untied, TasksGone: e.tasksBack != 0,
		Stacks: e.Sampling.Stacks, Losses: e.Losses, SeatOfSample: e.seatOfSample, Measured: e.measured(end), Timeline: d,
		Warnings: slices.Concat(e.MPI.SharedSeat(), e.Sampling.Note())})
	p.Comms = e.MPI.Comms.Finished()
	p.Strip = e.Strip.Profile(p.Threads, end)
	p.Rivals = slices.Clone(e.Rivals.List)
	p.Meta.Overhead = e.Ledger.Overhead()
	p.Meta.Off = e.OffTime
	p.Meta.Trust = profile.Trust{Hits: e.events, Edges: e.edges, Unmatched: e.Unmatched, Partial: e.Partial}
	p.Meta.Observations = e.gaps.Observations()
	e.MPI.Log.Tell(p, d, e.clock.stops)
	if e.Spans != nil {
		e.Spans.End(d)
	}
	return p
}

// closeAll charges everything that is open at a time.
func (e *engine) closeAll(end uint64) {
	e.advance(end + 2*stragglerWait)
	e.Spans.Closing(true)
	defer e.Spans.Closing(false)
	for _, tid := range slices.Sorted(maps.Keys(e.threads.byID)) {
		t := e.threads.byID[tid]
		e.passUntil(t, max(end, t.Last))
	}
	e.advance(end + 2*stragglerWait) // charges the teams that were joined now
	e.threads.noteInside()
	// In order: threads that turn out to be initial threads are numbered here.
	for _, tid := range slices.Sorted(maps.Keys(e.threads.byID)) {
		t := e.threads.byID[tid]
		// A thread may have been read beyond another thread's ompp_off.
		e.cutOff(t, max(end, t.Last))
	}
	for _, list := range e.TeamsByKey {
		for _, m := range list.Open {
			e.CutOffTeam(m, end)
		}
	}
	for _, l := range e.Leagues {
		e.CutOffTeam(l.Team, end)
	}
	for _, list := range e.TeamsByKey {
		for _, m := range list.Open {
			e.ChargeLate(m)
		}
	}
	for _, l := range e.Leagues {
		e.ChargeLate(l.Team)
	}
}

// cutOff charges the open regions of a thread when measurement ends.
func (e *engine) cutOff(t *stack.Thread, end uint64) {
	real := end
	e.CutOffWaits(t, end)
	if !t.Idle() {
		e.ChargeWait(t, nil)
	}
	for len(t.Stack) > 0 {
		r := t.Top()
		t.SetClock()
		end := real - t.Suspended
		switch {
		case r.Phase == stack.Done:
			e.Pop(t, r.Mark)
			continue
		case t.Idle():
			t.Stack = t.Stack[:0]
			continue
		case tree.IsExecution(r.Node.Key.Construct):
			e.cutOffTask(t, real)
			continue
		case r.Node.Key.Construct == event.Unknown:
			e.CutOffExisting(t, end)
			continue
		case r.Team != nil && r.Team.Charged:
			t.Stack = t.Stack[:len(t.Stack)-1]
			continue
		}
		r.Uncounted = true
		switch {
		case r.Flags&event.Inline != 0 && r.Phase == stack.InBody && r.InlineEnd == event.EndNext:
			r.Node.Note(noteInlineEnd) // it may have ended long ago
		case r.Team == nil || r.Num >= 0:
			e.Partial++
			fallthrough
		default:
			r.Node.Note(stack.NoteCutOff)
		}
		r.Stop(end)
		if r.Team == nil {
			e.Pop(t, end)
			continue
		}
		if m := r.Team.Member(t.Num); m != nil && r.Phase != stack.Starting {
			r.Parts[profile.Enter].T = ledger.Between(r.Team.Forked, m.Begin)
			if m.End != 0 {
				r.Parts[profile.Body] = profile.Sum{T: ledger.Between(m.Begin, m.End), C: 1}
				r.Child, r.Task, r.Tasks = m.Child+m.Task, m.Task, m.Tasks
			}
		}
		if r.Phase != stack.InBarrier {
			r.Node.Present(r.Seat).Taken += r.Taken()
		}
		r.Team.CutOffPresence(r.Seat, end)
		e.HandUp(t, len(t.Stack)-1, end)
		e.ChargeTop(t, end, ledger.Between(r.Team.Forked, end))
		t.Num = max(r.Num, 0)
		t.Stack = t.Stack[:len(t.Stack)-1]
	}
}

// dictionary returns what will tell the meaning of the numbers in the timeline; nil: none is
// recorded.
func (e *engine) dictionary() *timeline.Dictionary {
	if e.Spans == nil {
		return nil
	}
	return &timeline.Dictionary{Stops: slices.Clone(e.clock.stops)}
}

// seatOfSample returns the seat of a sample. A thread may have got its seat after the sample; the
// result is -1 if it never got one.
func (e *engine) seatOfSample(id tree.SampleID) int {
	if id.Seat >= 0 {
		return id.Seat
	}
	if t := e.threads.byID[id.Tid]; t != nil && t.Known {
		return t.Seat
	}
	return -1
}

// tellLives notes how long the initial threads lived, except the first one. The time in which
// measurement was off is no part of any time, nor of these.
func (e *engine) tellLives() {
	for i := range e.Seats.List {
		e.Seats.List[i].Lived, e.Seats.List[i].Joined = 0, 0
	}
	for _, t := range e.threads.byID {
		if !t.Initial {
			continue
		}
		if r := &e.Seats.List[t.Home]; r.Root > 0 && r.Num == 0 {
			r.Lived += max(1, ledger.Between(t.Born, t.Last)-(t.LastOff-t.BornOff))
			r.Joined++
		}
	}
	for i := range e.Seats.List {
		if e.Seats.List[i].Joined == 1 {
			e.Seats.List[i].Joined = 0
		}
	}
}

// measured returns how long was measured until a time (ns), as far as the events tell.
func (e *engine) measured(end uint64) int64 {
	return max(0, ledger.Between(cmp.Or(e.Began, e.Started), end)-e.OffTime.T)
}
