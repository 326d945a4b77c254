package page

import (
	"time"

	"ompp-attach/analysis"
	"ompp-attach/event"
	"ompp-attach/profile"
	"ompp-attach/report"
	"ompp-attach/report/when"
)

// Version is the version of the figures' JSON. It grows when a reader of the older version would
// misread the newer one.
const Version = 1

// Parts are the parts of a time of threads, by class of overhead, in ns. Their sum is the time.
type Parts struct {
	Work   int64 `json:"work"`
	Synch  int64 `json:"synch"`
	Imbal  int64 `json:"imbal"`
	Limpar int64 `json:"limpar"`
	Mgmt   int64 `json:"mgmt"`
	MPI    int64 `json:"mpi"`
	NoCore int64 `json:"no_core"`
	// Serial is the time of initial threads outside of all regions, and Idle the time of other
	// threads there.
	Serial int64 `json:"serial,omitempty"`
	Idle   int64 `json:"idle,omitempty"`
}

// Sum returns the whole time, in ns.
func (p *Parts) Sum() int64 {
	return p.Work + p.Synch + p.Imbal + p.Limpar + p.Mgmt + p.MPI + p.NoCore + p.Serial + p.Idle
}

// add adds a time in regions. c are the overheads in this time, and the rest is work.
func (p *Parts) add(whole int64, c analysis.Classes) {
	p.Work += whole - c.Sum()
	p.addClasses(c)
}

func (p *Parts) addClasses(c analysis.Classes) {
	p.Synch += c.Synch
	p.Imbal += c.Imbal
	p.Limpar += c.Limpar
	p.Mgmt += c.Mgmt
	p.MPI += c.MPI
	p.NoCore += c.NoCore
}

// Process holds the figures of a process. Times are in ns and, unless a comment says otherwise,
// summed over threads.
type Process struct {
	Version int           `json:"version"`
	Kind    string        `json:"kind"` // "process"
	Head    Head          `json:"head"`
	Facts   []report.Fact `json:"facts"`
	Whole   Parts         `json:"whole"` // of all threads' time
	// Efficiency is POP's multiplicative tree; null: Untold says why there is none.
	Efficiency *Efficiency `json:"efficiency"`
	Untold     string      `json:"untold,omitempty"`
	Threads    []Thread    `json:"threads"`
	Findings   []Finding   `json:"findings"` // worst first
	Small      int         `json:"small"`    // number of findings below a thousandth of the time
	// Rough holds sentences on times that are only approximate.
	Rough    []string       `json:"rough,omitempty"`
	Regions  []Region       `json:"regions"`
	Nodes    []Node         `json:"nodes"` // call paths; nodes[0] is the program
	Counters []CounterTitle `json:"counters,omitempty"`
	Sampled  string         `json:"sampled,omitempty"` // the event of sampling; empty: none
	Sources  []Source       `json:"sources,omitempty"`
	Trees    *Trees         `json:"trees,omitempty"`
	Strip    *Strip         `json:"strip,omitempty"` // absent: not recorded
	// When is the picture of the timeline; absent: no timeline was recorded.
	When  *when.Picture `json:"when,omitempty"`
	Notes []report.Note `json:"notes"`
}

// Head says what ran.
type Head struct {
	Program    string    `json:"program"`
	Args       []string  `json:"args,omitempty"`
	Host       string    `json:"host"`
	PID        int       `json:"pid"`
	Start      time.Time `json:"start"`
	Ended      string    `json:"ended,omitempty"` // in words; empty: the measurement went on
	Exit       int       `json:"exit,omitempty"`
	Snapshot   bool      `json:"snapshot,omitempty"` // the measurement went on after this
	Attached   bool      `json:"attached,omitempty"`
	Tool       string    `json:"tool"`
	Runtimes   []string  `json:"runtimes"`
	Rank       *int      `json:"rank,omitempty"` // in MPI_COMM_WORLD; absent: none, or not known
	Size       int       `json:"size,omitempty"` // of MPI_COMM_WORLD
	Threads    int       `json:"threads"`
	Wall       int64     `json:"wall_ns"`
	ThreadTime int64     `json:"thread_ns"`
	Coverage   *float64  `json:"parallel_coverage"` // 0 to 1; null: nothing of OpenMP was seen
	Accounting string    `json:"accounting"`        // of MPI volumes
	Adjusted   bool      `json:"adjusted"`          // times are without what probes took
	Probes     *int64    `json:"probe_ns"`          // that probes took; null: not known
	ProbeShare float64   `json:"probe_share"`       // see analysis.CostShare
	Lowered    bool      `json:"probe_lowered"`     // the processor time bounds both
	Lost       uint64    `json:"lost_events"`
	Hits       uint64    `json:"hits"`
	Partial    uint64    `json:"partial"`
}

// Thread is a row of the tables by thread.
type Thread struct {
	Label string `json:"label"` // as in the text report
	// Whole is all time of the thread. A row of nested teams can be several threads.
	Whole Parts `json:"whole"`
}

