package stack

import (
	"ompp-attach/attribution/ledger"
	"ompp-attach/attribution/tree"
	"ompp-attach/attribution/waits"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// Phase is what a thread is doing in a region.
type Phase uint8

const (
	Starting Phase = iota // team being started
	Entering              // waiting for a lock
	InBody
	Leaving
	InBarrier
	Done // share done; a barrier may follow
)

// BodyEnd says how the end of a single's body shows, where no call tells it.
type BodyEnd uint8

const (
	EndTold      BodyEnd = iota
	LastInRegion         // the body ends with its parallel region
	EndUnknown           // nothing is known of the end
)

// OpenRegion is a region that a thread has open: one execution, on the thread's stack.
type OpenRegion struct {
	ledger.Account
	Node *tree.Node
	Team *Team // parallel regions only
	// What the thread does in the team between barriers; nil: these are not matched.
	Interval *waits.Interval
	Seat     int
	Num      int32 // thread number before the region was opened (parallel)
	Phase    Phase
	Flags    event.Flag
	Sp       uint64 // stack pointer at the event that opened the region
	// For began: when the region was opened, by the thread's clock (ns).
	lag     uint64 // how far the task's clock lagged behind then
	leftOut uint64 // how much later Start is than the time at which the region was opened
	task    uint64 // number of the task that is executed here, in a timeline; 0: none

	Resource  uint64          // address of the lock, or of a named critical's lock
	TaskAt    uint64          // address of the task that is executed or created here
	Section   uint64          // start of the section under way; 0: none
	End       BodyEnd         // of a single
	InlineEnd event.InlineEnd // of a construct without calls (flags has event.Inline)
	Returns   uint64          // where the call of its barrier returns to, in libgomp
	// When the thread came to its barrier, by the thread's clock; 0: not yet.
	Waiting uint64
	// In a wait for tasks: since when the thread has had no task (ns), and for the creation of
	// which it has waited.
	Idle uint64
	late waits.Late
	// Of a task, or a taskgroup: the tasks that are created in it; nil: none.
	Brood *waits.Brood
	// Of an explicit task's execution: the broods to which it belongs, of its parent and of its
	// taskgroup.
	Up [2]*waits.Brood
	// Tasks executed in a wait for tasks; nil: none, or times off the core are not told.
	meanwhile *waits.Meanwhile
	nested    uint8 // of a target region: open calls between libomptarget's entry points
	UserKind  uint8 // of a user region: event.UserFunction and so on
	// A user region on a cycle of regions: its node is that of the outer execution
	// (EnteredFromOther).
	Inner bool
	Told  bool // of a loop: another event has told where it begins
	// Of a task's execution. Resumed: an earlier part of the task was executed before. Internal:
	// the runtime itself created the task.
	Resumed, Internal bool
}

// part returns the part that a toll in this region belongs to now.
func (o *OpenRegion) part() profile.Part {
	switch o.Phase {
	case Starting, Entering:
		return profile.Enter
	case InBarrier:
		return profile.Barrier
	case Leaving:
		return profile.Exit
	case Done:
		if o.Parts[profile.Barrier].C > 0 { // between a reduction and its barrier
			return profile.Barrier
		}
	}
	switch c := o.Node.Key.Construct; {
	case c == event.Single && o.Phase == Done,
		(c == event.Sections && o.Node.Key.Runtime == event.Gomp || c == event.ParallelSections) && o.Section == 0:
		return profile.Exec
	}
	return profile.Body
}

// Again reports whether an event opens the loop that is open already. Some loops have a probe
// before the loop and one before its barrier, because some threads come to the second one only. Of
// loops that another event tells there may be a probe, too: after a pause, or for other processes.
func (o *OpenRegion) Again(ev *event.Event) bool {
	return o.Flags&ev.Flags&event.Inline != 0 && o.Phase == InBody && o.Node.Key.Construct == event.Loop &&
		o.Node.Key.Site == ev.Site && (o.InlineEnd == event.EndBarrier || o.Told)
}

// LeaveInline ends the body of an inline construct.
func (o *OpenRegion) LeaveInline(at uint64) {
	if o.Node.Key.Construct == event.Loop {
		o.CloseBody(at)
		return
	}
	o.Pass(profile.Body, at)
	o.Phase, o.Mark = Done, at
}

// HoldsCall notes the time of a call made directly in a region.
func (o *OpenRegion) HoldsCall(c *profile.MPIStats) {
	s := o.Node.Stat(o.Seat)
	if o.Phase == InBarrier { // only an unobserved task can call MPI in a barrier
		s.MPI.Wait += c.T
		s.MPI.WaitNoCore += c.NoCore
		if o.Team != nil { // the figures of the body have been taken already
			s.Child += c.T
			s.AddCost(profile.Cost{Child: c.Cost})
			s.AddNoCore(profile.Cost{Child: c.NoCore})
			return
		}
	}
	o.Child += c.T
	o.Contain(ledger.ByProbes, o.part(), c.Cost)
	o.Contain(ledger.ByWait, o.part(), c.NoCore)
}

// TargetInner tells whether the inner of two such entry points returns.
func (o *OpenRegion) TargetInner() bool {
	if o.nested == 0 {
		return false
	}
	o.nested--
	return true
}

const NoteCutOff = "an execution was under way when measurement ended, or was switched off: it is counted, with its time until then"

// Stop ends a region's current phase early, at a given time.
func (o *OpenRegion) Stop(at uint64) {
	d := ledger.Between(o.Mark, at)
	switch o.Phase {
	case Starting, Entering:
		o.Parts[profile.Enter].T += d
	case InBody:
		o.Parts[profile.Body].T += d
		o.Parts[profile.Body].C = max(o.Parts[profile.Body].C, 1)
	case InBarrier:
		o.Parts[profile.Barrier].T += d
	case Leaving:
		o.Parts[profile.Exit].T += d
	}
}

// CloseBody ends the body phase of a worksharing region.
func (o *OpenRegion) CloseBody(at uint64) {
	switch o.Node.Key.Construct {
	case event.Sections:
		if o.Node.Key.Runtime == event.Kmpc {
			o.Pass(profile.Body, at)
		}
	case event.Single:
	default:
		o.Pass(profile.Body, at)
		o.Parts[profile.Body].C++
	}
	o.Phase, o.Mark = Done, at
}

// IsOpenSingle tells whether the thread executes the body of a single of whose end nothing is
// known. This occurs where GCC makes the call the last jump of a function. Such a body is empty.
func (o *OpenRegion) IsOpenSingle() bool {
	return o.Node.Key.Construct == event.Single && o.Phase == InBody && o.End == EndUnknown
}

// began returns when a region was opened, by the clock of the thread and not of its task.
func (o *OpenRegion) began() uint64 { return o.Start - o.leftOut + o.lag }

// Opened notes a region that was opened by the clock of a task, which has stood still for a time
// (ns).
func (o *OpenRegion) Opened(suspended uint64) { o.lag = suspended }

// Executes notes the number of the task that is executed in a region.
func (o *OpenRegion) Executes(task uint64) { o.task = task }

// IsContext tells whether a construct's execution is an implicit or explicit task.
func IsContext(c event.Construct) bool { return c.IsParallel() || tree.IsExecution(c) }

// waits tells whether a thread that executes tasks in this region does so because it has to wait
// there.
func (o *OpenRegion) waits() bool {
	return o.Phase == InBarrier || o.Node.Key.Construct == event.TaskLoop || o.Node.Key.Construct == event.TaskYield
}
