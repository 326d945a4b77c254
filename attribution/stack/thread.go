package stack

import (
	"slices"

	"ompp-attach/attribution/ends"
	"ompp-attach/attribution/estimate"
	"ompp-attach/attribution/ledger"
	"ompp-attach/attribution/place"
	"ompp-attach/attribution/queue"
	"ompp-attach/attribution/strip"
	"ompp-attach/attribution/tree"
	"ompp-attach/attribution/waits"
	"ompp-attach/event"
	"ompp-attach/mpi"
	"ompp-attach/profile"
)

// Thread is a thread of the process, as far as its events have been applied.
type Thread struct {
	Life
	Stack []Frame
	Role
	Parking
	Lossy     bool   // some of its events were lost
	Suspended uint64 // how long the task that it executes stood still so far
	CallsMPI  bool
	Started   Started
	Counters  ledger.Counters
	// Number of changes of what is observed that have been applied to it.
	Switched   int
	Unobserved event.Constructs // constructs that are not observed on this thread
	Gone       event.Constructs // constructs that were not, at some time of the thread
	Due        int64            // time that its last hit took after the time stamp, ns
	NoCore
	pace     estimate.Pace
	OffCore  *waits.OffCoreTimes // when it was off its core; nil: not known
	Interval *waits.Interval     // of the innermost team whose barriers are matched; nil: none
	inTeam   int                 // index of that team's frame, where it was when the team began
	spare    *waits.Interval     // for the thread's next outermost team
	// Edge is the end of the call that the thread is in, if it may not be reported.
	Edge  Edge
	Turn  int // number of the barrier that it came to last, see Teams.Reach
	Ends  ends.Ends
	Strip *strip.Thread // nil: it is not followed
}

// Life says from when to when a thread has had events.
type Life struct {
	Tid     uint32
	Born    uint64 // time of the first event
	Last    uint64 // time of the last event
	BornOff int64  // how long measurement had been off at Born, ns
	LastOff int64  // the same at Last
}

// Role says which thread of its team a thread is, and to which seat its executions are charged.
type Role struct {
	Seat     int    // current seat
	Num      int32  // current OpenMP thread number
	Known    bool   // seat and num are known
	Primary  bool   // it is its team's primary thread; used while num is not known
	Initial  bool   // it started a team while in none, or is the process's first thread
	InLeague bool   // it has executed a team of a league
	Serves   uint32 // the primary thread of the last team that it was a worker of; 0: none
	Home     int    // of an initial thread: the seat outside any team
}

// Parking holds the events of a thread that waits for events of other threads.
type Parking struct {
	Queue     queue.Queue // a Begin that cannot be applied yet, and all later events
	Place     int         // index among the parked threads
	Replaying bool        // its queue is being worked off
	Again     bool        // what its next event waits for has come
	GivenUp   bool        // it has waited for too long: what is most likely is taken for true
}

// NoCore is the time without a core that a thread has told since its last event.
type NoCore struct {
	Waited       int64  // ns
	WaitedInCall int64  // the part of it in the MPI call whose event follows
	WaitTold     uint64 // when the thread last told
	WaitUnsure   bool   // a part of the next time told was while measurement was off
}

// Key identifies the construct that a call starts. If the call returns into the runtime itself, the
// compiler made it the last jump of an outlined function. Then the function identifies the place.
func (t *Thread) Key(c event.Construct, ev *event.Event) place.Key {
	k := place.Key{RuntimeConstruct: place.RuntimeConstruct{Construct: c, Runtime: ev.Runtime}, Site: ev.Site, Loc: ev.Loc}
	if ev.Flags&event.Inside != 0 {
		if i := t.Context(); i >= 0 && t.Stack[i].Node.Key.Fn != 0 {
			k.Fn, k.Site = t.Stack[i].Node.Key.Fn, 0
			return k
		}
	}
	if c == event.Critical {
		k.Fn = ev.Fn // the lock of a named critical identifies the name
	}
	return k
}

// Bears reports whether a thread has the number num in its team. For a thread that was inside a
// region when measurement began, the number is not known. Only the primary thread may have shown
// that it is number 0.
func (t *Thread) Bears(num int32) bool {
	if !t.Known && len(t.Stack) > 0 && t.Stack[0].Node.Existing {
		return num == 0 && t.Primary
	}
	return t.Num == num
}

// Top returns the innermost open region, nil if there is none.
func (t *Thread) Top() *Frame {
	if len(t.Stack) == 0 {
		return nil
	}
	return &t.Stack[len(t.Stack)-1]
}

// InFinalBarrier tells whether a worker makes an MPI call in its region's final barrier. It must be
// executing a task there: its own part in the region is over.
func (t *Thread) InFinalBarrier(ev *event.Event) bool {
	f := t.Top()
	m := f.Team
	return ev.Construct == event.MPI && !t.Lossy && !m.Charged && m.Forked <= f.Mark && (m.Joined == 0 || ev.Time <= m.Joined)
}

// TargetAgain tells whether an entry point of libomptarget was called by another one. The two calls
// are one target region.
func (t *Thread) TargetAgain(ev *event.Event) bool {
	f := t.Top()
	if f == nil || f.Node.Key.Construct != event.Target || ev.Flags&event.Inside == 0 {
		return false
	}
	f.nested++
	return true
}

// Parked tells whether the thread's events wait.
func (t *Thread) Parked() bool { return !t.Queue.Empty() }

// Open opens a region on the thread's stack.
func (t *Thread) Open(n *tree.Node, ev *event.Event) *Frame {
	t.Stack = append(t.Stack, Frame{}) // in place: frames are large
	f := &t.Stack[len(t.Stack)-1]
	f.Node, f.Seat, f.Sp, f.Flags = n, t.Seat, ev.SP, ev.Flags
	f.Open(ev.Time)
	return f
}

