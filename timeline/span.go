package timeline

import (
	"ompp-attach/event"
	"ompp-attach/mpi"
	"ompp-attach/profile"
)

// Kind says what a span stands for.
type Kind uint8

const (
	// Execution is one execution of a region by one thread.
	Execution Kind = iota
	// Fold stands for executions that the kernel side has added up: only their sums are known.
	Fold
	// Call is an MPI call.
	Call
	// Created is a moment at which a thread created a task. It is no execution.
	Created
	numKinds
)

// Flags of a span.
type Flags uint8

const (
	// Open: the execution was under way when the recording, or its observation, ended.
	Open Flags = 1 << iota
	// Unseen: the execution's end was not seen. It counts, and its times are not known.
	Unseen
	// Approximate: an MPI call was still under way when its thread or the measurement ended. Or the
	// end of an execution was derived from other events and not measured.
	Approximate
	// Within: the construct is a part of the region around in the profile (Dictionary.Within). Only
	// File.All yields such spans. Their counters are the region's own.
	Within
)

// The parts of a span: the index in Span.Parts. A region's startup is its Enter, its implicit
// barrier is Barrier, its shutdown is Exit. A task's Enter is the time from its creation to its
// begin, which lies before the span. Other parts follow each other within the span.
const (
	Enter = iota
	Body
	Barrier
	Exit
	NumParts
)

// Span is an execution of a region by a thread, or what Kind says.
type Span struct {
	TID    uint32 // the operating system's thread
	Thread int32  // the profile's thread: Dictionary.Threads; while recording, the engine's seat
	Node   int32  // the region on its path: Dictionary.Nodes; while recording, the engine's number
	Kind   Kind
	Flags  Flags
	From   uint64 // ns; of a fold, the first execution's start
	To     uint64 // ns; of a fold, the last execution's end
	// Exec is what the profile was charged with: the time, less the time for which the execution
	// stood still (ns), and the number of executions. The latter is 0 for the later parts of a task
	// that was executed in parts.
	Exec  profile.Sum
	Parts [NumParts]profile.Sum // ns and executions, as the profile was charged
	// Team is the number of the execution of a parallel region, the same for all of its threads and
	// for nothing else in the process. 0: the span is no thread's part in a team.
	Team uint64
	Task uint64 // number of the task that is executed or was created; 0: not known, or none
	Lock uint64 // address of the lock, or of a named critical's lock; 0: none
	Call MPI    // of a Call
	// Counts are the execution's counters; nil: not known. Of an MPI call, they are those of the
	// region around. File.Counting says what they are.
	Counts *profile.Counts
}

// MPI holds what is recorded of an MPI call.
type MPI struct {
	Op    mpi.Op
	Comm  uint64 // the communicator's handle, as the library has it; 0: none, or not known
	Made  uint64 // when the communicator was made (event.MPICall.Made)
	Rank  int32  // this process's rank in the communicator
	Size  int32  // processes in the communicator
	Peer  int32  // destination, source or root, as mpi.Args has it
	Peer2 int32  // source of a sendrecv
	Tag   int32
	Flags mpi.ArgFlag
	Out   uint64 // bytes sent, by the minimal accounting; 0 if Flags has mpi.UnknownVolume
	In    uint64 // bytes received
}

// Definition says which construct a node number of the engine means, before its place is known.
type Definition struct {
	ID        int32           `json:"id"`
	Parent    int32           `json:"parent,omitempty"` // 0: the root
	Construct event.Construct `json:"construct"`
	Runtime   event.Runtime   `json:"runtime,omitempty"`
	Address   uint64          `json:"address,omitempty"` // of the call, or of the outlined function
	Name      string          `json:"name,omitempty"`    // of an MPI call
}

// Seat says which thread a seat of the engine means.
type Seat struct {
	Seat int32 `json:"seat"`
	Root int   `json:"root"`
	Num  int   `json:"num"`
}

// Sink takes the spans and names of an engine. All calls come from one goroutine at a time. A sink
// keeps no pointer to a Span or its Counts. The Dictionary of End is the sink's.
type Sink interface {
	// Define comes before the first span of a node.
	Define(d Definition)
	// Seat comes before the first span of a seat.
	Seat(r Seat)
	// Span tells an execution that has ended.
	Span(s *Span)
	// Gap tells that nothing, or not all, was observed between two moments.
	Gap(g Gap)
	// End comes last, with the engine's profile.
	End(d *Dictionary)
}

// Why says why spans are missing.
type Why string

// The reasons for a gap.
const (
	ByAge    Why = "age"    // older than the plan keeps
	ByCap    Why = "cap"    // more than memory, or the file, may hold
	BySpeed  Why = "speed"  // the tool could not write as fast as the program executed
	ByDisk   Why = "disk"   // the file could not be written
	Outside  Why = "window" // outside of the time that was to be recorded
	ByDamage Why = "damage" // a part of the file is damaged or missing
	ByLength Why = "length" // none of the longest executions was under way
	Off      Why = "off"    // measurement was switched off
	ByBudget Why = "budget" // What was not observed, to keep the budget (--max-overhead)
)

var sentences = map[Why]string{
	ByAge:    "not kept: older than what was to be kept",
	ByCap:    "not kept: more than the memory or file was to hold",
	BySpeed:  "lost: the tool could not write as fast as the program executed",
	ByDisk:   "lost: the file could not be written",
	Outside:  "outside of the time that was to be recorded",
	ByDamage: "lost: a part of the file is damaged",
	ByLength: "not kept: none of the longest executions was under way",
	Off:      "measurement was switched off",
	ByBudget: "not observed, to save cost (--max-overhead)",
}

// Sentence says why to a user.
func (w Why) Sentence() string {
	if s, ok := sentences[w]; ok {
		return s
	}
	return string(w)
}

// Gap is a stretch of time of which spans are missing.
type Gap struct {
	From  uint64 `json:"from"`
	To    uint64 `json:"to"`
	Why   Why    `json:"why"`
	Spans uint64 `json:"spans"` // how many; 0: not known
	// What names the constructs that are missing, separated by commas; empty: all. See
	// Dictionary.Missing.
	What string `json:"what,omitempty"`
}
