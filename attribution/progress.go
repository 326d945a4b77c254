package attribution

import (
	"ompp-attach/attribution/stack"
	"ompp-attach/event"
)

// clockSlack is by how much (ns) an event that still comes from another thread may be older than
// the time of Advance. Reading the clock and storing the record are two steps.
const clockSlack = 1e6

// stragglerWait is how long (ns) an event may lag behind others that happened later. A thread can
// be preempted between reading the clock and storing its record.
const stragglerWait = 1e9

// progress says how far the events have been read.
type progress struct {
	now uint64 // every older event has been fed
	// When measurement ended; 0: it goes on. Events that have not been fed will not come.
	finishing uint64
	parked    []*stack.Thread
	// Time of the earliest queued event of the parked threads, except the one being replayed.
	others uint64
}

// allRead tells whether all events before a time have been applied.
func (pg *progress) allRead(at uint64) bool {
	if pg.now < at+clockSlack {
		return false
	}
	for _, p := range pg.parked {
		if p.Queue.Front().Time < at {
			return false
		}
	}
	return true
}

// noneBefore tells whether all begins of a team's thread before a time have been applied. num is
// the thread's number in the team. Of the primary thread (0), the forks of the team count.
func (pg *progress) noneBefore(k stack.TeamKey, num int32, at uint64) bool {
	if pg.now < at+clockSlack {
		return false
	}
	for _, p := range pg.parked {
		for ev := range p.Queue.All() {
			if ev.Time >= at {
				break
			}
			if (ev.Edge == event.Begin || ev.Edge == event.Fork) && ev.Construct != event.TaskExec && ev.Key == k.Key && ev.Num == num && ev.Instance == k.Instance {
				return false
			}
		}
	}
	return true
}

// caughtUp tells whether everything that a thread did before a time is known, but for samples.
func (pg *progress) caughtUp(t *stack.Thread, at uint64) bool {
	return t.Last >= at || t.Edge.Next >= at || pg.now >= at+clockSlack && (!t.Parked() || t.Holding() || t.Queue.Front().Time >= at)
}

// letGo removes a thread from the parked ones. The last of them takes its index.
func (pg *progress) letGo(t *stack.Thread) {
	last := len(pg.parked) - 1
	pg.parked[t.Place] = pg.parked[last]
	pg.parked[t.Place].Place = t.Place
	pg.parked[last] = nil
	pg.parked = pg.parked[:last]
}

// waiting is a parked thread and the time of its first queued event.
type waiting struct {
	at uint64
	t  *stack.Thread
}
