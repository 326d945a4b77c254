package advice

import (
	"fmt"

	"ompp-attach/event"
)

// Libomp has libgomp's entry points, too, so that code compiled by GCC can run on libomp.
// LD_PRELOAD brings that about, or a distribution that installs libomp under libgomp's name
// (conda's llvm-openmp). Of such code only calls of libomp's own entry points are measured, and the
// user must know that.

// GCCOnLibomp returns a warning if code compiled by GCC called libomp, and "" if not. fileOf tells
// in which mapped file an address lies. imported tells whether a mapped file imports a symbol.
func (u *Usage) GCCOnLibomp(fileOf func(addr uint64) string, imported func(symbol string) bool) string {
	libgomp := false
	var libomp *library
	for _, l := range u.libraries {
		libgomp = libgomp || l.kind == event.Gomp
		if l.kind == event.Kmpc && (libomp == nil || l.path < libomp.path) {
			libomp = l
		}
	}
	if libomp == nil {
		return ""
	}
	// Libomp calls code that GCC has compiled through a function of its own.
	for fn, instance := range u.callers {
		if l := u.libraries[instance]; l.kind == event.Kmpc && fileOf(fn) == l.path {
			return gccOnLibompWarning(l.path)
		}
	}
	if !libgomp && imported("GOMP_parallel") {
		return gccOnLibompWarning(libomp.path)
	}
	return ""
}

func gccOnLibompWarning(path string) string {
	return fmt.Sprintf("code that GCC compiled runs on libomp (%s), and most of its constructs are not measured there. Of its parallel regions the first thread is missing. To measure them, let the program run on GCC's libgomp.", path)
}
