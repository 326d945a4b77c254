package profile

import (
	"ompp-attach/event"
	"time"
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

// Join adds a row to that of threads that lived briefly.
func (t *Thread) Join(o *Thread) {
	const enough = 64
	t.TIDs = append(t.TIDs, o.TIDs[:min(len(o.TIDs), enough-min(enough, len(t.TIDs)))]...)
	if o.Num == 0 {
		t.Joined += max(1, o.Joined)
		t.Lived += o.Lived
	}
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
