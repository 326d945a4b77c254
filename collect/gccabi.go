package collect

import (
	"fmt"

	"ompp-attach/event"
	"ompp-attach/symbols"
)

// Libomp also has libgomp's entry points, so that code that GCC compiled can
// run on it: by LD_PRELOAD, or where a distribution (conda's llvm-openmp) gives
// it libgomp's name. Of such code only what passes libomp's own entry points is
// seen, which the user must know.

// gccOnLibomp says whether code compiled by GCC called libomp; "" if it did
// not. mods are what the process maps.
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
	// What GCC compiled, libomp calls through a function of its own.
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
