package profile

import (
	"time"

	"ompp-attach/event"
	"ompp-attach/mpi/calllog"
	"ompp-attach/mpi/clocks"
)

// Profile holds everything that was measured of one process. It is recorded losslessly (see
// Encode), and every report is a rendering of it.
type Profile struct {
	Version int      `json:"version"` // SchemaVersion of the writer
	Meta    Meta     `json:"meta"`
	Threads []Thread `json:"threads"`
	Regions []Region `json:"regions"` // in report order: R00001 is Regions[0]
	// Nodes[0] is the root (the program); a parent precedes its children.
	Nodes []Node `json:"nodes"`
	// Communicators and windows that Traffic names; Comms[0] is MPI_COMM_WORLD.
	Comms   []Comm       `json:"comms,omitempty"`
	Calls   *calllog.Log `json:"calls,omitempty"` // MPI calls one by one; nil: not asked for
	Lost    []Loss       `json:"lost,omitempty"`
	Unseen  []Unseen     `json:"unseen,omitempty"`
	Frames  []Frame      `json:"frames,omitempty"`  // that Samples name
	Objects []Object     `json:"objects,omitempty"` // that Frames and Regions name
	Samples []Sample     `json:"samples,omitempty"` // equal samples are added up
	// What each thread did, over time; nil: not known, as of a part of a measurement.
	Strip *Strip `json:"strip,omitempty"`
	// Rivals are the processes that had cores for which threads were ready; recorded with --sched.
	Rivals   []Rival  `json:"rivals,omitempty"`
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
	// How measurement ended: "exit 0", "signal 9", "detached", ...; empty: it went on.
	Ended string `json:"ended"`
	// Exit is the exit status of the launched program, or 128+N if signal N killed it. 0 stands
	// for success, or for a status that is not known.
	Exit int `json:"exit,omitempty"`
	// Clock says which clock times were recorded by; nil: an older version recorded the profile.
	Clock *clocks.Record `json:"clock,omitempty"`
	// SnapshotAt is the time at which a snapshot's data ends; zero: the profile is whole.
	SnapshotAt time.Time `json:"snapshot_at,omitzero"`
	Tool       string    `json:"tool"`            // version of ompp-attach
	Built      string    `json:"built,omitempty"` // commit date of that version
	Runtimes   []Runtime `json:"runtimes"`
	Hits       uint64    `json:"hits"`      // probe hits delivered
	LostHits   uint64    `json:"lost_hits"` // probe hits whose record was dropped
	Unmatched  uint64    `json:"unmatched"` // ends without a begin that were dropped
	Edges      Edges     `json:"edges,omitzero"`
	// Region instances seen only in part (under way at attach or at the end).
	Partial uint64 `json:"partial"`
	// How long, and how often, measurement was switched off; not part of the duration.
	Off      Span      `json:"off,omitzero"`
	Stopped  Stopped   `json:"stopped,omitzero"`   // stops of the process to place probes
	LeftOut  []string  `json:"left_out,omitempty"` // constructs that the user did not want to see
	MPI      *MPIJob   `json:"mpi,omitempty"`      // nil: the process did not use MPI
	Counters []Counter `json:"counters,omitempty"` // in the order of ThreadStats.Counters
	// Evaluators are the user's formulas over the counters.
	Evaluators []string      `json:"evaluators,omitempty"`
	Sampling   *Sampling     `json:"sampling,omitempty"` // nil: not sampled
	Budget     *Budget       `json:"budget,omitempty"`   // nil: the measurement's cost was not limited
	Sched      *SchedRecords `json:"sched,omitempty"`    // nil: the threads' cores were not watched
	// Observations list the constructs that were not observed all of the time.
	Observations []Observation `json:"observations,omitempty"`
	// Cost of the measurement; nil: an older version recorded the profile, without it.
	Overhead *Overhead `json:"overhead,omitempty"`
	// Adjusted: the time that probes took has been taken out of all times (see
	// analysis.Adjust). Never recorded.
	Adjusted bool `json:"-"`
	// TakenOut is the time that analysis.Adjust took out of Duration, ns. Never recorded.
	TakenOut int64 `json:"-"`
	// The program may create tasks, and tasks are not measured for its runtime.
	HasTasks bool `json:"has_tasks"`
}

// Stopped says how often, and how long, the process was stopped to place probes. These times are
// part of no other time.
type Stopped struct {
	Times   uint64 `json:"times"`
	Total   int64  `json:"total_ns"`
	Longest int64  `json:"longest_ns"`
}

// Add counts one more stop of the given length in ns.
func (s *Stopped) Add(ns int64) {
	s.Times++
	s.Total += ns
	s.Longest = max(s.Longest, ns)
}

// Edges says of how many short and frequent calls the end was derived, and not measured. An end is
// the begin of a primary thread's body, the end of a barrier, or the join of a team.
type Edges struct {
	All     uint64 `json:"all"`     // of all such calls, also those that were measured in full
	Derived uint64 `json:"derived"` // whose end was derived
}

// Runtime is one OpenMP runtime found in the process.
type Runtime struct {
	Name string `json:"name"` // libgomp, libomp
	Path string `json:"path"`
	// As the library states it, otherwise deduced from its symbol versions.
	Version string   `json:"version,omitempty"`
	BuildID string   `json:"build_id,omitempty"`
	Probes  int      `json:"probes"`            // number of probes placed
	Missing []string `json:"missing,omitempty"` // probes that could not be placed, with the reason
}

