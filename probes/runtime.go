package probes

import (
	"strings"

	"ompp-attach/event"
	"ompp-attach/probes/callgraph"
	"ompp-attach/symbols"
)

// Runtime is all that the tool knows of how one OpenMP runtime is found and probed. Package openmp
// has the list of them.
type Runtime struct {
	Name event.Runtime
	// Defines are sets of functions. A file that defines all of one set is this runtime.
	Defines [][]string
	// Exports is a function that a library of this runtime exports, as long as it does not hide the
	// runtime; "": none is looked for.
	Exports string
	// Files are the beginnings of the names that the runtime's files usually have.
	Files []string
	// Prefix is how the names of the runtime's own entry points begin.
	Prefix string
	// Tasks finds where the library creates and runs tasks; nil: it has no tasks.
	Tasks func(*symbols.Object) (TaskPoints, error)
	// Place places all probes.
	Place func(*Planner) error
	// Version tells the library's version, "" if nothing does.
	Version func(*symbols.Object) string
}

// located keeps what Tasks has found, which takes most of the time that a plan takes.
var located symbols.Memo[locatedTasks]

// locatedTasks is what Tasks returns.
type locatedTasks struct {
	points TaskPoints
	err    error
}

// Locate finds where the library creates and runs tasks, and keeps the answer.
func (r *Runtime) Locate(o *symbols.Object) (TaskPoints, error) {
	at := located.Of(o, func(o *symbols.Object) (at locatedTasks) {
		at.points, at.err = r.Tasks(o)
		return at
	})
	return at.points, at.err
}

// Forget drops what is kept of a file.
func Forget(o *symbols.Object) {
	located.Forget(o)
	keptPlans.Forget(o)
	callgraph.Forget(o)
}

// ownText returns the address range of the runtime's own code. A call from there is made by the
// runtime, not by the program. In a static executable this is the range of the runtime's functions,
// which the linker takes from the archive in one go.
func (r *Runtime) ownText(o *symbols.Object) (lo, hi uint64) {
	if !o.IsExecutable() {
		for _, t := range o.TextRanges() {
			if hi == 0 || t.Lo < lo {
				lo = t.Lo
			}
			hi = max(hi, t.Hi)
		}
		return lo, hi
	}
	// The runtime's internal functions may lie anywhere, cold ones even before the program's own
	// code. But the entry points lie together.
	o.Symbols(func(name string, vaddr, size uint64) {
		if strings.HasPrefix(name, r.Prefix) && !strings.Contains(name, ".") {
			if hi == 0 || vaddr < lo {
				lo = vaddr
			}
			hi = max(hi, vaddr+size)
		}
	})
	return lo, hi
}
