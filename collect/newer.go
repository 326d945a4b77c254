package collect

import (
	"regexp"
	"strconv"
	"strings"

	"ompp-attach/event"
)

const noteRuntimesOwn = "a region of the runtime itself, not of the program: libomp's hidden helper threads, which it starts for target nowait"

const noteReduction = "GCC combines the results of several reductions under the lock of its atomics"

// parallelKind returns the combined construct that the words of a directive name behind "parallel".
// The directive may have more before it (teams distribute parallel for).
func parallelKind(words string, seen event.Construct) event.Construct {
	_, rest, _ := strings.Cut(words, "parallel")
	f := strings.Fields(rest)
	if len(f) == 0 || seen != event.Parallel {
		return seen
	}
	switch f[0] {
	case "for", "do", "loop":
		return event.ParallelLoop
	case "sections":
		return event.ParallelSections
	case "workshare":
		return event.ParallelWorkshare
	}
	return seen
}

var clangVersion = regexp.MustCompile(`clang version (\d+)`)

// ignoresLoop tells whether a module with OpenMP was compiled by a clang that ignores the loop
// directive, or by an unknown release.
func (p *Process) ignoresLoop() bool {
	const first = 16
	for i := range p.resolver.mods {
		o := p.resolver.mods[i].Object()
		if !o.Imports("__kmpc_fork_call") {
			continue
		}
		known := false
		for _, producer := range o.Producers() {
			if m := clangVersion.FindStringSubmatch(producer); m != nil {
				known = true
				if v, err := strconv.Atoi(m[1]); err == nil && v < first {
					return true
				}
			}
		}
		if !known {
			return true
		}
	}
	return false
}
