package profile

import (
	"path"
	"strings"
)

// Sampling says how the program was sampled.
type Sampling struct {
	Event string `json:"event"`          // "task-clock", "cycles"
	Unit  string `json:"unit,omitempty"` // unit of the samples' weight: "ns", or empty for events
	// Samples per second and thread; 0: sampled by Period.
	Frequency uint64 `json:"hz,omitempty"`
	Period    uint64 `json:"period,omitempty"` // events per sample
	Taken     uint64 `json:"taken"`            // number of samples
	Lost      uint64 `json:"lost,omitempty"`   // samples that could not be stored
	// Number of times that the kernel took fewer samples because they came too fast.
	Throttled uint64 `json:"throttled,omitempty"`
}

// Frame is a place in the program's code that samples name. A function that was inlined there has a
// frame of its own.
type Frame struct {
	Function string `json:"function,omitempty"` // demangled; empty if not known
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	Object   string `json:"object,omitempty"`
	// Offset is an address in Object (file-relative virtual address). It is the sampled
	// instruction, or, if the line is known, one instruction of the line. For callers it is one
	// less than the return address.
	Offset uint64 `json:"offset,omitempty"`
	// Entry is the address at which the function begins, if the function has no name and its
	// begin is known.
	Entry   uint64 `json:"entry,omitempty"`
	Inlined bool   `json:"inlined,omitempty"` // into the function of the stack's next frame
	// Atomic: the interrupted instruction is the operation of an atomic directive that makes no
	// call.
	Atomic bool `json:"atomic,omitempty"`
}

// cLibrary are beginnings of file names: of glibc, of glibc before 2.34, and of musl.
var cLibrary = []string{"libc.so", "libm.so", "libpthread.so.", "libmvec.so", "ld-linux",
	"libc-2.", "libm-2.", "libpthread-2.", "libmvec-2.", "ld-2.", "ld-musl-", "libc.musl-"}

// IsCLibrary reports whether a file is the C library, its mathematical functions or the dynamic
// loader. Their functions have names in profiles, and no lines.
func IsCLibrary(file string) bool {
	base := path.Base(file)
	for _, prefix := range cLibrary {
		if strings.HasPrefix(base, prefix) {
			return true
		}
	}
	return false
}

// Place returns the part that equal frames have in common: a line, or an instruction if no line is
// known.
func (f Frame) Place() Frame {
	if f.Line > 0 {
		f.Offset = 0
	}
	return f
}

// Shown returns the frame as reports show it, without its instruction. The result is equal for
// frames of one line, or of one function if no line is known.
func (f Frame) Shown() Frame {
	f.Offset, f.Inlined = 0, false
	return f
}

// Object is a file whose code the process executed: a program or a library.
type Object struct {
	Path    string `json:"path"` // as Frame.Object and Location.Object name it
	BuildID string `json:"build_id,omitempty"`
	// Begin and End bound the addresses of its code (file-relative virtual addresses).
	// FileOffset is the offset in the file at which the code begins.
	Begin      uint64 `json:"begin,omitempty"`
	End        uint64 `json:"end,omitempty"`
	FileOffset uint64 `json:"file_offset,omitempty"`
	// Symbols: there was a full symbol table, in the file or in its separate debug file, not
	// only the names that the file exports. Lines: there was line information.
	Symbols bool `json:"symbols,omitempty"`
	Lines   bool `json:"lines,omitempty"`
	// Package is the distribution's package of the file, if known. Debug is the package with
	// its debug information.
	Package string `json:"package,omitempty"`
	Debug   string `json:"debug_package,omitempty"`
}

// Sample says how often a thread was found at a place, in a region and in one of the region's
// phases.
type Sample struct {
	Node int `json:"node"` // index in Profile.Nodes: the innermost region
	// Index in Profile.Threads; -1: none, the thread had no part in OpenMP.
	Thread int    `json:"thread"`
	Phase  string `json:"phase,omitempty"`  // see PhaseEnter; empty: outside regions
	Stack  []int  `json:"stack,omitempty"`  // indices in Profile.Frames, innermost first
	Kernel bool   `json:"kernel,omitempty"` // the thread was in the kernel
	Cut    bool   `json:"cut,omitempty"`    // the stack could not be followed to its end
	Count  uint64 `json:"count"`
	Weight uint64 `json:"weight"`
}

// The phases of a region in which a sample may lie: those of ThreadStats, and three more.
const (
	PhaseEnter   = "enter"
	PhaseBody    = "body"
	PhaseBarrier = "barrier"
	PhaseExit    = "exit"
	PhaseIdle    = "idle"  // a worker outside any region: waiting for the next one
	PhaseMPI     = "mpi"   // in an MPI call, in any phase
	PhaseProbe   = "probe" // in a probe, in any phase: not the program's own time
)
