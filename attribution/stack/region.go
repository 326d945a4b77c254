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
func (f *OpenRegion) part() profile.Part {
	switch f.Phase {
	case Starting, Entering:
		return profile.Enter
	case InBarrier:
		return profile.Barrier
	case Leaving:
		return profile.Exit
	case Done:
		if f.Parts[profile.Barrier].C > 0 { // between a reduction and its barrier
			return profile.Barrier
		}
	}
	switch c := f.Node.Key.Construct; {
	case c == event.Single && f.Phase == Done,
		(c == event.Sections && f.Node.Key.Runtime == event.Gomp || c == event.ParallelSections) && f.Section == 0:
		return profile.Exec
	}
	return profile.Body
}

// Again reports whether an event opens the loop that is open already. Some loops have a probe
// before the loop and one before its barrier, because some threads come to the second one only. Of
// loops that another event tells there may be a probe, too: after a pause, or for other processes.
func (f *OpenRegion) Again(ev *event.Event) bool {
	return f.Flags&ev.Flags&event.Inline != 0 && f.Phase == InBody && f.Node.Key.Construct == event.Loop &&
		f.Node.Key.Site == ev.Site && (f.InlineEnd == event.EndBarrier || f.Told)
}

// LeaveInline ends the body of an inline construct.
func (f *OpenRegion) LeaveInline(at uint64) {
	if f.Node.Key.Construct == event.Loop {
		f.CloseBody(at)
		return
	}
	f.Pass(profile.Body, at)
	f.Phase, f.Mark = Done, at
}

// HoldsCall notes the time of a call made directly in a region.
func (f *OpenRegion) HoldsCall(c *profile.MPIStats) {
	s := f.Node.Stat(f.Seat)
	if f.Phase == InBarrier { // only an unobserved task can call MPI in a barrier
		s.MPI.Wait += c.T
		s.MPI.WaitNoCore += c.NoCore
		if f.Team != nil { // the figures of the body have been taken already
			s.Child += c.T
			s.AddCost(profile.Cost{Child: c.Cost})
			s.AddNoCore(profile.Cost{Child: c.NoCore})
			return
		}
	}
	f.Child += c.T
	f.Contain(ledger.ByProbes, f.part(), c.Cost)
	f.Contain(ledger.ByWait, f.part(), c.NoCore)
}

// TargetInner tells whether the inner of two such entry points returns.
func (f *OpenRegion) TargetInner() bool {
	if f.nested == 0 {
		return false
	}
	f.nested--
	return true
}

const NoteCutOff = "an execution was under way when measurement ended, or was switched off: it is counted, with its time until then"

// Stop ends a region's current phase early, at a given time.
func (f *OpenRegion) Stop(at uint64) {
	d := ledger.Between(f.Mark, at)
	switch f.Phase {
	case Starting, Entering:
		f.Parts[profile.Enter].T += d
	case InBody:
		f.Parts[profile.Body].T += d
		f.Parts[profile.Body].C = max(f.Parts[profile.Body].C, 1)
	case InBarrier:
		f.Parts[profile.Barrier].T += d
	case Leaving:
		f.Parts[profile.Exit].T += d
	}
}

// CloseBody ends the body phase of a worksharing region.
func (f *OpenRegion) CloseBody(at uint64) {
	switch f.Node.Key.Construct {
	case event.Sections:
		if f.Node.Key.Runtime == event.Kmpc {
			f.Pass(profile.Body, at)
		}
	case event.Single:
	default:
		f.Pass(profile.Body, at)
		f.Parts[profile.Body].C++
	}
	f.Phase, f.Mark = Done, at
}

// IsOpenSingle tells whether the thread executes the body of a single of whose end nothing is
// known. This occurs where GCC makes the call the last jump of a function. Such a body is empty.
func (f *OpenRegion) IsOpenSingle() bool {
	return f.Node.Key.Construct == event.Single && f.Phase == InBody && f.End == EndUnknown
}

// began returns when a region was opened, by the clock of the thread and not of its task.
func (f *OpenRegion) began() uint64 { return f.Start - f.leftOut + f.lag }

// Opened notes a region that was opened by the clock of a task, which has stood still for a time
// (ns).
func (f *OpenRegion) Opened(suspended uint64) { f.lag = suspended }

// Executes notes the number of the task that is executed in a region.
func (f *OpenRegion) Executes(task uint64) { f.task = task }

// IsContext tells whether a construct's execution is an implicit or explicit task.
func IsContext(c event.Construct) bool { return c.IsParallel() || tree.IsExecution(c) }

// waits tells whether a thread that executes tasks in this region does so because it has to wait
// there.
func (f *OpenRegion) waits() bool {
	return f.Phase == InBarrier || f.Node.Key.Construct == event.TaskLoop || f.Node.Key.Construct == event.TaskYield
}
