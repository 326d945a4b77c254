package collect

import (
	"slices"
	"strings"

	"ompp-attach/attribution"
	"ompp-attach/event"
	"ompp-attach/symbols"
)

// isOffload tells libomptarget by its name: it starts no teams, but it is probed
// where a program has it.
func isOffload(base string) bool { return strings.HasPrefix(base, "libomptarget") }

// partOf tells whether a directive's name contains a construct that combined
// directives have further back (teams distribute parallel for).
func partOf(name, construct string) bool {
	switch construct {
	case "parallel", "teams", "distribute":
		return slices.Contains(strings.Fields(name), construct)
	}
	return false
}

const noteRuntimesOwn = "a region of the runtime itself, not of the program: libomp's hidden helper threads, which it starts for target nowait"

const noteReduction = "GCC combines the results under the lock of its atomics"

// reductionAt recognises that a directive other than atomic stands where
// GOMP_atomic_start is called: GCC combines several reductions so.
func reductionAt(ds []symbols.Directive, reg *attribution.Region) bool {
	loc := &reg.Location
	for _, d := range ds {
		if d.Begin <= loc.Begin && loc.Begin <= d.Last && d.Words != "section" {
			reg.Construct = event.Reduction
			reg.Notes = append(reg.Notes, noteReduction)
			loc.Begin, loc.End = d.Begin, d.End
			return true
		}
	}
	return false
}
