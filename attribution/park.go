package attribution

import (
	"cmp"
	"math"
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
const stragglerWait = 1e9

// openTeam finds the execution that a worker begins: every thread number takes
// part in an execution once, and executions of one team follow each other. One
// that has not been joined yet, as far as we know, may in truth be over and
// followed by another; so the primary thread must have been read up to the
// worker's begin.
func (e *Engine) openTeam(k teamKey, ev *event.Event) *team {
	var found *team // the latest: the join of an older one was lost
	for _, m := range e.openTeams(k) {
		if m.forked > ev.Time || m.member(ev.Num) != nil || m.size > 0 && ev.Num >= m.size ||
			m.joined != 0 && ev.Time > m.joined || found != nil && found.forked > m.forked {
			continue
		}
		found = m
	}
	if found == nil {
		return e.openLeague(ev)
	}
	if found.joined != 0 {
		return found
	}
	if found.primary.lossy && !e.allRead(ev.Time) { // its join may be lost, and the fork of another one not read
		return nil
	}
	if e.caughtUp(found.primary, ev.Time) {
		return found
	}
	return e.openLeague(ev)
}

// caughtUp tells whether everything that a thread did before a time is known.
func (e *Engine) caughtUp(t *thread, at uint64) bool {
	return t.last >= at || e.now >= at+clockSlack && !t.parked()
}

// parked tells whether the thread's events wait.
func (t *thread) parked() bool { return !t.queue.empty() }

// park makes a thread wait for what lies in another ring and comes soon.
func (e *Engine) park(t *thread, ev *event.Event) {
	t.queue.push(&e.chunks, ev)
	t.queue.front().Lost = 0 // that has been told
	t.place = len(e.parked)
	e.parked = append(e.parked, t)
}

// letGo takes a thread from the parked ones; the last of them takes its place.
func (e *Engine) letGo(t *thread) {
	last := len(e.parked) - 1
	e.parked[t.place] = e.parked[last]
	e.parked[t.place].place = t.place
	e.parked[last] = nil
	e.parked = e.parked[:last]
}

// unpark continues the threads that waited for a team.
func (e *Engine) unpark(k teamKey) {
	for i := 0; i < len(e.parked); i++ {
		t := e.parked[i]
		first := t.queue.front()
		if !t.replaying && first.Construct != event.TaskExec && k == (teamKey{first.Instance, first.Key}) && e.openTeam(k, first) != nil {
			e.replay(t)
			i = -1 // the list has changed
		}
	}
}

// replay works off a thread's events until it has to wait again; it tells
// whether any could be applied.
func (e *Engine) replay(t *thread) (any bool) {
	t.replaying = true
	for t.parked() {
		ev := t.queue.front()
		if !e.step(t, ev) {
			ev.Lost = 0
			break
		}
		t.queue.pop(&e.chunks)
		any = true
	}
	t.replaying = false
	if !t.parked() {
		e.letGo(t)
	}
	return any
}

// allRead tells whether all that happened up to a time has been applied.
func (e *Engine) allRead(at uint64) bool {
	if e.now < at+clockSlack {
		return false
	}
	for _, p := range e.parked {
		if p.queue.front().Time < at {
			return false
		}
	}
	return true
}

func (e *Engine) advance(now uint64) {
	now = max(now, e.now)
	e.now = now
	// What one of them did may be what another one waits for: so nobody is given
	// up before all have been tried.
	for e.advanceParked() || e.goOnParked() || e.giveUpOldest(now) {
	}
	if e.watch.active {
		e.advanceWatch()
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

// waiting is a parked thread whose first event is of a time.
type waiting struct {
	at uint64
	t  *thread
}

func laterFirst(a, b waiting) int { return cmp.Compare(b.at, a.at) }

// advanceParked continues the parked threads that can go on, always the one
// that has waited for the longest: tasks begin in the order of their times. It
// tells whether there were any.
func (e *Engine) advanceParked() (any bool) {
	e.order = e.order[:0]
	for _, t := range e.parked {
		e.order = append(e.order, waiting{t.queue.front().Time, t})
	}
	slices.SortFunc(e.order, laterFirst)
	blocked := uint64(math.MaxUint64) // the first of those that cannot
	for len(e.order) > 0 {
		n := len(e.order) - 1
		w := e.order[n]
		e.order = e.order[:n]
		if e.others = blocked; n > 0 {
			e.others = min(blocked, e.order[n-1].at)
		}
		t := w.t
		switch {
		case !t.parked(): // another one's team has let it in
		case w.at == t.queue.front().Time && !e.replay(t):
			blocked = min(blocked, w.at)
		default:
			any = true
			if t.parked() {
				w.at = t.queue.front().Time
				i, _ := slices.BinarySearchFunc(e.order, w, laterFirst)
				e.order = slices.Insert(e.order, i, w)
			}
		}
	}
	e.others = 0
	return any
}

// giveUpOldest continues the thread that has waited for the longest of those for
// which nothing will come any more.
func (e *Engine) giveUpOldest(now uint64) bool {
	e.order = e.order[:0]
	for _, t := range e.parked {
		if at := t.queue.front().Time; now > at+stragglerWait {
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

// giveIn continues a parked thread without what it has waited for for too long.
func (e *Engine) giveIn(t *thread) bool {
	first := t.queue.front()
	m := e.unnamed(first)
	switch {
	case first.Construct == event.TaskExec:
		return false // older ones come first
	case m != nil:
		e.bind(m, teamKey{first.Instance, first.Key})
	case first.Runtime == event.Gomp && t.queue.onlySamplesFollow():
		// libgomp ends the threads of an initial thread that ends by a
		// call that looks like a region's (gomp_free_pool_helper). Where it
		// was sampled then is nobody's.
		e.letGo(t)
		t.queue.drop(&e.chunks)
		e.forget(t)
	default:
		e.orphan(t)
	}
	return true
}

// unnamed returns the team of libomp that a worker's begin belongs to, for all that is
// known without its name: the latest whose primary thread has been silent since it
// forked it, and that executes the same function. The primary thread tells the name
// when it begins; workers do not wait for that, and it may be given no core for seconds.
func (e *Engine) unnamed(begin *event.Event) (latest *team) {
	if begin.Runtime != event.Kmpc || begin.Edge != event.Begin || begin.Construct == event.TaskExec || begin.Num == 0 {
		return nil
	}
	for _, t := range e.threads {
		f := t.top()
		if f == nil || f.team == nil || f.phase != starting || t.last != f.team.forked {
			continue
		}
		if m := f.team; !m.bound && m.forked <= begin.Time && (begin.Fn == 0 || m.node.key.Fn == begin.Fn) &&
			m.member(begin.Num) == nil && (latest == nil || latest.forked < m.forked) {
			latest = m
		}
	}
	return latest
}

// orphan continues a thread whose team's fork was never seen.
func (e *Engine) orphan(t *thread) {
	ev := t.queue.front()
	n := e.child(e.root, Key{Kind: Kind{Construct: event.Unknown}})
	e.leaveAll(t)
	t.num, t.row, t.known = ev.Num, e.row(0, int(ev.Num)), true
	t.stack = append(t.stack, frame{node: n, phase: inBody, row: t.row, start: ev.Time, num: -1, uncounted: true})
	*ev = event.Event{TID: t.tid, Time: ev.Time}
	e.partial++
	e.replay(t)
}

// forgetIdle drops workers that have done nothing for a while: libgomp makes
// new threads for every nested team, and programs may start threads without
// end. One that comes back begins anew.
func (e *Engine) forgetIdle() {
	const idle, few = 5e9, 1024
	for _, t := range e.threads {
		if (len(t.stack) == 0 || t.idle()) && !t.parked() && !t.initial && t.last+idle < e.now {
			e.forget(t)
		}
	}
	for k, list := range e.teams {
		if len(list.open) == 0 {
			delete(e.teams, k)
		}
	}
	clear(e.lists[:])
	e.crowd = max(few, 2*len(e.threads))
}
