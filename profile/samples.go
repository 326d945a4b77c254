package profile

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

// Place is what equal frames have in common: a line, or where none is known, an
// instruction.
func (f Frame) Place() Frame {
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

// The phases of a region in which a sample may be, as ThreadStats has them, and
// two more.
const (
	PhaseEnter   = "enter"
	PhaseBody    = "body"
	PhaseBarrier = "barrier"
	PhaseExit    = "exit"
	PhaseIdle    = "idle"  // a worker outside any region: waiting for the next one
	PhaseMPI     = "mpi"   // in an MPI call, wherever
	PhaseProbe   = "probe" // in a probe, wherever: no time of the program's
)
