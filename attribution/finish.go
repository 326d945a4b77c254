package attribution

import (
	"maps"
	"slices"

	"ompp-attach/attribution/build"
	"ompp-attach/attribution/ledger"
	"ompp-attach/attribution/tree"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// Finish closes all open regions at a time (CLOCK_MONOTONIC, ns), gives every construct its place
// in the source, and returns the profile's figures. Do not feed the engine afterwards. The caller
// fills in the rest of Meta, which describes the measurement.
func (e *Engine) Finish(end uint64) *profile.Profile {
	end = e.clock.at(end)
	// A parked thread may have a marker in its queue that switches measurement on.
	e.advance(end + 2*stragglerWait)
	if e.offSince != 0 {
		off := e.offSince
		e.countOff(end)
		end = off
	}
	e.settleAll(end)
	e.settleWatch(end)
	e.settleExisting()
	e.tellLives()
	p := build.Assemble(&build.Input{Tree: e.tree, Threads: e.rows.list, Pid: e.pid, Untied: e.untied, TasksGone: e.tasksBack != 0,
		Stacks: e.sampling.stacks, Losses: e.losses, RowOfSample: e.rowOfSample, Measured: e.measured(end),
		Warnings: slices.Concat(e.sharedRow(), e.sampling.note())})
	p.Meta.Hits = e.events
	p.Meta.Overhead = e.ledger.Overhead()
	p.Meta.Off = e.off
	p.Meta.Unmatched = e.unmatched
	p.Meta.Partial = e.partial
	p.Meta.Observations = e.gaps.Observations()
	return p
}

// settleAll charges everything that is open at a time.
func (e *Engine) settleAll(end uint64) {
	e.advance(end + 2*stragglerWait)
	// In order: threads that turn out to be initial threads are numbered here.
	for _, tid := range slices.Sorted(maps.Keys(e.threads.byID)) {
		t := e.threads.byID[tid]
		// A thread may have been read beyond another thread's ompp_off.
		e.cutOff(t, max(end, t.last))
	}
	for _, list := range e.teamsByKey {
		for _, m := range list.open {
			e.cutOffTeam(m, end)
		}
	}
	for _, l := range e.leagues {
		e.cutOffTeam(l.team, end)
	}
	for _, list := range e.teamsByKey {
		for _, m := range list.open {
			e.settleSamples(m)
		}
	}
	for _, l := range e.leagues {
		e.settleSamples(l.team)
	}
}

const noteCutOff = "an execution was under way when measurement ended, or was switched off: it is counted, with its time until then"

// cutOff charges the open regions of a thread when measurement ends.
func (e *Engine) cutOff(t *thread, end uint64) {
	real := end
	if !t.idle() {
		e.chargeWait(t, nil)
	}
	for len(t.stack) > 0 {
		f := t.top()
		t.setClock()
		end := real - t.suspended
		switch {
		case f.phase == done:
			e.pop(t, f.Mark)
			continue
		case t.idle():
			t.stack = t.stack[:0]
			continue
		case tree.IsExecution(f.node.Key.Construct):
			e.cutOffTask(t, real)
			continue
		case f.node.Key.Construct == event.Unknown:
			e.cutOffExisting(t, end)
			continue
		case f.team != nil && f.team.charged:
			t.stack = t.stack[:len(t.stack)-1]
			continue
		}
		f.node.Note(noteCutOff)
		f.Uncounted = true
		if f.team == nil || f.num >= 0 {
			e.partial++
		}
		f.stop(end)
		if f.team == nil {
			e.pop(t, end)
			continue
		}
		if m := f.team.member(t.num); m != nil && f.phase != starting {
			f.Parts[profile.Enter].T = ledger.Span(f.team.forked, m.begin)
			if m.end != 0 {
				f.Parts[profile.Body] = profile.Span{T: ledger.Span(m.begin, m.end), C: 1}
				f.Child, f.Task, f.Tasks = m.Child+m.Task, m.Task, m.Tasks
			}
		}
		if f.phase != inBarrier {
			f.node.Present(f.row).Paid += f.Taken()
		}
		f.team.cutOffPresence(f.row, end)
		e.handUp(t, len(t.stack)-1, end)
		e.ledger.Charge(&f.Account, f.node.Stat(f.row), ledger.Span(f.team.forked, end))
		t.num = max(f.num, 0)
		t.stack = t.stack[:len(t.stack)-1]
	}
}

// cutOffTeam charges workers that had reached the final barrier of a region that was never joined:
// no frame stands for them any more. The primary thread still has its frame.
func (tm *teams) cutOffTeam(m *team, end uint64) {
	for i := range m.members {
		mem := &m.members[i]
		if mem.end == 0 || mem.num == 0 {
			continue
		}
		m.node.Note(noteCutOff)
		last := max(end, mem.end)
		m.cutOffPresence(mem.row, last)
		tm.settleMember(m, mem, mem.end, last, last)
	}
}
