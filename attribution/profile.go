package attribution

import (
	"time"

	"ompp-attach/event"
	"ompp-attach/mpi"
)

// Profile is everything that was measured of one process. It is recorded
// losslessly (see Encode); every report is a rendering of it.
type Profile struct {
	Version  int      `json:"version"` // SchemaVersion of the writer
	Meta     Meta     `json:"meta"`
	Threads  []Thread `json:"threads"`
	Regions  []Region `json:"regions"` // in report order: R00001 is Regions[0]
	Nodes    []Node   `json:"nodes"`   // Nodes[0] is the root (the program); a parent precedes its children
	Lost     []Loss   `json:"lost,omitempty"`
	Unseen   []Unseen `json:"unseen,omitempty"`
	Frames   []Frame  `json:"frames,omitempty"`   // of Samples
	Objects  []Object `json:"objects,omitempty"`  // that Frames and Regions name
	Samples  []Sample `json:"samples,omitempty"`  // equal ones added up
	Warnings []string `json:"warnings,omitempty"` // whole sentences for the user
}

// Meta describes the measurement.
type Meta struct {
	Program  string    `json:"program"`        // base name of the executable
	Path     string    `json:"path"`           // the executable, as the process sees it
	Args     []string  `json:"args,omitempty"` // the command line
	PID      int       `json:"pid"`
	Host     string    `json:"host"`
	Kernel   string    `json:"kernel"`      // uname -r
	Arch     string    `json:"arch"`        // uname -m
	Start    time.Time `json:"start"`       // when measurement of this process began
	Duration int64     `json:"duration_ns"` // wall time measured
	UserTime int64     `json:"user_ns"`     // process CPU time within the measurement
	SysTime  int64     `json:"sys_ns"`
	Attached bool      `json:"attached"` // attached to a running process (not launched)
	Ended    string    `json:"ended"`    // how measurement ended: "exit 0", "signal 9", "detached", ...; empty: it went on
	// Exit is the exit status of the launched program, 128+N if signal N killed it; 0: well, or
	// not known.
	Exit int `json:"exit,omitempty"`
	// SnapshotAt is until when a snapshot has what was measured; zero: the profile is whole.
	SnapshotAt time.Time `json:"snapshot_at,omitzero"`
	Tool       string    `json:"tool"`            // version of ompp-attach
	Built      string    `json:"built,omitempty"` // commit date of that version
	Runtimes   []Runtime `json:"runtimes"`
	Hits       uint64    `json:"hits"`               // probe hits delivered
	LostHits   uint64    `json:"lost_hits"`          // probe hits whose record was dropped
	Unmatched  uint64    `json:"unmatched"`          // ends without a begin that were dropped
	Partial    uint64    `json:"partial"`            // region instances seen only in part (under way at attach or at the end)
	Off        Span      `json:"off,omitzero"`       // how long, and how often, measurement was switched off; not part of the duration
	Stopped    Stopped   `json:"stopped,omitzero"`   // while probes were placed
	LeftOut    []string  `json:"left_out,omitempty"` // what the user did not want to see
	MPI        *MPIJob   `json:"mpi,omitempty"`      // nil: the process did not use MPI
	Counters   []Counter `json:"counters,omitempty"` // in the order of ThreadStats.Counters
	// Evaluators are the formulas over the counters that the user gave.
	Evaluators []string  `json:"evaluators,omitempty"`
	Sampling   *Sampling `json:"sampling,omitempty"` // nil: not sampled
	Budget     *Budget   `json:"budget,omitempty"`   // nil: what measuring may cost was not limited
	// Observations tell of constructs that were not observed all of the time.
	Observations []Observation `json:"observations,omitempty"`
	Overhead     *Overhead     `json:"overhead,omitempty"` // what measuring cost; nil: recorded before that was told
	// Adjusted: times are not as measured, but without what the probes took of them
	// (see analysis.Adjust). Never recorded.
	Adjusted bool `json:"-"`
	// TakenOut is how much shorter that made Duration (ns).
	TakenOut int64 `json:"-"`
	HasTasks bool  `json:"has_tasks"` // the program may create tasks, and this runtime's are not measured
}

