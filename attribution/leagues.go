package attribution

import (
	"ompp-attach/attribution/stack"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// Leagues of teams that libgomp executes (those of libomp: openLeague).

const noteOneThread = "libgomp executes the teams of a league one after another on one thread; teamC is their number, " +
	"and a distribute construct in them makes no call of its own: its time is part of bodyT"

// teamDone notes that libgomp has executed one team of a league.
func (pa *parallel) teamDone(t *stack.Thread, _ *event.Event) {
	i := t.Level()
	if i < 0 || t.Stack[i].Node.Key.Construct != event.Teams {
		pa.Unmatched++
		return
	}
	t.Stack[i].Parts[profile.Body].C++
	t.Stack[i].Node.Note(noteOneThread)
}

// nextTeam applies libgomp's request for the next team of a target region that the host executes in
// a loop. Num is not 0 for the first team.
func (pa *parallel) nextTeam(t *stack.Thread, ev *event.Event) {
	if ev.Num&0xff == 0 {
		return
	}
	first := *ev
	first.Edge, first.Num = event.Fork, 0
	first.Flags = first.Flags&^event.NoReturn | event.AtOnce
	pa.fork(t, &first)
}

// lastTeam applies the runtime's answer whether there is another team.
func (pa *parallel) lastTeam(t *stack.Thread, ev *event.Event) {
	if ev.Value != 0 {
		pa.teamDone(t, ev)
		return
	}
	pa.join(t, ev)
}