// MPIJob is the place of a process in an MPI job.
type MPIJob struct {
	Library string `json:"library"`        // "Open MPI 4.1.4", "MPICH 4.0.2"
	Path    string `json:"path,omitempty"` // of the library
	Rank    int    `json:"rank"`           // in MPI_COMM_WORLD; -1 if not known
	Size    int    `json:"size"`           // of MPI_COMM_WORLD; 0 if not known
	Job     string `json:"job,omitempty"`  // the launcher's name of the job, if there is one
	// Thread level that MPI provided: "MPI_THREAD_FUNNELED"; empty if not seen.
	Level string `json:"level,omitempty"`
	// Why volumes are not known, as a whole sentence; empty if they are known.
	Volumes string `json:"volumes,omitempty"`
}

// Thread is a seat, and a row of the tables by thread: an OpenMP thread number under one initial
// thread.
type Thread struct {
	// Index of the initial thread; 0 unless several threads start teams.
	Root int `json:"root"`
	Num  int `json:"num"` // OpenMP thread number in its innermost team, or UnknownNum
	// Operating system's ids of the threads that had this seat: at most 64, but all of
	// UnknownNum.
	TIDs []int `json:"tids,omitempty"`
	// Lived and Joined are set for initial threads other than the first one (Num 0). Lived is
	// the time from the thread's first event to its last, ns; 0: all of the measured time.
	// Joined is the number of initial threads, all of which lived briefly, that share this seat.
	// Their workers share the seats of their numbers, and Lived is the sum of their lives.
	// Joined 0 stands for one thread.
	Lived  int64 `json:"lived_ns,omitempty"`
	Joined int   `json:"joined,omitempty"`
}

// Join adds a seat to the shared seat of threads that lived briefly.
func (t *Thread) Join(o *Thread) {
	const enough = 64
	t.TIDs = append(t.TIDs, o.TIDs[:min(len(o.TIDs), enough-min(enough, len(t.TIDs)))]...)
	if o.Num == 0 {
		t.Joined += max(1, o.Joined)
		t.Lived += o.Lived
	}
}

// UnknownNum is the Num of threads that were inside a region when measurement began, and whose
// thread number no event has told.
const UnknownNum = -1

// Mark says how exact a location or number is.
type Mark string

// The marks. The empty mark means exact.
const (
	Exact  Mark = ""
	Approx Mark = "approximate"
)

// Location is the place of a construct in the source and in its object file.
type Location struct {
	File  string `json:"file,omitempty"`  // as recorded by the compiler; empty if not known
	Begin int    `json:"begin,omitempty"` // line of the directive, 0 if not known
	End   int    `json:"end,omitempty"`   // last line of the construct, 0 if not known
	// Approx: End is the line of the last statement, not the closing line.
	EndMark  Mark   `json:"end_mark,omitempty"`
	Function string `json:"function,omitempty"` // enclosing source function, demangled
	Object   string `json:"object,omitempty"`   // executable or library
	Offset   uint64 `json:"offset,omitempty"`   // address in Object (file-relative virtual address)
	// Address at which the function begins, if the function has no name.
	Entry uint64 `json:"entry,omitempty"`
	Mark  Mark   `json:"mark,omitempty"` // Approx: the place is near, not exact (tail calls)
	// From names the nearest callers with names. It is set if the function has no name, or if
	// its name does not tell the region from others (see analysis.NameCallers). Never recorded.
	From string `json:"-"`
}

// Region is a construct at a source location.
type Region struct {
	Construct event.Construct `json:"construct"`
	Name      string          `json:"name,omitempty"` // of a named critical
	// Level is the name that the user gave to the library whose function it is (--level); empty:
	// none.
	Level    string   `json:"level,omitempty"`
	Runtime  string   `json:"runtime,omitempty"`
	Location Location `json:"location"`
	// Lines of the loops that the compiler merged with this one.
	Merged string `json:"merged,omitempty"`
	// Whole sentences that the reader must know about its figures.
	Notes []string `json:"notes,omitempty"`
	// Events lost while this region was innermost.
	Lossy uint64 `json:"lossy,omitempty"`
}

// Node is a region on one call path of regions.
type Node struct {
	Parent int           `json:"parent"` // index in Profile.Nodes; -1 for the root
	Region int           `json:"region"` // index in Profile.Regions; -1 for the root
	Stats  []ThreadStats `json:"stats,omitempty"`
}

// Loss says where events were lost.
type Loss struct {
	Region int    `json:"region"` // innermost region at the loss; -1: outside any
	Thread int    `json:"thread"`
	Events uint64 `json:"events"`
}

// Unseen is something that the tool could not observe, with the reason.
type Unseen struct {
	What   string `json:"what"`   // construct or symbol
	Reason string `json:"reason"` // one sentence
	// Function, Object and Offset name the function that holds it, if known: the name of its
	// source function, its file, and the address in the file at which it begins. Body: the
	// function is the body of a region. If no region lies there, the body was not executed.
	Function string `json:"function,omitempty"`
	Object   string `json:"object,omitempty"`
	Offset   uint64 `json:"offset,omitempty"`
	Body     bool   `json:"body,omitempty"`
	// Possible: the program may have no such constructs. Their time is counted for the regions
	// around them.
	Possible bool `json:"possible,omitempty"`
}

// SchemaVersion is the version of the recorded profile that this package writes. It grows when a
// reader of the older version would misread the newer one.
const SchemaVersion = 1

// ClockName names the clock that times were recorded by: the boot of a kernel. Processes with one
// name share a clock, whatever containers they are in. Where an older version recorded a profile,
// the host's name has to do.
func (m *Meta) ClockName() string {
	if m.Clock != nil && m.Clock.Boot != "" {
		return "boot " + m.Clock.Boot
	}
	return "host " + m.Host
}
