// Package event defines what a probe reports: the decoded form of one record that the kernel side
// writes when an instrumented runtime entry point is reached. It imports only mpi and the standard
// library.
package event

// Runtime names the OpenMP runtime family whose ABI a probe speaks.
type Runtime uint8

// The runtime families. Their entry points differ; the events that their
// tables produce do not.
const (
	NoRuntime Runtime = iota
	Gomp              // GCC's libgomp (GOMP_* ABI)
	Kmpc              // LLVM's libomp and Intel's libiomp5 (__kmpc_* ABI)
	Tgt               // LLVM's libomptarget: offloading (__tgt_* ABI)
)

// String returns the name under which users know the runtime.
func (r Runtime) String() string {
	switch r {
	case Gomp:
		return "libgomp"
	case Kmpc:
		return "libomp"
	case Tgt:
		return "libomptarget"
	}
	return "none"
}

// Edge says which transition of a construct an event marks.
type Edge uint8

// The transitions. Team edges move a whole team; the others move one thread.
const (
	NoEdge Edge = iota

	// Fork: the primary thread is about to start a team (Fn, Loc, Key, Size).
	Fork
	// Begin: a thread starts the body of its team's region (Key, Num).
	Begin
	// End: a thread has finished the body and arrives at the region's final
	// barrier.
	End
	// Join: the primary thread is back from the region.
	Join

	// Enter: a thread asks for a critical section, lock, ordered turn, or
	// starts a construct that has no waiting (master, flush, atomic).
	Enter
	// Acquired: it got what it asked for; the body starts.
	Acquired
	// Release: the body is over; leaving starts.
	Release
	// Released: leaving is over.
	Released

	// Open: a thread starts a worksharing construct (loop, sections, single).
	Open
	// Close: it has done its share; no barrier has been seen yet.
	Close
	// Result: a call that decides returned (Value): single_start, the next
	// section, a lock test, a reduction's turn.
	Result

	// Wait: a thread enters a barrier, explicit or implicit.
	Wait
	// Waited: it leaves the barrier.
	Waited

	// Sampled: the thread's place at the end of a sampling interval.
	Sampled

	// Off: the process does not want to be measured from here on. On: it wants to be again.
	Off
	On

	// Folded: a thread has executed a construct, as often as Fold says, and has reported
	// nothing else meanwhile. The event's time is the start of the first execution.
	Folded

	// NoCore is not a hit. Since its last NoCore, the thread was ready to run for Value ns and had
	// no core. Key of these ns lie in the MPI call whose event follows. Num is 1 for the thread's
	// first NoCore: then Value counts from the start of the thread.
	NoCore

	// OffCore is not a hit either. The thread was off its core until the event's time, as its field
	// OffCore says.
	OffCore

	numEdges
)

var edgeNames = [numEdges]string{"none", "fork", "begin", "end", "join", "enter", "acquired",
	"release", "released", "open", "close", "result", "wait", "waited", "sampled", "off", "on", "folded", "corewait", "offcore"}

// String returns the edge's name as recorded event streams spell it.
func (e Edge) String() string {
	if int(e) < len(edgeNames) {
		return edgeNames[e]
	}
	return "invalid"
}

// ParseEdge is the inverse of Edge.String; ok is false for an unknown name.
func ParseEdge(s string) (e Edge, ok bool) {
	for i, n := range edgeNames {
		if n == s {
			return Edge(i), true
		}
	}
	return NoEdge, false
}

// MarshalText writes the edge's name, so that recorded streams do not depend on
// the numbering above.
func (e Edge) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText reads a name that MarshalText wrote.
func (e *Edge) UnmarshalText(b []byte) error {
	v, ok := ParseEdge(string(b))
	if !ok {
		return &UnknownNameError{Kind: "edge", Name: string(b)}
	}
	*e = v
	return nil
}

// Flag qualifies an event.
type Flag uint16

