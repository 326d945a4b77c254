package collect

import (
	"fmt"

	"ompp-attach/event"
	"ompp-attach/symbols"
)

// Libomp has libgomp's entry points, too, so that code compiled by GCC can run on libomp: by
// LD_PRELOAD, or where a distribution installs libomp under libgomp's name (conda's llvm-openmp).
// Of such code we see only what passes libomp's own entry points, and the user must know that.

// gccOnLibomp returns a warning if code compiled by GCC called libomp, and "" if not. mods are the
// files that the process maps.
func (p *Process) gccOnLibomp(mods []symbols.Module) string {
	libgomp := false
	var libomp *library
	for _, l := range p.usage.libraries {
		libgomp = libgomp || l.kind == event.Gomp
		if l.kind == event.Kmpc && (libomp == nil || l.path < libomp.path) {
			libomp = l
		}
	}
	if libomp == nil {
		return ""
	}
	// Libomp calls code that GCC has compiled through a function of its own.
	for fn, instance := range p.usage.callers {
		l := p.usage.libraries[instance]
		if at, ok := p.resolver.at(fn); ok && l.kind == event.Kmpc && at.module.Path == l.path {
			return gccOnLibompWarning(l.path)
		}
	}
	if libgomp {
		return ""
	}
	for i := range mods {
		if o := mods[i].Object(); o.Imports("GOMP_parallel") {
			return gccOnLibompWarning(libomp.path)
		}
	}
	return ""
}

func gccOnLibompWarning(path string) string {
	return fmt.Sprintf("code that GCC compiled runs on libomp (%s), whose entry points for it (GOMP_*) are not measured: of its parallel regions only the other threads of a team are seen, as under way, and most of its constructs are not; to measure it, let it run on GCC's libgomp", path)
}