// Stopped is how often, and how long, a process was stopped so that probes could
// be placed before it went on. That is in no other time.
type Stopped struct {
	Times   uint64 `json:"times"`
	Total   int64  `json:"total_ns"`
	Longest int64  `json:"longest_ns"`
}

// Add counts one more stop of so many ns.
func (s *Stopped) Add(ns int64) {
	s.Times++
	s.Total += ns
	s.Longest = max(s.Longest, ns)
}

// Runtime is one OpenMP runtime found in the process.
type Runtime struct {
	Name    string   `json:"name"` // libgomp, libomp
	Path    string   `json:"path"`
	Version string   `json:"version,omitempty"` // as the library states it, else as deduced from its symbol versions
	BuildID string   `json:"build_id,omitempty"`
	Probes  int      `json:"probes"`            // probe points placed
	Missing []string `json:"missing,omitempty"` // probe points that could not be placed, with the reason
}

// MPIJob is a process's place in an MPI job.
type MPIJob struct {
	Library string `json:"library"`           // "Open MPI 4.1.4", "MPICH 4.0.2"
	Path    string `json:"path,omitempty"`    // of the library
	Rank    int    `json:"rank"`              // in MPI_COMM_WORLD; -1 if not known
	Size    int    `json:"size"`              // of MPI_COMM_WORLD; 0 if not known
	Job     string `json:"job,omitempty"`     // the launcher's name of the job, if it has one
	Level   string `json:"level,omitempty"`   // thread level that MPI provided: "MPI_THREAD_FUNNELED"; empty if not seen
	Volumes string `json:"volumes,omitempty"` // why volumes are not known, a whole sentence; empty if they are
}

// Counter is a performance counter that was read at the beginning and end of
// each region.
type Counter struct {
	Name    string  `json:"name"`              // as the user asked for it
	Unit    string  `json:"unit,omitempty"`    // of the counts; empty: they count events
	Running float64 `json:"running,omitempty"` // share of the time in which it counted, its counts are scaled by it; 0: it always did
	Failed  string  `json:"failed,omitempty"`  // why it has no counts, a sentence
}

// Sampling says how the program was sampled.
type Sampling struct {
	Event     string `json:"event"`               // "task-clock", "cycles"
	Unit      string `json:"unit,omitempty"`      // of the samples' weight: "ns", or empty for events
	Frequency uint64 `json:"hz,omitempty"`        // samples per second and thread; 0: by period
	Period    uint64 `json:"period,omitempty"`    // events per sample
	Taken     uint64 `json:"taken"`               // samples
	Lost      uint64 `json:"lost,omitempty"`      // samples that could not be stored
	Throttled uint64 `json:"throttled,omitempty"` // times that the kernel took fewer, for they came too fast
}

// Frame is a place in the program's code that samples name. Functions that were
// inlined there are frames of their own.
type Frame struct {
	Function string `json:"function,omitempty"` // demangled; empty if not known
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	Object   string `json:"object,omitempty"`
	// Offset is the address in Object (file-relative virtual address): of the
	// instruction, or where a line is known, of one instruction of the line. Of
	// callers it is one before where they go on.
	Offset uint64 `json:"offset,omitempty"`
	// Entry is where the function begins, if it has no name and its beginning is
	// known.
	Entry   uint64 `json:"entry,omitempty"`
	Inlined bool   `json:"inlined,omitempty"` // into the function of the stack's next frame
	// Atomic: the operation of an atomic directive that makes no call, by the
	// instruction that was under way.
	Atomic bool `json:"atomic,omitempty"`
}

// place is what equal frames have in common: a line, or where none is known, an
// instruction.
func (f Frame) place() Frame {
	if f.Line > 0 {
		f.Offset = 0
	}
	return f
}

// Shown is the frame as reports show it: without its instruction. It is equal for
// frames of one line, and of one function where no line is known.
func (f Frame) Shown() Frame {
	f.Offset, f.Inlined = 0, false
	return f
}