const (
	// FreeAtOnce: the resource was free; Enter and Acquired are one moment.
	FreeAtOnce Flag = 1 << iota
	// NoReturn: the kernel side placed no return probe for this call, so its return edge will
	// not come.
	NoReturn
	// Inside: the runtime library called its own entry point.
	Inside
	// AtOnce: the call starts the body directly, so no Begin follows (Fork, Enter of a task).
	// The end of the body is the call's (End).
	AtOnce
	// CopyPrivate: a single with copyprivate, which always ends in a barrier.
	CopyPrivate
	// Whole: a directive without a body, which is over when its call returns.
	Whole
	// IfSerial: the call starts a region only if Num is 0. Otherwise a call that it makes
	// itself does so (Fork).
	IfSerial
	// Untied: the created task may change its thread.
	Untied
	// Inline: the construct makes no call, and the probe is in the program's own code.
	Inline
	// Unarmed: the event that follows in this call is not reported, and is to be derived: Begin
	// (Fork), Waited (Wait), Join (End).
	Unarmed
	// ByChance: that event is reported, as chance decided.
	ByChance
	// Anyway: that event is reported, as such calls are rare, or few were seen so far.
	Anyway
	// EndsNext: the construct's end may not be reported (Open of a loop). Then the thread's next
	// beginning of such a construct, its next barrier, or the end of its region tells it.
	EndsNext
	// Seldom: with ByChance, chance was half as likely to choose this event as earlier ones
	// (bpf/sparse.h).
	Seldom
)

// Sparse are the flags of a call of which not every return is reported.
const Sparse = Unarmed | ByChance | Anyway

// Event is one decoded record. Fields that an edge does not fill are zero. The short names are
// those of recorded streams.
type Event struct {
	Time      uint64    `json:"t,omitempty"`   // CLOCK_MONOTONIC, ns
	PID       uint32    `json:"pid,omitempty"` // thread group id, initial PID namespace
	TID       uint32    `json:"tid,omitempty"` // thread id, initial PID namespace
	Construct Construct `json:"c,omitzero"`
	Edge      Edge      `json:"e,omitzero"`
	Runtime   Runtime   `json:"rt,omitempty"`
	// Kind of its hit; for an MPI call, kind of the hit at the entry.
	Probe Probe `json:"p,omitempty"`
	Flags Flag  `json:"f,omitempty"`
	// Number of the loaded copy of the runtime that the probe sits in (a process may load
	// several).
	Instance uint16 `json:"inst,omitempty"`
	// Events of this thread that were dropped just before this one.
	Lost uint32 `json:"lost,omitempty"`
	SP   uint64 `json:"sp,omitempty"` // user stack pointer at the probed instruction
	// Return address of the runtime call: the place in the user's code.
	Site uint64 `json:"site,omitempty"`
	// Outlined function (Fork, Begin) or identity of the resource (lock, named critical).
	Fn  uint64 `json:"fn,omitempty"`
	Loc uint64 `json:"loc,omitempty"` // address of libomp's ident_t; 0 with libgomp
	// Team identity, equal for all threads of a team while the team lives (Fork, Begin);
	// address of a task.
	Key uint64 `json:"key,omitempty"`
	// Hits of the thread before this one that wrote no record.
	LeftOut LeftOut `json:"left,omitempty"`
	// Returned value (Result); trip count of a static loop (Open).
	Value int64    `json:"v,omitempty"`
	Num   int32    `json:"num,omitempty"`  // OpenMP thread number in its team (Begin)
	Size  int32    `json:"size,omitempty"` // team size (Fork, Begin); 0 when not known
	MPI   *MPICall `json:"mpi,omitempty"`  // for Construct MPI only
	// Values of the thread's counters since each began to count; nil: not read here.
	Counters []uint64     `json:"ctr,omitempty"`
	Sample   *Sample      `json:"smp,omitempty"`  // of Edge Sampled only
	Fold     *Fold        `json:"fold,omitempty"` // of Edge Folded only
	OffCore  *OffCoreTime `json:"away,omitempty"` // of Edge OffCore only
}
