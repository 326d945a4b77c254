package attribution

import (
	"ompp-attach/event"
	"ompp-attach/profile"
)

// Kind is of what kind a construct is. It is apart so that a Key has four fields:
// one of more the compiler keeps in memory, and each copy of it there waits until
// single bytes are stored, some 5 ns.
type Kind struct {
	Construct event.Construct
	Runtime   event.Runtime
}

// Key is the identity of a construct before its place in the source is known.
type Key struct {
	Kind
	Fn   uint64 // outlined function (parallel; any construct whose call is a jump at its end), or named critical
	Site uint64 // return address of the runtime call
	Loc  uint64 // libomp's ident_t
}

// BarrierKind is what a barrier belongs to.
type BarrierKind uint8

// The kinds of barriers.
const (
	BarrierUnknown  BarrierKind = iota
	BarrierExplicit             // a barrier directive
	BarrierImplicit             // the end of a worksharing construct
	BarrierDropped              // implicit, and left out: the parallel region ends there
	BarrierNone                 // there is none, and a probe tells the end of the body
)

// Resolver answers what only the program's files tell. The engine asks each
// question once per address.
type Resolver interface {
	// Team says which construct starts a team by a call that returns to site
	// (inside the runtime: GOMP_parallel_loop_* and GOMP_parallel_sections are
	// combined constructs).
	Team(site uint64) event.Construct
	// Workshare says which construct libomp's ident_t at loc stands for:
	// Loop, Sections, or NoConstruct when it does not say.
	Workshare(loc uint64) event.Construct
	// Barrier says what a barrier call belongs to, by libomp's ident_t.
	Barrier(loc uint64) BarrierKind
	// SingleBarrier says whether GCC's single construct whose GOMP_single_start
	// returns to site ends with a barrier (BarrierImplicit), is nowait
	// (BarrierExplicit), or ends with the parallel region, whose outlined
	// function is fn (BarrierDropped).
	SingleBarrier(site, fn uint64) BarrierKind
	// Seen says that a construct occurs for the first time: its library may be
	// gone when the profile is built.
	Seen(Key)
	// Region finds the place in the source. It may refine the construct.
	Region(Key) profile.Region
	// Around says in which parallel region's own code an address that was seen
	// lies: in its outlined function.
	Around(addr uint64) (profile.Region, bool)
	// Code names the places of an instruction that was sampled: functions that
	// were inlined there have one each, innermost first.
	Code(addr uint64) []profile.Frame
}

// Engine turns one process's events into a Profile. Events of one thread must
// come in order; threads may be interleaved in any way.
type Engine struct {
	resolve    Resolver
	threads    map[uint32]*thread
	rows       []profile.Thread
	rowOf      map[rowID]int
	spare      [][]frame    `copy:"-"` // stacks of threads that are forgotten
	chunks     chunks       `copy:"-"`
	rowAt      [256]int     // by the last digits of thread numbers: spares most look-ups in rowOf
	recent     [512]*thread // by the last digits of their numbers: spares most look-ups in threads
	roots      int
	sharedRoot int // of initial threads beyond many; 0: there are not so many
	pid        uint32
	root       *node
	teams      map[teamKey]*teamList
	lists      [64]*teamList // of teams, by the last digits of their keys
	settle     []*team       // joined, waiting for stragglers
	free       []*team       `copy:"-"`
	parked     []*thread
	order      []waiting `copy:"-"` // of parked, for advanceParked
	others     uint64    // when the first events of all parked threads but the one that goes on are, at the earliest
	tasks      map[taskKey]*task
	freeTasks  []*task         `copy:"-"`
	untied     map[uint64]bool // outlined functions of tasks that turned out to be untied
	era        uint32          // counts what was learnt about groups of tasks: execution's nodes may be others then
	tasking    bool            // tasks were seen: teams settle only when all before their join is read
	crowd      int             // number of threads at which to look for idle ones

	teamOf    map[uint64]event.Construct
	shareOf   map[uint64]event.Construct
	barrierOf map[uint64]BarrierKind
	singleOf  map[uint64]BarrierKind

	clock       clock
	existing    map[uint32]bool  // threads older than the measurement
	whereabouts map[uint32]*node // of theirs, see existingAt
	began       uint64           // when it began, if it has such
	now         uint64
	events      uint64
	lost        uint64
	unmatched   uint64
	partial     uint64
	losses      map[lossKey]uint64
	foreign     []foreignRelease // read before the lock's holder
	leagues     []league         // of libomp, not settled yet

	offSince uint64  // 0: measurement is on
	offBy    *thread // whose marker switched it off
	off      profile.Span

	watch    watching
	mpiState mpiState
	sampling sampling
	counting counting
	waiting  coreWaiting
	costs    event.HitCosts
	hits     [event.NumProbes]uint64

	hasUser          bool   // user regions occur
	stackLo, stackHi uint64 // see MainStack
}