// Object is a file of which the process executed code: a program or a library.
type Object struct {
	Path    string `json:"path"` // as Frame.Object and Location.Object name it
	BuildID string `json:"build_id,omitempty"`
	// Begin and End bound the addresses of its code (file-relative virtual
	// addresses), FileOffset is where in the file that begins.
	Begin      uint64 `json:"begin,omitempty"`
	End        uint64 `json:"end,omitempty"`
	FileOffset uint64 `json:"file_offset,omitempty"`
	// Symbols: a full symbol table was there, in the file or in its separate debug
	// file, not only the names of what the file exports; Lines: so was line
	// information.
	Symbols bool `json:"symbols,omitempty"`
	Lines   bool `json:"lines,omitempty"`
	// Package is the distribution's package that the file is of, if it is known,
	// and Debug the package that holds its debug information.
	Package string `json:"package,omitempty"`
	Debug   string `json:"debug_package,omitempty"`
}

// Sample is how often a thread was found at a place, in a region, in one of its
// phases.
type Sample struct {
	Node   int    `json:"node"`             // index in Profile.Nodes: the innermost region
	Thread int    `json:"thread"`           // index in Profile.Threads; -1: none, it had no part in OpenMP
	Phase  string `json:"phase,omitempty"`  // see PhaseEnter; empty: outside regions
	Stack  []int  `json:"stack,omitempty"`  // indices in Profile.Frames, innermost first
	Kernel bool   `json:"kernel,omitempty"` // in the kernel
	Cut    bool   `json:"cut,omitempty"`    // the stack could not be followed to its end
	Count  uint64 `json:"count"`
	Weight uint64 `json:"weight"`
}

// Thread is one row of the per-thread tables: an OpenMP thread number under
// one initial thread.
type Thread struct {
	Root int   `json:"root"`           // index of the initial thread; 0 unless several threads start teams
	Num  int   `json:"num"`            // OpenMP thread number in its innermost team, or UnknownNum
	TIDs []int `json:"tids,omitempty"` // operating system threads that bore it: at most 64, but all of UnknownNum
	// Of an initial thread other than the first (Num 0): how long it lived, from its
	// first event to its last, ns; 0: as long as was measured. Joined is how many
	// initial threads, which lived briefly, share this row, and their workers those of
	// their numbers; Lived is the sum of theirs then. 0: one.
	Lived  int64 `json:"lived_ns,omitempty"`
	Joined int   `json:"joined,omitempty"`
}

// UnknownNum is the Num of threads that were inside a region when measurement
// began and whose number no event has told.
const UnknownNum = -1

// Mark says how far a location or number may be believed.
type Mark string

// The marks. The empty mark means exact.
const (
	Exact  Mark = ""
	Approx Mark = "approximate"
)

// Location is where a construct stands.
type Location struct {
	File     string `json:"file,omitempty"`     // as recorded by the compiler; empty if not known
	Begin    int    `json:"begin,omitempty"`    // line of the directive, 0 if not known
	End      int    `json:"end,omitempty"`      // last line of the construct, 0 if not known
	EndMark  Mark   `json:"end_mark,omitempty"` // Approx: End is the last statement, not the closing line
	Function string `json:"function,omitempty"` // enclosing source function, demangled
	Object   string `json:"object,omitempty"`   // executable or library
	Offset   uint64 `json:"offset,omitempty"`   // address in Object (file-relative virtual address)
	Entry    uint64 `json:"entry,omitempty"`    // where the function begins, if it has no name
	Mark     Mark   `json:"mark,omitempty"`     // Approx: the place is near, not exact (tail calls)
	// From names the nearest functions with names around the function, where its
	// own name is not known, or does not tell the region from others (see
	// analysis.NameCallers). Never recorded.
	From string `json:"-"`
}

