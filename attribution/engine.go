package attribution

import (
	"ompp-attach/attribution/estimate"
	"ompp-attach/attribution/ledger"
	"ompp-attach/attribution/queue"
	"ompp-attach/attribution/tree"
	"ompp-attach/event"
)

// Engine turns the events of one process into a Profile. Events of one thread must come in order;
// events of different threads may be interleaved in any way. Its parts are concerns, each with its
// own state. A concern knows those that it embeds, and no others.
type Engine struct {
	*stacks
	*threads
	*progress

	*parallel
	*sharing
	*exclusive
	*tasking
	*users
	*calls
	*inlined
	*watching

	clock  clock
	events uint64
	chunks queue.Chunks `copy:"-"`
	order  []waiting    `copy:"-"` // scratch copy of parked, for advanceParked
	crowd  int          // number of threads at which to look for idle ones
	goOnBy *thread      // reached a marker that switches measurement on; nil: none did
	goOnAt uint64
}

// phase is what a thread is doing in a region.
type phase uint8

const (
	starting phase = iota // team being started
	entering              // waiting for a lock
	inBody
	leaving
	inBarrier
	done // share done; a barrier may follow
)

// bodyEnd says how the end of a single's body shows, where no call tells it.
type bodyEnd uint8

const (
	endTold      bodyEnd = iota
	lastInRegion         // the body ends with its parallel region
	endUnknown           // nothing is known of the end
)

// frame is an open region on a thread's stack.
type frame struct {
	ledger.Account
	node  *tree.Node
	team  *team // parallel frames only
	row   int
	num   int32 // thread number before this frame was pushed (parallel)
	phase phase
	flags event.Flag
	sp    uint64 // stack pointer at the event that opened the region

	resource  uint64          // address of the lock, or of a named critical's lock
	taskAt    uint64          // address of the task that is executed or created here
	section   uint64          // start of the section under way; 0: none
	end       bodyEnd         // of a single
	inlineEnd event.InlineEnd // of a construct without calls (flags has event.Inline)
	nested    uint8           // of a target region: open calls between libomptarget's entry points
	kind      uint8           // of a user region: event.UserFunction and so on
	// A user region on a cycle of regions: its node is that of the outer execution
	// (enteredFromOther).
	inner bool
	// Of a task's execution. resumed: an earlier part of it was executed before. internal: the
	// runtime itself created the task.
	resumed, internal bool
}

type thread struct {
	tid       uint32
	born      uint64 // time of the first event
	last      uint64 // time of the last event
	stack     []frame
	row       int         // current row
	num       int32       // current OpenMP thread number
	known     bool        // row and num are known
	primary   bool        // it is its team's primary thread; used while num is not known
	queue     queue.Queue // of a parked thread: a Begin that cannot be applied yet, and all later events
	place     int         // index in Engine.parked
	replaying bool        // its queue is being worked off
	lossy     bool        // some of its events were lost
	initial   bool        // it started a team while in none, or is the process's first thread
	suspended uint64      // how long the task that it executes stood still so far
	inLeague  bool        // it has executed a team of a league
	home      int         // of an initial thread: the row outside any team
	callsMPI  bool
	started   started
	counters  ledger.Counters
	// Number of changes of what is observed that have been applied to it.
	watched int
	away    event.Constructs // constructs that are not observed on this thread
	due     int64            // time that its last hit took after the time stamp, ns
	// Time without a core since its last event, ns (corewait.go).
	waited       int64
	waitedInCall int64 // the part of it in the MPI call whose event follows
	waitUnsure   bool  // a part of the next time told was while measurement was off
	pace         estimate.Pace
}

func (t *thread) top() *frame {
	if len(t.stack) == 0 {
		return nil
	}
	return &t.stack[len(t.stack)-1]
}

// New returns an engine for the process pid.
func New(pid uint32, r Resolver) *Engine {
	t, l, rs := tree.New(r), &ledger.Ledger{}, &rows{rowOf: map[rowID]int{}}
	st := &stacks{
		tree: t, ledger: l, rows: rs, pid: pid,
		teams:       &teams{sampling: &sampling{tree: t}, tree: t, ledger: l, rows: rs, teamsByKey: map[teamKey]*teamList{}},
		existing:    map[uint32]bool{},
		whereabouts: map[uint32]*tree.Node{},
		losses:      map[tree.Row]uint64{},
	}
	ts, pg := &threads{byID: map[uint32]*thread{}}, &progress{}
	tk := &tasking{stacks: st, progress: pg, tasksByKey: map[taskKey]*task{}, untied: map[uint64]bool{}}
	return &Engine{
		stacks: st, threads: ts, progress: pg,
		parallel: &parallel{stacks: st, progress: pg}, sharing: &sharing{st}, exclusive: &exclusive{stacks: st, threads: ts},
		tasking: tk, users: &users{stacks: st}, calls: &calls{stacks: st}, inlined: &inlined{st},
		watching: &watching{stacks: st, tasking: tk, threads: ts, progress: pg, gaps: estimate.NewGaps(t)},
	}
}

