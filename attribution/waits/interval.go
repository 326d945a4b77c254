package waits

import "ompp-attach/attribution/tree"

// Interval notes what a thread does in a team between two barriers.
type Interval struct {
	OffCore *OffCoreTimes // when the thread was off its core; nil: not known
	team    *Team
	id      uint64    // of the team's execution
	outer   *Interval // of the team around, in which the thread goes on after this one
	inner   *Interval // for the next team that the thread forks in this one
	num     int32     // the thread's number in the team
	seq     int       // number of the team's barriers that the thread has come to
	at      *instance // the barrier that the thread is in; nil: none
	// Running: the thread is in no barrier, and its time is noted.
	running bool
	// Working: the thread is in a barrier and executes a task, whose time is noted.
	working bool
	// Pending: the thread may have come to a barrier; a later event tells.
	pending bool
	// The time since the last barrier counts from the last arrival there,
	// which may not be read yet.
	unsure bool
	tick   uint64 // time up to which everything is noted, ns
	idle   uint64 // in a barrier: since when the thread has had no task, ns
	noCore int64  // since the last barrier, the time without a core, ns
	since  uint64 // when the thread left the last barrier, or its team was forked; 0: not known
	hint   int    // index in own of the region that was noted last
	own    []pathTime
	uses   []Use // of locks
	// For whose tasks the thread has waited since the last barrier, or in the tasks that it
	// executes in a barrier.
	awaited []awaited
}

// pathTime is how long a thread was in a region, without the regions inside it (ns).
type pathTime struct {
	node   *tree.Node
	seat   int
	all    int64
	waited int64 // the part of it in which the thread waited for others
}

// maxPaths bounds the regions that are told apart between two barriers. All others have the last
// place together, without a node: their time counts for no region, and as work.
const maxPaths = 256

// Begin starts the interval of a thread that begins a team's body as thread num. before is the
// thread's interval in the team around; spare is an old interval of this thread that may be used
// again. Both may be nil. The time counts from the fork on. The barriers of a nil team are not
// matched.
func (tm *Team) Begin(before, spare *Interval, num int32, forked uint64) *Interval {
	iv := spare
	if before != nil {
		iv = before.inner
	}
	if iv == nil {
		iv = &Interval{}
		if before != nil {
			before.inner = iv
		}
	}
	// Field by field: regions begin often.
	iv.team, iv.id, iv.outer, iv.num, iv.seq, iv.at = tm, 0, before, num, 0, nil
	iv.running, iv.working, iv.pending, iv.unsure, iv.tick, iv.hint, iv.noCore = false, false, false, false, forked, 0, 0
	iv.since = forked
	if len(iv.own)+len(iv.uses)+len(iv.awaited) > 0 {
		iv.own, iv.uses, iv.awaited = iv.own[:0], iv.uses[:0], iv.awaited[:0]
	}
	if tm != nil {
		iv.id, iv.running = tm.id, true
		tm.nested = tm.nested || before.inTeam()
	}
	return iv
}

// inTeam tells whether the thread is in a team whose barriers are matched.
func (iv *Interval) inTeam() bool {
	for ; iv != nil; iv = iv.outer {
		if iv.team != nil {
			return true
		}
	}
	return false
}

// Outer returns the thread's interval in the team around; nil if there is none.
func (iv *Interval) Outer() *Interval { return iv.outer }

// Of tells whether the interval belongs to an execution of a team.
func (iv *Interval) Of(tm *Team) bool { return tm != nil && iv.team == tm && iv.id == tm.id }

// Running tells whether the thread's time is noted: it is in no barrier.
func (iv *Interval) Running() bool { return iv.running }

// Noting tells whether the thread's time is noted: it is in no barrier, or executes a task there.
func (iv *Interval) Noting() bool { return iv.running || iv.working }

// Note notes that the thread has been in a region since the last note, until at (ns). waited says
// whether it waited for others there. seat is the seat of the thread's figures in that region.
func (iv *Interval) Note(n *tree.Node, seat int, waited bool, at uint64) {
	if at <= iv.tick {
		return
	}
	d := int64(at - iv.tick)
	iv.tick = at
	if iv.hint < len(iv.own) && iv.own[iv.hint].node == n && !waited {
		iv.own[iv.hint].all += d
		return
	}
	p := iv.path(n, seat)
	if p.all += d; waited && p.node != nil {
		p.waited += d
	}
}

// NoCore notes that the thread was ready to run, but had no core, for a time (ns).
func (iv *Interval) NoCore(d int64) {
	if iv.running {
		iv.noCore += d
	}
}

// Folded notes the time of folded executions of a region (ns), and the part of it in which the
// thread waited. The time was noted for the region around before, and is taken from it.
func (iv *Interval) Folded(n, around *tree.Node, seat int, all, waited int64) {
	p := iv.path(n, seat)
	if p.all += all; p.node != nil {
		p.waited += waited
	}
	iv.path(around, seat).all -= all
}

func (iv *Interval) path(n *tree.Node, seat int) *pathTime {
	for i := iv.hint + 1; i < len(iv.own); i++ { // mostly in the same order again
		if iv.own[i].node == n {
			iv.hint = i
			return &iv.own[i]
		}
	}
	for i := range iv.own[:min(len(iv.own), iv.hint+1)] {
		if iv.own[i].node == n {
			iv.hint = i
			return &iv.own[i]
		}
	}
	if len(iv.own) >= maxPaths-1 {
		n = nil
	}
	if iv.hint = maxPaths - 1; len(iv.own) < maxPaths {
		iv.hint = len(iv.own)
		iv.own = append(iv.own, pathTime{node: n, seat: seat})
	}
	return &iv.own[iv.hint]
}

// Task notes that the thread has executed tasks from one time to another while it waited in a
// barrier (ns).
func (iv *Interval) Task(from, to uint64) {
	if x := iv.at; x != nil && !iv.running && from < to {
		x.slots[iv.num].executed(from, to)
		iv.idle = max(iv.idle, to)
	}
}

// BeginTask notes that the thread begins a task in a barrier. The task was created at a time (ns)
// by the construct of a node, on the thread of a seat. If the thread had nothing to do before then,
// it waited for the task to be created.
func (iv *Interval) BeginTask(created uint64, by *tree.Node, seat int) {
	x := iv.at
	if x == nil || iv.running || x.dropped || created <= iv.idle || by == nil {
		return
	}
	x.slots[iv.num].late.Add(by, seat, int64(created-iv.idle))
}

// Pause notes that the thread may have come to a barrier. Arrive or GoOn follows.
func (iv *Interval) Pause() { iv.running, iv.pending = false, true }

// Pending tells whether the thread has paused.
func (iv *Interval) Pending() bool { return iv.pending }

// GoOn notes that the thread had not come to a barrier when it paused, but waited in a region.
func (iv *Interval) GoOn(n *tree.Node, seat int, at uint64) {
	if iv.pending {
		iv.running, iv.pending = true, false
		iv.Note(n, seat, true, at)
	}
}

// resume goes on after a barrier that the thread left at a time; 0: it is not known when.
func (iv *Interval) resume(left uint64) {
	iv.at, iv.running, iv.working, iv.tick, iv.unsure, iv.since = nil, true, false, left, left == 0, left
	if len(iv.own)+len(iv.awaited) > 0 { // of tasks in the barrier
		iv.own, iv.hint, iv.awaited = iv.own[:0], 0, iv.awaited[:0]
	}
}
