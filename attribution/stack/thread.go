package stack

import (
	"ompp-attach/attribution/ends"
	"ompp-attach/attribution/estimate"
	"ompp-attach/attribution/ledger"
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
	Stack
	Role
	Parking
	Sight
	Probed
	NoCore
	Between
	Lossy     bool   // some of its events were lost
	Suspended uint64 // how long the task that it executes stood still so far
	CallsMPI  bool
	Started   Started
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

// Sight says what of a thread is observed, and what was.
type Sight struct {
	Switched   int              // number of changes of what is observed that were applied to it
	Unobserved event.Constructs // constructs that are not observed on this thread
	Gone       event.Constructs // constructs that were not, at some time of the thread
}

// Probed is what a thread's hits cost and count.
type Probed struct {
	Counters ledger.Counters
	Due      int64 // time that its last hit took after the time stamp, ns
	pace     estimate.Pace
}

// Between holds what a thread does between the barriers of its innermost team, and off its core.
type Between struct {
	OffCore  *waits.OffCoreTimes // when it was off its core; nil: not known
	Interval *waits.Interval     // of the innermost team whose barriers are matched; nil: none
	inTeam   int                 // index of that team's region, where it was when the team began
	spare    *waits.Interval     // for the thread's next outermost team
}

// NoCore is the time without a core that a thread has told since its last event.
type NoCore struct {
	Waited       int64  // ns
	WaitedInCall int64  // the part of it in the MPI call whose event follows
	WaitTold     uint64 // when the thread last told
	WaitUnsure   bool   // a part of the next time told was while measurement was off
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

// InFinalBarrier tells whether a worker makes an MPI call in its region's final barrier. It must be
// executing a task there: its own part in the region is over.
func (t *Thread) InFinalBarrier(ev *event.Event) bool {
	open := t.Top()
	m := open.Team
	return ev.Construct == event.MPI && !t.Lossy && !m.Charged && m.Forked <= open.Mark && (m.Joined == 0 || ev.Time <= m.Joined)
}

// Parked tells whether the thread's events wait.
func (k *Parking) Parked() bool { return !k.Queue.Empty() }

// Open opens a region on the thread's stack.
func (t *Thread) Open(n *tree.Node, ev *event.Event) *OpenRegion {
	t.Stack = append(t.Stack, OpenRegion{}) // in place: an OpenRegion is large
	open := &t.Stack[len(t.Stack)-1]
	open.Node, open.Seat, open.Sp, open.Flags = n, t.Seat, ev.SP, ev.Flags
	open.Account.Open(ev.Time)
	return open
}

// OpenUnderWay opens a region of which the thread is known to be inside, but not since when. Its
// counters are known for a part of it at most.
func (t *Thread) OpenUnderWay(n *tree.Node, seat int, at uint64) {
	t.Stack = append(t.Stack, OpenRegion{Node: n, Phase: InBody, Seat: seat, Num: -1})
	open := t.Top()
	open.Account.Open(at)
	open.Uncounted = true
}

// InUnobservedTask tells whether a thread in its region's final barrier may report an event of an
// unobserved task.
func (g *Sight) InUnobservedTask(ev *event.Event) bool {
	return g.Unobserved.Has(event.TaskExec) && !(ev.Construct.IsParallel() && ev.Edge == event.Begin)
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

// SetClock sets the thread's clock to that of the innermost task.
func (t *Thread) SetClock() {
	t.Suspended = 0
	if x := t.Executing(); x != nil {
		t.Suspended = uint64(x.Suspended)
	}
}
