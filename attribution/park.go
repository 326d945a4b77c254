package attribution

import (
	"slices"

	"ompp-attach/event"
)

// Threads are read from different rings, so a worker's begin can be read
// before the fork it belongs to. Such a thread waits, and its events with it.

// clockSlack is how much later (ns) than Advance says an event may still come
// from another thread: reading the clock and storing the record are two steps.
const clockSlack = 1e6

// stragglerWait is how long (ns) an event may lag behind others that happened
// later: a thread can be preempted between reading the clock and storing its
// record.
const stragglerWait = 200e6

// openTeam finds the execution that a worker begins: every thread number takes
// part in an execution once, and executions of one team follow each other. One
// that has not been joined yet, as far as we know, may in truth be over and
// followed by another; so the primary thread must have been read up to the
// worker's begin.
func (e *Engine) openTeam(k teamKey, ev *event.Event) *team {
	for _, m := range e.teams[k] {
		if m.forked > ev.Time || m.member(ev.Num) != nil || m.size > 0 && ev.Num >= m.size {
			continue
		}
		if m.joined != 0 {
			if ev.Time <= m.joined {
				return m
			}
			continue
		}
		if e.caughtUp(m.primary, ev.Time) {
			return m
		}
	}
	return e.openLeague(ev)
}

// caughtUp tells whether everything that a thread did before a time is known.
func (e *Engine) caughtUp(t *thread, at uint64) bool {
	return t.last >= at || e.now >= at+clockSlack && len(t.waiting) == 0 && !t.replaying
}

// park makes a thread wait for what lies in another ring and comes soon.
func (e *Engine) park(t *thread, begin *event.Event) {
	t.waiting = append(t.waiting, *begin)
	e.parked = append(e.parked, t)
}

// unpark continues the threads that waited for a team.
func (e *Engine) unpark(k teamKey) {
	for i := 0; i < len(e.parked); i++ {
		t := e.parked[i]
		first := &t.waiting[0]
		if k == (teamKey{first.Instance, first.Key}) && e.openTeam(k, first) != nil {
			e.replay(t)
			i = -1 // the list has changed
		}
	}
}

// replay works off a thread's events until it has to wait again.
func (e *Engine) replay(t *thread) {
	i := slices.Index(e.parked, t)
	e.parked = slices.Delete(e.parked, i, i+1)
	q := t.waiting
	t.replaying = true
	t.waiting, t.spare = t.spare[:0], nil // two buffers change places: no allocation per region
	for i := range q {
		if len(t.waiting) > 0 {
			t.waiting = append(t.waiting, q[i:]...)
			break
		}
		e.step(t, &q[i])
	}
	t.spare, t.replaying = q[:0], false
}

// Advance says that every event older than now (CLOCK_MONOTONIC, ns) has been
// fed, so that what still waits for one is settled with what there is.
func (e *Engine) Advance(now uint64) {
	e.now = now
	e.replayAll()
	for i := 0; i < len(e.parked); i++ {
		t := e.parked[i]
		first := &t.waiting[0]
		switch {
		case now <= first.Time+stragglerWait:
			continue
		case len(t.waiting) == 1 && first.Runtime == event.Gomp:
			// libgomp ends the threads of an initial thread that ends by a
			// call that looks like a region's (gomp_free_pool_helper).
			e.parked = slices.Delete(e.parked, i, i+1)
			delete(e.threads, t.tid)
		default:
			e.orphan(t)
		}
		e.replayAll()
		i = -1 // the list has changed
	}
	// Only now: threads that have just been let in may complete their teams.
	keep := e.settle[:0]
	for _, m := range e.settle {
		switch {
		case e.trySettle(m):
			e.free = append(e.free, m)
		case now <= m.joined+stragglerWait:
			keep = append(keep, m)
		default:
			e.giveUp(m) // threads that come late may still point to it: it is not used again
		}
	}
	e.settle = keep
	if len(e.threads) > e.crowd {
		e.forgetIdle()
	}
}

// replayAll continues the threads whose teams are known by now. What one of
// them did may be what another one waits for: so nobody is given up before.
func (e *Engine) replayAll() {
	for i := 0; i < len(e.parked); i++ {
		t := e.parked[i]
		first := &t.waiting[0]
		if e.openTeam(teamKey{first.Instance, first.Key}, first) != nil {
			e.replay(t)
			i = -1 // the list has changed
		}
	}
}

// orphan continues a thread whose team's fork was never seen.
func (e *Engine) orphan(t *thread) {
	ev := &t.waiting[0]
	n := e.child(e.root, Key{Construct: event.Unknown})
	t.stack = t.stack[:0]
	t.num, t.row, t.known = ev.Num, e.row(0, int(ev.Num)), true
	t.stack = append(t.stack, frame{node: n, phase: inBody, row: t.row, start: ev.Time, num: -1})
	t.waiting[0] = event.Event{TID: t.tid}
	e.partial++
	e.replay(t)
}

// forgetIdle drops workers that have done nothing for a while: libgomp makes
// new threads for every nested team, and programs may start threads without
// end. One that comes back begins anew.
func (e *Engine) forgetIdle() {
	const idle, few = 5e9, 1024
	for tid, t := range e.threads {
		if len(t.stack) == 0 && len(t.waiting) == 0 && !t.initial && t.last+idle < e.now {
			delete(e.threads, tid)
		}
	}
	for k, list := range e.teams {
		if len(list) == 0 {
			delete(e.teams, k)
		}
	}
	e.crowd = max(few, 2*len(e.threads))
}
