package attribution

import (
	"cmp"
	"math"
	"slices"

	"ompp-attach/attribution/place"
	"ompp-attach/event"
)

// Threads are read from different rings, so a worker's begin can be read before the fork of its
// team. Such a thread is parked: its begin and all later events wait in its queue.

// clockSlack is how much older (ns) than the time of Advance an event of another thread may be that
// still comes: reading the clock and storing the record are two steps.
const clockSlack = 1e6

// stragglerWait is how long (ns) an event may lag behind others that happened
// later: a thread can be preempted between reading the clock and storing its
// record.
const stragglerWait = 1e9

// progress says how far the events have been read.
type progress struct {
	now    uint64 // every older event has been fed
	parked []*thread
	// Time of the earliest queued event of the parked threads, except the one being replayed.
	others uint64
}

// openTeam finds the execution that a worker begins, nil if it is not known yet. Each thread number
// takes part in an execution once, and executions of one team follow each other. An execution
// without a join so far may in truth be over, and followed by another one. So the events of the
// primary thread must have been read up to the worker's begin.
func (pa *parallel) openTeam(k teamKey, ev *event.Event) *team {
	var found *team // the latest: the join of an older one was lost
	for _, m := range pa.openTeams(k) {
		if m.forked > ev.Time || m.member(ev.Num) != nil || m.size > 0 && ev.Num >= m.size ||
			m.joined != 0 && ev.Time > m.joined || found != nil && found.forked > m.forked {
			continue
		}
		found = m
	}
	if found == nil {
		return pa.openLeague(ev)
	}
	if found.joined != 0 {
		return found
	}
	// Its join may be lost, and the fork of another one not read.
	if found.primary.lossy && !pa.allRead(ev.Time) {
		return nil
	}
	if pa.caughtUp(found.primary, ev.Time) {
		return found
	}
	return pa.openLeague(ev)
}

// caughtUp tells whether everything that a thread did before a time is known.
func (pg *progress) caughtUp(t *thread, at uint64) bool {
	return t.last >= at || pg.now >= at+clockSlack && !t.parked()
}

// parked tells whether the thread's events wait.
func (t *thread) parked() bool { return !t.queue.Empty() }

// park makes a thread wait for an event of another ring, which comes soon.
func (e *Engine) park(t *thread, ev *event.Event) {
	t.queue.Push(&e.chunks, ev)
	t.queue.Front().Lost = 0 // that loss has been counted
	t.place = len(e.parked)
	e.parked = append(e.parked, t)
}

// letGo removes a thread from the parked ones. The last of them takes its index.
func (pg *progress) letGo(t *thread) {
	last := len(pg.parked) - 1
	pg.parked[t.place] = pg.parked[last]
	pg.parked[t.place].place = t.place
	pg.parked[last] = nil
	pg.parked = pg.parked[:last]
}

// unpark continues the threads that waited for a team.
func (e *Engine) unpark(k teamKey) {
	for i := 0; i < len(e.parked); i++ {
		t := e.parked[i]
		first := t.queue.Front()
		if !t.replaying && first.Construct != event.TaskExec && k == (teamKey{first.Instance, first.Key}) && e.openTeam(k, first) != nil {
			e.replay(t)
			i = -1 // the list has changed
		}
	}
}

// replay applies a thread's queued events until the thread has to wait again. It tells whether any
// could be applied.
func (e *Engine) replay(t *thread) (any bool) {
	t.replaying = true
	for t.parked() {
		ev := t.queue.Front()
		if !e.step(t, ev) {
			ev.Lost = 0
			break
		}
		t.queue.Pop(&e.chunks)
		any = true
	}
	t.replaying = false
	if !t.parked() {
		e.letGo(t)
	}
	return any
}

// allRead tells whether all events before a time have been applied.
func (pg *progress) allRead(at uint64) bool {
	if pg.now < at+clockSlack {
		return false
	}
	for _, p := range pg.parked {
		if p.queue.Front().Time < at {
			return false
		}
	}
	return true
}