type rowID struct{ root, num int }

type lossKey struct {
	node *node
	row  int
}

// node is a region reached over one path.
type node struct {
	key      Key
	parent   *node
	children []*node
	last     int                   // of children, the one that was asked for last
	stats    []profile.ThreadStats // by row; Thread is filled when the Profile is built
	samples  sums
	notes    map[string]bool
	existing bool // stands for where a thread was when measurement began
	outside  bool // which was in no region, as it turned out
	rowWas   int  // then: the row that it had until that was known
	rowNow   int  // and has now

	presences []presence // in a parallel region, by row; the root's dense only
	spreads   []spread   // by row

	execution *node // of what is created here, as of an era
	era       uint32
	creations *creations[Key] // of an outermost region
}

func (e *Engine) child(n *node, k Key) *node {
	// Programs do the same things in the same order: it is mostly the one that was
	// asked for last, or the next.
	for i := n.last; i < len(n.children); i++ {
		if c := n.children[i]; c.key == k {
			n.last = i
			return c
		}
	}
	for i, c := range n.children[:min(n.last, len(n.children))] {
		if c.key == k {
			n.last = i
			return c
		}
	}
	e.resolve.Seen(k)
	c := &node{key: k, parent: n}
	n.children = append(n.children, c)
	return c
}

func (n *node) stat(row int) *profile.ThreadStats {
	for len(n.stats) <= row {
		n.stats = append(n.stats, profile.ThreadStats{})
	}
	return &n.stats[row]
}

