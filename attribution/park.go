package attribution

import (
	"cmp"
	"math"
	"slices"

	"ompp-attach/attribution/place"
	"ompp-attach/attribution/stack"
	"ompp-attach/event"
)

// Threads are read from different rings, so a worker's begin can be read before the fork of its
// team. Such a thread is parked: its begin and all later events wait in its queue.

// park makes a thread wait for an event of another ring, which comes soon.
func (e *engine) park(t *stack.Thread, ev *event.Event) {
	t.Queue.Push(&e.chunks, ev)
	t.Queue.Front().Lost = 0 // that loss has been counted
	t.Place = len(e.parked)
	e.parked = append(e.parked, t)
}

// unpark continues the threads that waited for a team.
func (e *engine) unpark(k stack.TeamKey) {
	for i := 0; i < len(e.parked); i++ {
		t := e.parked[i]
		first := t.Queue.Front()
		if !t.Replaying && first.Construct != event.TaskExec && k == (stack.TeamKey{Instance: first.Instance, Key: first.Key}) && e.openTeam(t, first) != nil && e.replay(t) {
			i = -1 // the list has changed
		}
	}
}

// replay applies a thread's queued events until the thread has to wait again. It tells whether any
// could be applied.
func (e *engine) replay(t *stack.Thread) (any bool) {
	t.Replaying = true
	for t.Parked() {
		ev := t.Queue.Front()
		if !e.try(t, ev) {
			ev.Lost = 0
			break
		}
		t.Queue.Pop(&e.chunks)
		any = true
	}
	t.Replaying = false
	if !t.Parked() {
		e.letGo(t)
	}
	return any
}

func (e *engine) advance(now uint64) {
	now = max(now, e.now)
	e.now = now
	// An event of one parked thread may be what another one waits for. So no thread is given up
	// before all have been tried.
	for e.advanceParked() || e.goOnParked() || e.giveUpOldest(now) {
	}
	if e.Switching {
		e.advanceSwitches(e.passUntil)
	}
	read := now
	for _, t := range e.parked {
		read = min(read, t.Queue.Front().Time)
	}
	e.MPI.Sources.Settle(read, stragglerWait)
	// Only now: threads that have just been let in may complete their teams.
	keep := e.Joined[:0]
	for _, m := range e.Joined {
		switch {
		case e.chargeIfComplete(m):
			e.FreeTeams = append(e.FreeTeams, m)
		case now <= m.Joined+stragglerWait:
			keep = append(keep, m)
		default:
			e.GiveUp(m) // late threads may still point to this team: its memory is not used again
		}
	}
	e.Joined = keep
	if len(e.threads.byID) > e.crowd {
		e.forgetIdle()
	}
}

func laterFirst(a, b waiting) int { return cmp.Compare(b.at, a.at) }

// advanceParked continues the parked threads that can go on. It always takes the thread with the
// oldest event, because tasks begin in the order of their times. It tells whether any thread could
// go on.
func (e *engine) advanceParked() (any bool) {
	e.order = e.order[:0]
	for _, t := range e.parked {
		e.order = append(e.order, waiting{t.Queue.Front().Time, t})
	}
	slices.SortFunc(e.order, laterFirst)
	blocked := uint64(math.MaxUint64) // time of the oldest event that has to go on waiting
	for len(e.order) > 0 {
		n := len(e.order) - 1
		w := e.order[n]
		e.order = e.order[:n]
		if e.others = blocked; n > 0 {
			e.others = min(blocked, e.order[n-1].at)
		}
		t := w.t
		switch {
		case !t.Parked(): // an event of another thread has continued it
		case w.at == t.Queue.Front().Time && !e.replay(t):
			blocked = min(blocked, w.at)
		default:
			any = true
			if t.Parked() {
				w.at = t.Queue.Front().Time
				i, _ := slices.BinarySearchFunc(e.order, w, laterFirst)
				e.order = slices.Insert(e.order, i, w)
			}
		}
	}
	e.others = 0
	return any
}

