package attribution

import (
	"slices"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// Constructs of OpenMP 4.0 and later, except tasks: leagues of teams, cancellation, doacross loops,
// scope, target.

// league is an execution of a teams construct in libomp. Each team of the league runs on a thread
// of its own, and that thread is thread 0 of its team.
type league struct {
	team     *team // its members are the threads that execute the teams
	fn       uint64
	instance uint16
}

const noteLeague = "a row is a team of the league: 0 runs on the thread that encountered the construct, " +
	"the others are numbered in the order in which they were seen to begin, which need not be that of their team numbers"

const noteOneThread = "libgomp executes the teams of a league one after another on one thread; teamC is their number, " +
	"and a distribute construct in them makes no call of its own: its time is part of bodyT"

// openLeague finds the league of a thread that begins as thread 0. It is the open execution of that
// teams construct, and the primary thread's events must have been read up to the begin (see
// openTeam). If two threads execute one teams construct at once, their leagues cannot be told
// apart.
func (pa *parallel) openLeague(ev *event.Event) *team {
	if ev.Num != 0 {
		return nil
	}
	for _, l := range pa.leagues {
		m := l.team
		if l.fn != ev.Fn || l.instance != ev.Instance || m.forked > ev.Time || m.joined != 0 && ev.Time > m.joined {
			continue
		}
		if m.joined != 0 || pa.caughtUp(m.primary, ev.Time) {
			return m
		}
	}
	return nil
}

func (tm *teams) closeLeague(m *team) {
	tm.leagues = slices.DeleteFunc(tm.leagues, func(l league) bool { return l.team == m })
}

// numberInLeague gives a thread the next number in its league. Thread 0 is the thread that
// encountered the construct. The true team number would have to be read from the runtime's
// internals.
func (m *team) numberInLeague(t *thread) int32 {
	m.node.Note(noteLeague)
	n := int32(1)
	for m.member(n) != nil {
		n++
	}
	t.inLeague = true
	return n
}

// afterLeague tells whether an event is libomp's end of a team of a league. libomp ends such a team
// like a serialised region, on a thread that has left the league's stack already.
func afterLeague(t *thread, ev *event.Event) bool {
	return ev.Flags&event.Inside != 0 && t.inLeague
}

// teamDone notes that libgomp has executed one team of a league.
func (pa *parallel) teamDone(t *thread, _ *event.Event) {
	i := t.level()
	if i < 0 || t.stack[i].node.Key.Construct != event.Teams {
		pa.unmatched++
		return
	}
	t.stack[i].Parts[profile.Body].C++
	t.stack[i].node.Note(noteOneThread)
}

// nextTeam applies libgomp's request for the next team of a target region that the host executes in
// a loop. Num is not 0 for the first team.
func (pa *parallel) nextTeam(t *thread, ev *event.Event) {
	if ev.Num&0xff == 0 {
		return
	}
	first := *ev
	first.Edge, first.Num = event.Fork, 0
	first.Flags = first.Flags&^event.NoReturn | event.AtOnce
	pa.fork(t, &first)
}

// lastTeam applies the runtime's answer whether there is another team.
func (pa *parallel) lastTeam(t *thread, ev *event.Event) {
	if ev.Value != 0 {
		pa.teamDone(t, ev)
		return
	}
	pa.join(t, ev)
}

// cancelled applies the runtime's answer whether the region is cancelled.
func (ex *exclusive) cancelled(t *thread, ev *event.Event) {
	i := t.find(ev.Construct, func(f *frame) bool { return f.phase == entering })
	if i < 0 {
		ex.unmatched++
		return
	}
	f := &t.stack[i]
	f.Pass(profile.Body, ev.Time)
	if ev.Value != 0 {
		f.Parts[profile.Body].C++
	}
	ex.remove(t, i, ev.Time)
}

// reduces applies the runtime's answer whether the thread combines its result.
func (ex *exclusive) reduces(t *thread, ev *event.Event) {
	i := t.find(event.Reduction, func(f *frame) bool { return f.phase == entering })
	if i < 0 {
		ex.unmatched++
		return
	}
	f := &t.stack[i]
	f.Pass(profile.Enter, ev.Time)
	f.Parts[profile.Enter].C++
	f.phase, f.Mark = inBody, ev.Time
	const combine = 1
	if ev.Value == combine {
		f.Parts[profile.Body].C++
		return
	}
	ex.remove(t, i, ev.Time)
}

// endWhole ends a directive without a body. Its time counts as leaving.
func (ex *exclusive) endWhole(t *thread, ev *event.Event) {
	f := t.top()
	if f == nil || f.flags&event.Whole == 0 {
		ex.unmatched++
		return
	}
	f.Pass(profile.Exit, ev.Time)
	ex.pop(t, ev.Time)
}

// endsEarly tells whether an implicit barrier ends the construct of a frame. It ends a construct
// that libomp never closed because it was cancelled, and a scope construct of libgomp.
func (sh *sharing) endsEarly(f *frame, ev *event.Event) bool {
	if f == nil || f.phase != inBody || ev.Construct != event.Barrier {
		return false
	}
	switch f.node.Key.Construct {
	case event.Loop, event.Sections:
		return ev.Loc != 0 && sh.tree.Answers.Barrier(ev.Loc) == BarrierImplicit
	case event.Scope:
		return ev.Loc == 0 || sh.tree.Answers.Barrier(ev.Loc) == BarrierImplicit
	}
	return false
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

// targetAgain tells whether an entry point of libomptarget was called by another one. The two calls
// are one target region.
func (t *thread) targetAgain(ev *event.Event) bool {
	f := t.top()
	if f == nil || f.node.Key.Construct != event.Target || ev.Flags&event.Inside == 0 {
		return false
	}
	f.nested++
	return true
}

// targetInner tells whether the inner of two such entry points returns.
func (f *frame) targetInner() bool {
	if f.nested == 0 {
		return false
	}
	f.nested--
	return true
}
