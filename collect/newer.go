package collect

import (
	"regexp"
	"slices"
	"strconv"
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

const noteReduction = "GCC combines the results of several reductions under the lock of its atomics"

// reductionAt recognises a call of GOMP_atomic_start that belongs to no atomic
// directive: GCC combines several reductions so, with the line of the body's end.
func reductionAt(ds []symbols.Directive, reg *attribution.Region) bool {
	loc := &reg.Location
	var best symbols.Directive
	for _, d := range ds {
		switch {
		case d.Begin > loc.Begin || loc.Begin > d.End:
		case d.Words == "atomic":
			return false
		case d.Begin > best.Begin && d.Words != "section" && !d.Matches("task"):
			best = d
		}
	}
	if best.Begin == 0 {
		return false
	}
	reg.Construct = event.Reduction
	reg.Notes = append(reg.Notes, noteReduction)
	loc.Begin, loc.End, loc.Mark = best.Begin, best.End, attribution.Approx
	return true
}

// innermost finds the directive around a location whose name has a word.
func innermost(o *symbols.Object, loc *attribution.Location, word string) (best symbols.Directive, ok bool) {
	ds, _ := o.Directives(loc.File)
	for _, d := range ds {
		if d.Begin <= loc.Begin && loc.Begin <= d.End && d.Begin > best.Begin && partOf(d.Words, word) {
			best, ok = d, true
		}
	}
	return best, ok
}

var clangVersion = regexp.MustCompile(`clang version (\d+)`)

// ignoresLoop tells whether a module with OpenMP was compiled by a clang that
// makes nothing of the loop directive, or by one that does not say which it is.
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

// unseenNewer says which newer constructs make no call.
func (p *Process) unseenNewer(has map[event.Runtime]bool) (out []attribution.Unseen) {
	if has[event.Gomp] {
		out = append(out, attribution.Unseen{What: "masked, scope, distribute (GCC)",
			Reason: "GCC makes plain instructions of them, but for a scope with a task reduction; their time is that of the region around them"})
	}
	if has[event.Kmpc] && p.ignoresLoop() {
		out = append(out, attribution.Unseen{What: "loop (clang before 16)",
			Reason: "these releases ignore the directive: every thread executes the whole loop"})
	}
	if has[event.Kmpc] && !has[event.Tgt] {
		out = append(out, attribution.Unseen{What: "target (clang without offloading)",
			Reason: "where no code for a device was compiled, a target region is a plain call, and target data, update, enter data and exit data are nothing"})
	}
	return out
}