// giveUpOldest continues one thread that has waited for more than stragglerWait: the one that has
// waited longest of those that giveIn can continue.
func (e *engine) giveUpOldest(now uint64) bool {
	e.order = e.order[:0]
	for _, t := range e.parked {
		if at := t.Queue.Front().Time; now > at+stragglerWait {
			e.order = append(e.order, waiting{at, t})
		}
	}
	slices.SortFunc(e.order, laterFirst)
	for _, w := range slices.Backward(e.order) {
		if e.giveIn(w.t) {
			return true
		}
	}
	return false
}

// giveIn continues a parked thread although the awaited event has not come. It answers false for a
// task's begin, and for the end of a wait for tasks. These have to wait for older events of other
// threads.
func (e *engine) giveIn(t *stack.Thread) bool {
	first := t.Queue.Front()
	m := e.unnamed(first)
	switch {
	case t.Edge.Pending():
		t.Edge.GivenUp = true
		return e.replay(t)
	case first.Construct == event.TaskExec || first.Edge == event.Waited: // see AwaitsEnds
		return false // threads with older events go on first
	case m != nil:
		e.Bind(m, stack.TeamKey{Instance: first.Instance, Key: first.Key})
		e.followUp()
	case first.Runtime == event.Gomp && t.Queue.OnlySamplesFollow():
		// libgomp ends the threads of an ending initial thread by a call that looks like a
		// region's (gomp_free_pool_helper). Samples taken in that call belong to no region.
		e.letGo(t)
		t.Queue.Drop(&e.chunks)
		e.forget(t)
	default:
		t.GivenUp = true
		applied := e.replay(t)
		if t.GivenUp = false; !applied {
			e.orphan(t)
		}
	}
	return true
}

// unnamed returns the libomp team that a worker's begin most likely belongs to if the team's name
// is not known yet. That is the latest team that executes the same function, and whose primary
// thread has reported nothing since the fork. The primary thread names the team when it begins.
// Workers do not wait for that, and the primary thread may get no core for seconds.
func (e *engine) unnamed(begin *event.Event) (latest *stack.Team) {
	if begin.Runtime != event.Kmpc || begin.Edge != event.Begin || begin.Construct == event.TaskExec || begin.Num == 0 {
		return nil
	}
	for _, t := range e.threads.byID {
		r := t.Top()
		if r == nil || r.Team == nil || r.Phase != stack.Starting || t.Last != r.Team.Forked {
			continue
		}
		if m := r.Team; !m.Bound && m.Forked <= begin.Time && (begin.Fn == 0 || m.Node.Key.Fn == begin.Fn) &&
			m.Member(begin.Num) == nil && (latest == nil || latest.Forked < m.Forked) {
			latest = m
		}
	}
	return latest
}

// orphan continues a thread whose team's fork was never seen, in a region of its own.
func (e *engine) orphan(t *stack.Thread) {
	ev := t.Queue.Front()
	n := e.Tree.Child(e.Tree.Root, place.Key{RuntimeConstruct: place.RuntimeConstruct{Construct: event.Unknown}})
	e.LeaveAll(t)
	t.Num, t.Seat, t.Known = ev.Num, e.Seat(0, int(ev.Num)), true
	t.OpenUnderWay(n, t.Seat, ev.Time)
	*ev = event.Event{TID: t.Tid, Time: ev.Time}
	e.Partial++
	e.replay(t)
}

// forgetIdle drops workers that have done nothing for a while: libgomp makes new threads for every
// nested team, and programs may start threads without end. A dropped thread that reports again
// counts as new.
func (e *engine) forgetIdle() {
	const idle, few = 5e9, 1024
	for _, t := range e.threads.byID {
		if (len(t.Stack) == 0 || t.Idle()) && !t.Parked() && !t.Initial && t.Last+idle < e.now {
			e.forget(t)
		}
	}
	for k, list := range e.TeamsByKey {
		if len(list.Open) == 0 {
			delete(e.TeamsByKey, k)
		}
	}
	clear(e.Lists[:])
	e.crowd = max(few, 2*len(e.threads.byID))
}