func (n *node) note(s string) {
	if n.notes == nil {
		n.notes = map[string]bool{}
	}
	n.notes[s] = true
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

// frame is an open region on a thread's stack.
type frame struct {
	node    *node
	team    *team // parallel frames only
	row     int
	num     int32 // thread number before this frame was pushed (parallel)
	phase   phase
	kind    uint8 // of a user region: event.UserFunction and so on
	flags   event.Flag
	start   uint64
	mark    uint64 // start of the current phase
	paid    uint64 // the parent has been charged up to here (locks that overlap)
	sp      uint64
	id      uint64 // lock; task, also of the call that creates it
	child   int64
	enter   int64
	body    int64
	bodies  uint64
	barrier int64
	exit    int64
	enters  uint64
	bars    uint64
	task    int64  // executing tasks while waiting here
	tasks   uint64 // how many
	away    int64  // executing tasks in a tasking construct outside of tasks
	// Of a task's execution: how long it has been suspended for other tasks; it
	// goes on where an earlier part ended.
	suspended uint64
	resumed   bool
	internal  bool   // one of the runtime's own
	uncounted bool   // not all that was counted in it is known
	tally     *tally // nil: nothing yet
	tolls     [numTolls]toll
	inner     bool // a user region entered from another one that was entered from it: its node is that one's
}

type thread struct {
	tid       uint32
	born      uint64 // time of the first event fed
	last      uint64 // and of the last
	stack     []frame
	row       int    // current row
	num       int32  // current OpenMP thread number
	known     bool   // row and num are known
	primary   bool   // of its team, as far as is known while num is not
	queue     queue  // of a parked thread: from a Begin on that cannot be applied yet
	place     int    // in Engine.parked
	replaying bool   // it is working off its queue
	lossy     bool   // some of its events were lost
	initial   bool   // it started teams of its own, or is the process's first
	suspended uint64 // how long the task that it executes has been suspended so far
	inLeague  bool   // it has executed a team of a league
	home      int    // of an initial thread: its row outside any team
	callsMPI  bool
	started   started
	counters  [maxCounts]uint64 // at its last event
	counted   bool              // there were any
	gap       bool              // there were none at events since
	watched   int               // how many changes of what is observed it has come to
	away      event.Constructs  // what is not observed of it
	due       int64             // what its last hit took after its time stamp, ns
	// Of the time without a core since its last event, ns (corewait.go):
	waited       int64
	waitedInCall int64 // the part in the call whose event follows
	waitUnsure   bool  // of what it tells next, some was while measurement was off
	pace         pace
}

func (t *thread) top() *frame {
	if len(t.stack) == 0 {
		return nil
	}
	return &t.stack[len(t.stack)-1]
}

// New returns an engine for the process pid.
func New(pid uint32, r Resolver) *Engine {
	return &Engine{
		resolve:     r,
		rowOf:       map[rowID]int{},
		pid:         pid,
		threads:     map[uint32]*thread{},
		root:        &node{},
		teams:       map[teamKey]*teamList{},
		tasks:       map[taskKey]*task{},
		untied:      map[uint64]bool{},
		teamOf:      map[uint64]event.Construct{},
		shareOf:     map[uint64]event.Construct{},
		barrierOf:   map[uint64]BarrierKind{},
		singleOf:    map[uint64]BarrierKind{},
		existing:    map[uint32]bool{},
		whereabouts: map[uint32]*node{},
		losses:      map[lossKey]uint64{},
	}
}

// forget drops what is known of a thread that has nothing open. Its stack is the
// next one's: programs that nest teams may start threads without end.
func (e *Engine) forget(t *thread) {
	delete(e.threads, t.tid)
	e.recent[t.tid%uint32(len(e.recent))] = nil
	const enough = 1024
	if len(e.spare) < enough {
		e.spare = append(e.spare, t.stack[:0])
		t.stack = nil
	}
}

func (e *Engine) newThread(tid uint32) *thread {
	t := &thread{tid: tid}
	if n := len(e.spare) - 1; n >= 0 {
		t.stack = e.spare[n]
		e.spare = e.spare[:n]
	}
	return t
}

func (e *Engine) presentSince(tids []int, at uint64) {
	e.began = at
	for _, t := range tids {
		e.existing[uint32(t)] = true
	}
}

// Events returns how many hits of probes the events stand for that were fed.
func (e *Engine) Events() uint64 { return e.events }

func (e *Engine) feed(ev *event.Event) {
	slot := &e.recent[ev.TID%uint32(len(e.recent))]
	t := *slot
	if t == nil || t.tid != ev.TID {
		t = e.threads[ev.TID]
		if t == nil {
			t = e.newThread(ev.TID)
			t.born = ev.Time
			e.threads[ev.TID] = t
			if e.watch.start == 0 {
				e.watch.start = ev.Time
			}
			e.enroll(t)
		}
		*slot = t
	}
	if t.parked() {
		t.queue.push(&e.chunks, ev)
		return
	}
	if !e.step(t, ev) {
		e.park(t, ev)
	}
}

// step applies an event to its thread's stack. It answers false where the event
// has to wait for what other threads did before it.
func (e *Engine) step(t *thread, ev *event.Event) bool {
	if e.watch.active {
		return e.stepWatched(t, ev)
	}
	return e.apply(t, ev)
}

func (e *Engine) apply(t *thread, ev *event.Event) bool {
	if ev.Edge == event.Sampled {
		e.sample(t, ev)
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
	if t.suspended != 0 && ev.Edge != event.Begin && !ev.Construct.IsParallel() { // the task's own clock
		v := *ev
		v.Time -= t.suspended
		ev = &v
	}
	if f := t.top(); f != nil && f.phase == done && !e.continues(f, ev) {
		e.pop(t, f.mark)
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
	if ev.Edge != event.Begin { // one that begins may have to wait for another thread
		e.tax(t, ev)
	}
	if (e.hasUser || ev.Construct == event.UserRegion) && e.user(t, ev) {
		return true
	}
	if ev.Construct == event.MPI {
		e.mpi(t, ev)
		return true
	}
	if ev.Construct.IsTasking() {
		return e.taskEvent(t, ev)
	}
	e.endInline(t, ev)
	if ev.Flags&event.Inline != 0 {
		e.inline(t, ev)
		return true
	}
	switch ev.Edge {
	case event.Fork:
		e.fork(t, ev)
	case event.Begin:
		return e.begin(t, ev)
	case event.End:
		e.end(t, ev)
	case event.Join:
		e.join(t, ev)
	case event.Enter:
		e.enter(t, ev)
	case event.Acquired:
		e.acquired(t, ev)
	case event.Release:
		e.release(t, ev)
	case event.Released:
		e.released(t, ev)
	case event.Open:
		e.open(t, ev)
	case event.Close:
		e.close(t, ev)
	case event.Result:
		e.result(t, ev)
	case event.Wait:
		e.wait(t, ev)
	case event.Waited:
		e.waited(t, ev)
	case event.Folded:
		e.folded(t, ev)
	}
	return true
}

// lose records that events of a thread are missing before the current one.
func (e *Engine) lose(t *thread, n uint32) {
	e.lost += uint64(n)
	at := e.root
	if f := t.top(); f != nil {
		at = f.node
	}
	e.losses[lossKey{at, t.row}] += uint64(n)
}