// Finding is an entry of the list of findings that all reports have (severity.Cube.List).
type Finding struct {
	Name     string  `json:"name"`
	Region   int     `json:"region"`         // number, from 1; 0: outside of all regions
	Path     string  `json:"path,omitempty"` // the call path; empty: of several places
	Class    string  `json:"class"`          // the class of Parts that gives the colour
	Time     int64   `json:"ns"`
	Severity float64 `json:"severity"` // share of all threads' time, 0 to 1
	// Saves is the wall time that a process saves at most without the finding, ns; absent: not
	// known. Of says which process this is, and how long the process ran.
	Saves *int64 `json:"saves_ns,omitempty"`
	Of    string `json:"of,omitempty"`
	// Most and Least are the threads (or ranks) with most and with least of the time. Absent: there
	// is one thread.
	Most      *Extreme `json:"most,omitempty"`
	Least     *Extreme `json:"least,omitempty"`
	Says      string   `json:"says"`            // the finding as a sentence
	Helps     string   `json:"helps"`           // what helps
	Doubt     string   `json:"doubt,omitempty"` // why the finding may not be the program's own
	Estimated bool     `json:"estimated,omitempty"`
}

// Extreme is the thread or rank with an extreme time.
type Extreme struct {
	Label string `json:"label"`
	Time  int64  `json:"ns"`
}

// Region is a construct at a place in the source.
type Region struct {
	Number    int             `json:"region"` // from 1, as R00001 in the text report
	Construct event.Construct `json:"construct"`
	Place     string          `json:"place"`
	Name      string          `json:"name,omitempty"`
	File      string          `json:"file,omitempty"`
	Begin     int             `json:"begin,omitempty"`
	End       int             `json:"end,omitempty"`
	Function  string          `json:"function,omitempty"`
	Inclusive int64           `json:"inclusive_ns"` // as in the flat profile
	Exclusive int64           `json:"exclusive_ns"` // without the regions inside
	Execs     uint64          `json:"execs"`
	// Mark is "~" if figures are extrapolated in part, "+" if they are of observed executions only.
	Mark     string           `json:"mark,omitempty"`
	Own      Parts            `json:"own"` // of the exclusive time
	Lossy    uint64           `json:"lossy,omitempty"`
	Rows     []Row            `json:"rows,omitempty"`
	Counters map[string]int64 `json:"counters,omitempty"`
	// CountersLack is the number of executions that the counters lack, in part or whole.
	CountersLack uint64   `json:"counters_lack,omitempty"`
	MPI          *Calls   `json:"mpi,omitempty"`
	Hot          *Hot     `json:"hot,omitempty"`
	Notes        []string `json:"notes,omitempty"`
}

// Row holds a thread's figures in a region. Times but Own are inclusive.
type Row struct {
	Thread  int    `json:"thread"` // index in Process.Threads
	Exec    int64  `json:"exec"`
	Count   uint64 `json:"count"`
	Enter   int64  `json:"enter,omitempty"`
	Body    int64  `json:"body,omitempty"`
	Barrier int64  `json:"barrier,omitempty"`
	Exit    int64  `json:"exit,omitempty"`
	MPI     int64  `json:"mpi,omitempty"`
	Own     Parts  `json:"own"` // of the exclusive time
}

// Calls are a region's MPI calls, those of inner regions included.
type Calls struct {
	Time    int64  `json:"ns"`
	Calls   uint64 `json:"calls"`
	Sends   uint64 `json:"sends"`
	Recvs   uint64 `json:"recvs"`
	Colls   uint64 `json:"colls"`
	Out     uint64 `json:"out_bytes"`
	In      uint64 `json:"in_bytes"`
	Unknown uint64 `json:"unknown,omitempty"` // calls of unknown volume, not in the bytes
	Sized   uint64 `json:"sized,omitempty"`   // at a call site: the calls that Min and Max are of
	Min     uint64 `json:"min_bytes,omitempty"`
	Max     uint64 `json:"max_bytes,omitempty"`
	// Sizes are numbers of messages by size, at a call site; absent: there were no messages.
	Sizes *profile.BySize `json:"sizes,omitempty"`
}

// Hot holds the samples of a region, without the regions inside.
type Hot struct {
	Weight uint64            `json:"weight"` // in the unit of the sampling event
	Phases map[string]uint64 `json:"phases"`
	Lines  []HotLine         `json:"lines"` // the hottest first
}

// HotLine is a line that was sampled.
type HotLine struct {
	Text   string `json:"text"`
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Weight uint64 `json:"weight"`
}

// Node is a region on one call path. Its width is its own time and that of all nodes below it, with
// the workers of teams that were started there.
type Node struct {
	Parent int    `json:"parent"`
	Region int    `json:"region"` // number, from 1; 0: the program
	Own    Parts  `json:"own"`
	Width  int64  `json:"width_ns"`
	Execs  uint64 `json:"execs"`
}

// CounterTitle describes a performance counter.
type CounterTitle struct {
	Name string `json:"name"`
	Unit string `json:"unit,omitempty"`
	// The share of the time for which the counter counted; absent: always.
	Running float64 `json:"running,omitempty"`
	Failed  string  `json:"failed,omitempty"`
}

// Source holds lines of a source file, by number.
type Source struct {
	File  string         `json:"file"`
	Lines map[int]string `json:"lines"`
	// The reason why lines are missing; empty: none are.
	Missing string `json:"missing,omitempty"`
}