func (e *Engine) advance(now uint64) {
	now = max(now, e.now)
	e.now = now
	// An event of one parked thread may be what another one waits for. So no thread is given up
	// before all have been tried.
	for e.advanceParked() || e.goOnParked() || e.giveUpOldest(now) {
	}
	if e.budgeted {
		e.advanceWatch()
	}
	// Only now: threads that have just been let in may complete their teams.
	keep := e.joined[:0]
	for _, m := range e.joined {
		switch {
		case e.trySettle(m):
			e.freeTeams = append(e.freeTeams, m)
		case now <= m.joined+stragglerWait:
			keep = append(keep, m)
		default:
			e.giveUp(m) // late threads may still point to this team: its memory is not used again
		}
	}
	e.joined = keep
	if len(e.threads.byID) > e.crowd {
		e.forgetIdle()
	}
}

// waiting is a parked thread and the time of its first queued event.
type waiting struct {
	at uint64
	t  *thread
}

func laterFirst(a, b waiting) int { return cmp.Compare(b.at, a.at) }

// advanceParked continues the parked threads that can go on. It always takes the thread with the
// oldest event, because tasks begin in the order of their times. It tells whether any thread could
// go on.
func (e *Engine) advanceParked() (any bool) {
	e.order = e.order[:0]
	for _, t := range e.parked {
		e.order = append(e.order, waiting{t.queue.Front().Time, t})
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
		case !t.parked(): // an event of another thread has continued it
		case w.at == t.queue.Front().Time && !e.replay(t):
			blocked = min(blocked, w.at)
		default:
			any = true
			if t.parked() {
				w.at = t.queue.Front().Time
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
func (e *Engine) giveUpOldest(now uint64) bool {
	e.order = e.order[:0]
	for _, t := range e.parked {
		if at := t.queue.Front().Time; now > at+stragglerWait {
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
// task's begin, which has to wait for older events of other threads.
func (e *Engine) giveIn(t *thread) bool {
	first := t.queue.Front()
	m := e.unnamed(first)
	switch {
	case first.Construct == event.TaskExec:
		return false // threads with older events go on first
	case m != nil:
		e.bind(m, teamKey{first.Instance, first.Key})
		e.followUp()
	case first.Runtime == event.Gomp && t.queue.OnlySamplesFollow():
		// libgomp ends the threads of an ending initial thread by a call that looks like a
		// region's (gomp_free_pool_helper). Samples taken in that call belong to no region.
		e.letGo(t)
		t.queue.Drop(&e.chunks)
		e.forget(t)
	default:
		e.orphan(t)
	}
	return true
}

// unnamed returns the team of libomp that a worker's begin most likely belongs to while the team's
// name is not known. It is the latest team whose primary thread has reported nothing since the
// fork, and that executes the same function. The primary thread names the team when it begins.
// Workers do not wait for that, and the primary thread may get no core for seconds.
func (e *Engine) unnamed(begin *event.Event) (latest *team) {
	if begin.Runtime != event.Kmpc || begin.Edge != event.Begin || begin.Construct == event.TaskExec || begin.Num == 0 {
		return nil
	}
	for _, t := range e.threads.byID {
		f := t.top()
		if f == nil || f.team == nil || f.phase != starting || t.last != f.team.forked {
			continue
		}
		if m := f.team; !m.bound && m.forked <= begin.Time && (begin.Fn == 0 || m.node.Key.Fn == begin.Fn) &&
			m.member(begin.Num) == nil && (latest == nil || latest.forked < m.forked) {
			latest = m
		}
	}
	return latest
}

// orphan continues a thread whose team's fork was never seen, in a region of its own.
func (e *Engine) orphan(t *thread) {
	ev := t.queue.Front()
	n := e.tree.Child(e.tree.Root, place.Key{Kind: place.Kind{Construct: event.Unknown}})
	e.leaveAll(t)
	t.num, t.row, t.known = ev.Num, e.row(0, int(ev.Num)), true
	t.openUnderWay(n, t.row, ev.Time)
	*ev = event.Event{TID: t.tid, Time: ev.Time}
	e.partial++
	e.replay(t)
}

// forgetIdle drops workers that have done nothing for a while: libgomp makes new threads for every
// nested team, and programs may start threads without end. A dropped thread that reports again
// counts as new.
func (e *Engine) forgetIdle() {
	const idle, few = 5e9, 1024
	for _, t := range e.threads.byID {
		if (len(t.stack) == 0 || t.idle()) && !t.parked() && !t.initial && t.last+idle < e.now {
			e.forget(t)
		}
	}
	for k, list := range e.teamsByKey {
		if len(list.open) == 0 {
			delete(e.teamsByKey, k)
		}
	}
	clear(e.lists[:])
	e.crowd = max(few, 2*len(e.threads.byID))
}