// Region is a construct at a source location.
type Region struct {
	Construct event.Construct `json:"construct"`
	Name      string          `json:"name,omitempty"` // of a named critical
	Runtime   string          `json:"runtime,omitempty"`
	Location  Location        `json:"location"`
	Merged    string          `json:"merged,omitempty"` // lines of the loops that the compiler merged with this one
	Notes     []string        `json:"notes,omitempty"`  // what the reader must know about its figures, whole sentences
	Lossy     uint64          `json:"lossy,omitempty"`  // events lost while this region was innermost
}

// Node is a region reached over one path of regions.
type Node struct {
	Parent int           `json:"parent"` // index in Profile.Nodes; -1 for the root
	Region int           `json:"region"` // index in Profile.Regions; -1 for the root
	Stats  []ThreadStats `json:"stats,omitempty"`
}

// Span is summed time and the number of times it was entered.
type Span struct {
	T int64  `json:"t,omitempty"` // ns
	C uint64 `json:"c,omitempty"`
}

// ThreadStats are one thread's figures at one node, by ompP's pseudo regions
// (Fürlinger and Gerndt, ompP, Fig. 2).
//
//	Exec     main/seq: whole construct         execT, execC
//	Enter    waiting to get in                 enterT; startupT of PARALLEL
//	Body     inner part                        bodyT, sectT/sectC, singleT/singleC
//	Barrier  implicit barrier                  exitBarT
//	Exit     leaving                           exitT; shutdwnT of PARALLEL
//
// For every construct Exec.T = Enter.T + Body.T + Barrier.T + Exit.T, but for
// SECTIONS, where the rest is mgmtT, and SINGLE, where threads that do not
// execute the body have none. For TASKEXEC and UTASKEXEC, Enter is the queueing
// delay from creation to execution, which is no part of Exec, Body.C counts the
// parts in which a suspended task was executed, and Exec.T leaves out what the
// thread did while the task was suspended for others.
type ThreadStats struct {
	Thread  int  `json:"thread"` // index in Profile.Threads
	Exec    Span `json:"exec"`
	Enter   Span `json:"enter,omitzero"`
	Body    Span `json:"body,omitzero"`
	Barrier Span `json:"barrier,omitzero"`
	Exit    Span `json:"exit,omitzero"`
	// Child is the time that this thread spent in child regions it entered
	// from this one: exclusive = inclusive - Child (ns).
	Child int64 `json:"child,omitempty"`
	// Task is time spent executing tasks while waiting here (ns), and Tasks how
	// many: inside the barrier, or inside TASKWAIT, TASKGROUP, TASKLOOP or
	// TASKYIELD, whose other times leave it out. Outside of tasks it is all the
	// time until the wait goes on; inside a task it is the executed tasks' own,
	// without those that they executed in turn, so that it adds up.
	Task  int64  `json:"task,omitempty"`
	Tasks uint64 `json:"tasks,omitempty"`
	// MPI is what the thread did in MPI while it was in this region, inner ones
	// included (Fürlinger and Moore, Figs. 2 and 3); nil if nothing. Of a region
	// of construct MPI, the calls themselves. The root's is all that the thread
	// did in MPI.
	MPI *MPIStats `json:"mpi,omitempty"`
	// Calls is the part of MPI that was called straight from this region and
	// whose own regions have been taken out (see Hide); nil if there are none.
	Calls *MPIStats `json:"calls,omitempty"`
	// Counters are what the performance counters counted of this thread in Exec,
	// inclusive, in the order of Meta.Counters; nil if none were read. Those of a
	// counter that failed mean nothing. ChildCounters is the part of them in child
	// regions: exclusive = Counters - ChildCounters.
	Counters      []int64 `json:"counters,omitempty"`
	ChildCounters []int64 `json:"child_counters,omitempty"`
	// Uncounted is how many executions' counters are not known, or only a part of
	// them, which Counters holds.
	Uncounted uint64 `json:"uncounted,omitempty"`
	// Cost is the part of these times that the measurement's own probes took; nil
	// if nothing, or if that is not known.
	Cost *Cost `json:"cost,omitempty"`
	// NoCore is the part of these times in which the thread was ready to run and had
	// no core; nil if none, or if that is not known. The root's Exec is all that the
	// thread told of, in regions or not.
	NoCore *Cost `json:"no_core,omitempty"`
	// Estimate is the part of the above that was extrapolated, because the
	// construct was not observed for some of the time; nil: nothing.
	Estimate *Estimate `json:"estimate,omitempty"`
	// TakenOut is what Exec.T has lost to analysis.Adjust, ns. Never recorded.
	TakenOut int64 `json:"-"`
}

