// Package openmp has the list of the OpenMP runtimes that the tool knows. It tells which runtime a
// file is, and plans the file's probes.
package openmp

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"ompp-attach/event"
	"ompp-attach/probes"
	"ompp-attach/probes/gomp"
	"ompp-attach/probes/kmpc"
	"ompp-attach/probes/tgt"
	"ompp-attach/symbols"
)

// all are the known runtimes. Of those that fit a file the first one counts: libomp defines
// libgomp's entry points, too.
var all = []*probes.Runtime{
	&kmpc.Runtime,
	&tgt.Runtime,
	&gomp.Runtime,
}

// identified keeps the results of identify.
var identified symbols.Memo[*probes.Runtime]

func find(o *symbols.Object) *probes.Runtime { return identified.Of(o, identify) }

// identify asks for all functions at once, because each question goes through the file's symbols.
func identify(o *symbols.Object) *probes.Runtime {
	var names []string
	for _, r := range all {
		names = append(names, slices.Concat(r.Defines...)...)
	}
	has := o.Defines(names...)
	for _, r := range all {
		for _, set := range r.Defines {
			if !slices.Contains(has[:len(set)], false) {
				return r
			}
			has = has[len(set):]
		}
	}
	return nil
}

// Identify returns the runtime that an object contains, or NoRuntime.
func Identify(o *symbols.Object) event.Runtime {
	if r := find(o); r != nil {
		return r.Name
	}
	return event.NoRuntime
}

var errUnknown = errors.New("no OpenMP runtime that this version knows")

// NewPlan finds the cheapest safe place for every probe in a runtime library. imported reports
// whether the program's modules import a symbol.
func NewPlan(o *symbols.Object, imported func(string) bool) (*probes.Plan, error) {
	r := find(o)
	if r == nil {
		return nil, errUnknown
	}
	return r.Plan(o, imported)
}

// KeptPlan is NewPlan, but uses the plan that an earlier run has made of the same file, and keeps a
// new one for later runs.
func KeptPlan(o *symbols.Object, imported func(string) bool) (*probes.Plan, error) {
	r := find(o)
	if r == nil {
		return nil, errUnknown
	}
	return r.KeptPlan(o, imported)
}

// ReadAhead finds in advance what KeptPlan will need, if the file is a runtime.
func ReadAhead(o *symbols.Object) {
	if r := find(o); r != nil {
		r.ReadAhead(o)
	}
}

// Exported reports whether a file exports an entry point by which a runtime that is not hidden can
// be told. Unlike Identify it does not parse the file's symbols.
func Exported(o *symbols.Object) bool {
	return slices.ContainsFunc(all, func(r *probes.Runtime) bool { return r.Exports != "" && o.Exports(r.Exports) })
}

// Named reports whether a file has the name of a runtime, for files that cannot be read or have no
// symbols.
func Named(path string) bool {
	base := filepath.Base(path)
	if strings.HasPrefix(base, "libomptarget") || strings.HasPrefix(base, "libompd") {
		return false
	}
	return slices.ContainsFunc(all, func(r *probes.Runtime) bool {
		return slices.ContainsFunc(r.Files, func(prefix string) bool { return strings.HasPrefix(base, prefix) })
	})
}

// Forget drops what is kept of a file.
func Forget(o *symbols.Object) {
	identified.Forget(o)
	probes.Forget(o)
}