// threads are those that have reported something, except idle ones.
type threads struct {
	byID   map[uint32]*thread
	recent [512]*thread // cache of byID, indexed by the last digits of the thread id
	spare  [][]frame    `copy:"-"` // stacks of forgotten threads, for reuse
}

// forget drops a thread that has nothing open, and keeps the memory of its stack for another
// thread: programs that nest teams may start threads without end.
func (ts *threads) forget(t *thread) {
	delete(ts.byID, t.tid)
	ts.recent[t.tid%uint32(len(ts.recent))] = nil
	const enough = 1024
	if len(ts.spare) < enough {
		ts.spare = append(ts.spare, t.stack[:0])
		t.stack = nil
	}
}

func (ts *threads) newThread(tid uint32) *thread {
	t := &thread{tid: tid}
	if n := len(ts.spare) - 1; n >= 0 {
		t.stack = ts.spare[n]
		ts.spare = ts.spare[:n]
	}
	return t
}

func (e *Engine) presentSince(tids []int, at uint64) {
	e.began = at
	for _, t := range tids {
		e.existing[uint32(t)] = true
	}
}

// Events returns how many hits of probes the events fed so far stand for.
func (e *Engine) Events() uint64 { return e.events }

func (e *Engine) feed(ev *event.Event) {
	slot := &e.recent[ev.TID%uint32(len(e.recent))]
	t := *slot
	if t == nil || t.tid != ev.TID {
		t = e.threads.byID[ev.TID]
		if t == nil {
			t = e.newThread(ev.TID)
			t.born = ev.Time
			e.threads.byID[ev.TID] = t
			if e.started == 0 {
				e.started = ev.Time
			}
			e.enroll(t)
		}
		*slot = t
	}
	if t.parked() {
		t.queue.Push(&e.chunks, ev)
		return
	}
	if !e.step(t, ev) {
		e.park(t, ev)
	}
}

// step applies an event to its thread's stack. It returns false if the event has to wait for
// earlier events of other threads.
func (e *Engine) step(t *thread, ev *event.Event) bool {
	applied := false
	if e.budgeted {
		applied = e.stepWatched(t, ev)
	} else {
		applied = e.apply(t, ev)
	}
	if len(e.woken) > 0 || e.goOnBy != nil {
		e.followUp()
	}
	return applied
}

// followUp does what an event has made possible for other threads.
func (e *Engine) followUp() {
	for len(e.woken) > 0 {
		n := len(e.woken) - 1
		k := e.woken[n]
		e.woken = e.woken[:n]
		e.unpark(k)
	}
	if t := e.goOnBy; t != nil {
		e.goOnBy = nil
		e.goOn(t, e.goOnAt)
	}
}

func (e *Engine) apply(t *thread, ev *event.Event) bool {
	if ev.Edge == event.Sampled {
		if e.offSince == 0 || ev.Time < e.offSince {
			e.sample(t, ev)
		}
		return true
	}
	if ev.Edge == event.CoreWait {
		e.hadNoCore(t, ev)
		return true
	}
	if ev.Fold != nil {
		t.last = max(t.last, ev.Fold.Last)
	} else {
		t.last = ev.Time
	}
	if ev.Lost > 0 {
		t.lossy = true
		e.lose(t, ev.Lost)
	}
	if len(e.foreign) > 0 {
		e.endForeigns(t, ev.Time)
	}
	// The task's own clock.
	if t.suspended != 0 && ev.Edge != event.Begin && !ev.Construct.IsParallel() {
		v := *ev
		v.Time -= t.suspended
		ev = &v
	}
	if f := t.top(); f != nil && f.phase == done && !e.continues(f, ev) {
		e.pop(t, f.Mark)
	} else if f != nil && f.isOpenSingle() && endsSingle(ev) {
		e.popSingle(t)
	}
	if t.idle() && !(ev.Construct == event.TaskExec && ev.Edge == event.Begin) && !t.inFinalBarrier(ev) && !t.inUnobservedTask(ev) && !t.inLostTask(ev) {
		t.stack = t.stack[:0]
	}
	if ev.Fold == nil || ev.Fold.Executions > 0 {
		e.count(t, ev)
	}
	if e.hasToWait(t, ev) {
		return false
	}
	// A begin may have to wait for another thread, and is taxed when it is applied.
	if ev.Edge != event.Begin {
		e.tax(t, ev)
	}
	switch c := ev.Construct; {
	case c == event.UserRegion:
	case c == event.MPI:
		e.leaveLeft(t, ev)
	case c.IsTasking():
		e.tasksSeen = true
		e.leaveLeft(t, ev)
	default:
		e.leaveLeft(t, ev)
		e.endInline(t, ev)
		if ev.Flags&event.Inline != 0 {
			e.inline(t, ev)
			return true
		}
	}
	if h := handlerOf(ev); h != nil {
		return h(e, t, ev)
	}
	return true
}

// lose records that events of a thread are missing before the current one.
func (st *stacks) lose(t *thread, n uint32) {
	st.lost += uint64(n)
	at := st.tree.Root
	if f := t.top(); f != nil {
		at = f.node
	}
	st.losses[tree.Row{Node: at, Row: t.row}] += uint64(n)
}