// Cost is a part of a thread's times at a node, in ns: of the fields of ThreadStats of
// the same names. It is what its probes took, or what passed without a core.
type Cost struct {
	Exec    int64 `json:"exec,omitempty"`
	Enter   int64 `json:"enter,omitempty"`
	Body    int64 `json:"body,omitempty"`
	Barrier int64 `json:"barrier,omitempty"`
	Exit    int64 `json:"exit,omitempty"`
	Child   int64 `json:"child,omitempty"`
	Task    int64 `json:"task,omitempty"`
	// Wait is the part of Barrier in which the thread waited for others only because
	// probes had taken more of their time: it is no cost of the thread's own hits.
	Wait int64 `json:"wait,omitempty"`
}

// MPIStats are a thread's MPI counters.
type MPIStats struct {
	T    int64 `json:"t,omitempty"`    // in MPI calls, ns
	Cost int64 `json:"cost,omitempty"` // the part of T that the measurement's own probes took, ns
	// NoCore is the part of T in which the thread was ready to run and had no core, ns.
	NoCore int64  `json:"no_core,omitempty"`
	Calls  uint64 `json:"calls,omitempty"` // of any operation
	Sends  uint64 `json:"sends,omitempty"` // ompP's sendC, recvC, collC
	Recvs  uint64 `json:"recvs,omitempty"`
	Colls  uint64 `json:"colls,omitempty"`
	// Bytes sent and received, by accounting.
	Out     [mpi.NumAccountings]uint64 `json:"out,omitzero"`
	In      [mpi.NumAccountings]uint64 `json:"in,omitzero"`
	Read    uint64                     `json:"read,omitempty"` // bytes by MPI-IO
	Written uint64                     `json:"written,omitempty"`
	Unknown uint64                     `json:"unknown,omitempty"` // calls whose volume could not be told, not in the above
	// Wait is the part of T in calls that were made straight from a barrier or
	// another wait: by tasks that are not measured themselves.
	Wait int64 `json:"wait,omitempty"`
	// WaitNoCore is the part of Wait without a core.
	WaitNoCore int64 `json:"wait_no_core,omitempty"`
	// The smallest and the largest call, bytes in either direction together, by
	// accounting, and of how many: calls, and operations that a Start started,
	// that move data and whose volume is known. Of regions of construct MPI only.
	Sized uint64                     `json:"sized,omitempty"`
	Min   [mpi.NumAccountings]uint64 `json:"min,omitzero"`
	Max   [mpi.NumAccountings]uint64 `json:"max,omitzero"`
}

// Loss says where events went missing.
type Loss struct {
	Region int    `json:"region"` // innermost region when it happened; -1: outside any
	Thread int    `json:"thread"`
	Events uint64 `json:"events"`
}

// Unseen says what the tool could not observe, and why.
type Unseen struct {
	What   string `json:"what"`   // construct or symbol
	Reason string `json:"reason"` // one sentence
	// Function, Object and Offset tell the function that holds it, if that is known:
	// its source function's name, its file, and where in that it begins. Body: it is
	// the body of a region, so if no region lies there, it was not executed.
	Function string `json:"function,omitempty"`
	Object   string `json:"object,omitempty"`
	Offset   uint64 `json:"offset,omitempty"`
	Body     bool   `json:"body,omitempty"`
	// Possible: the program may have none of them. Their time is that of the regions
	// around them.
	Possible bool `json:"possible,omitempty"`
}

// SchemaVersion is the version of the recorded profile that this package
// writes. It grows when a reader of the older version would misread the newer.
const SchemaVersion = 1