// OpenUnderWay opens a region of which the thread is known to be inside, but not since when. Its
// counters are known for a part of it at most.
func (t *Thread) OpenUnderWay(n *tree.Node, seat int, at uint64) {
	t.Stack = append(t.Stack, Frame{Node: n, Phase: InBody, Seat: seat, Num: -1})
	f := t.Top()
	f.Account.Open(at)
	f.Uncounted = true
}

// Level returns the index of the innermost parallel frame, -1 outside any.
func (t *Thread) Level() int {
	for i := len(t.Stack) - 1; i >= 0; i-- {
		if t.Stack[i].Node.Key.Construct.IsParallel() {
			return i
		}
	}
	return -1
}

// Find returns the index of the innermost open region of a construct within the thread's current
// task, implicit or explicit. It returns -1 if there is none.
func (t *Thread) Find(c event.Construct, match func(*Frame) bool) int {
	for i := len(t.Stack) - 1; i >= 0; i-- {
		f := &t.Stack[i]
		if IsContext(f.Node.Key.Construct) {
			return -1
		}
		if f.Node.Key.Construct == c && (match == nil || match(f)) {
			return i
		}
	}
	return -1
}

// TeamSize returns the number of threads in the thread's current team, 0 if not known.
func (t *Thread) TeamSize() int32 {
	if i := t.Level(); i >= 0 && t.Stack[i].Team != nil {
		return t.Stack[i].Team.Size
	}
	return 0
}

// Idle tells whether the thread is a worker that has reached the final barrier of its region. It
// may still execute tasks there.
func (t *Thread) Idle() bool {
	return len(t.Stack) == 1 && t.Stack[0].Team != nil && t.Stack[0].Num < 0 && t.Stack[0].Phase == InBarrier
}

// Forked returns the index of the innermost region that this thread started, -1 if there is none.
func (t *Thread) Forked() int {
	for i := len(t.Stack) - 1; i >= 0; i-- {
		if t.Stack[i].Team != nil && t.Stack[i].Num >= 0 {
			return i
		}
	}
	return -1
}

// EnteredFromOther returns the outer execution's node if a user region is entered again from
// another one that was entered from it, otherwise nil. Paths of regions that call each other would
// grow with every call. So the inner execution uses the node of the outer one, whose time holds the
// inner time, and the regions between are suspended meanwhile. A function that calls only itself
// has a node for every level.
func (t *Thread) EnteredFromOther(k place.Key) *tree.Node {
	others := false
	for i := len(t.Stack) - 1; i >= 0; i-- {
		f := &t.Stack[i]
		switch {
		case IsContext(f.Node.Key.Construct):
			return nil
		case f.Node.Key.Construct != event.UserRegion:
		case f.Node.Key != k:
			others = true
		case others || f.Inner:
			return f.Node
		default:
			return nil
		}
	}
	return nil
}

// outer returns the index of the outer execution of the i-th frame's region, whose time contains
// the frame's; -1 if there is none.
func (t *Thread) outer(i int) int {
	if !t.Stack[i].Inner {
		return -1
	}
	n := t.Stack[i].Node
	for i--; i >= 0 && t.Stack[i].Node != n; i-- {
	}
	return i
}

// UserOnly reports whether only user regions are open above the bottom frame.
func (t *Thread) UserOnly() bool {
	return !slices.ContainsFunc(t.Stack[1:], func(f Frame) bool { return f.Node.Key.Construct != event.UserRegion })
}

// InUnobservedTask tells whether a thread in its region's final barrier may report an event of an
// unobserved task.
func (t *Thread) InUnobservedTask(ev *event.Event) bool {
	return t.Unobserved.Has(event.TaskExec) && !(ev.Construct.IsParallel() && ev.Edge == event.Begin)
}

// OpenShare returns the index of the loop, sections, scope or distribute frame that an event ends,
// -1 if there is none. The event may name another one of these four constructs. libomp ends all but
// scope by one call, and the linker may make one of identical functions of libgomp.
func (t *Thread) OpenShare() int {
	for i := len(t.Stack) - 1; i >= 0; i-- {
		switch c := t.Stack[i].Node.Key.Construct; {
		case IsContext(c):
			return -1
		case c == event.Loop, c == event.Sections, c == event.Scope, c == event.Distribute:
			return i
		}
	}
	return -1
}

// Function returns the outlined function of the parallel region that a thread is in, 0 if it is in
// none.
func (t *Thread) Function() uint64 {
	if i := t.Level(); i >= 0 {
		return t.Stack[i].Node.Key.Fn
	}
	return 0
}

// Started holds the persistent operations that a thread's MPI_Start or MPI_Startall has started.
// They are reported before the call itself, with the same call site.
type Started struct {
	site  uint64
	stats *profile.ThreadStats
}

// At adds an operation that a call at a site has started. It returns where the operation's traffic
// is to be added.
func (q *Started) At(site uint64, s *profile.MPIStats) **profile.Traffic {
	if q.stats == nil || q.site != site {
		q.site, q.stats = site, &profile.ThreadStats{}
	}
	q.stats.AddMPI(s)
	return &q.stats.Traffic
}

// Pop returns what a call has started, nil if the call starts no operations.
func (q *Started) Pop(ev *event.Event) *profile.ThreadStats {
	if ev.MPI.Op.Info().Kind != mpi.Start {
		return nil
	}
	s := q.stats
	q.stats = nil
	if q.site != ev.Site {
		return nil
	}
	return s
}
