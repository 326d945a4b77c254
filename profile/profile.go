package profile

import (
	"strings"

	"ompp-attach/event"
	"ompp-attach/mpi/calllog"
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

// NoteImplicit begins the note on a barrier that is the end of a construct. Nothing else of that
// construct was seen, so the barrier has a region of its own.
const NoteImplicit = "an implicit barrier of a construct that was not seen to begin"

// NotesOnImplicit returns the notes of a barrier's region that say so.
func (r *Region) NotesOnImplicit() (notes []string) {
	for _, n := range r.Notes {
		if strings.HasPrefix(n, NoteImplicit) {
			notes = append(notes, n)
		}
	}
	return notes
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
