package plans

import (
	"ompp-attach/collect/target"
	"ompp-attach/event"
	"ompp-attach/probes"
	"ompp-attach/probes/inline"
	"ompp-attach/symbols"
)

// Finder finds the places in the code of a program or library itself at which probes are wanted. It
// is called once per file.
type Finder func(mod *symbols.Module) []probes.CodePoint

// Find makes Code plan the probes that a finder finds. It must be called before the measurement
// starts.
func (f *Files) Find(by Finder) { f.finders = append(f.finders, by) }

// Finds tells whether probes in files' own code are wanted.
func (f *Files) Finds() bool { return len(f.finders) > 0 }

// Code returns the plan of the probes in a file's own code. It returns nil if none are wanted there.
func (f *Files) Code(mod *symbols.Module) (*probes.Attached, error) {
	o := mod.Object()
	return f.code.get(o, func() (*probes.Attached, error) {
		var points []probes.CodePoint
		for _, find := range f.finders {
			points = append(points, find(mod)...)
		}
		p := probes.NewCodePlan(o, points)
		f.m.Selection().Prune(p)
		if len(p.Placements) == 0 {
			return nil, nil
		}
		return f.m.Store(p)
	})
}

// Inline is the Finder of constructs that GCC compiles to plain instructions.
func Inline(mod *symbols.Module) []probes.CodePoint {
	o := mod.Object()
	if !target.UsesGomp(o) {
		return nil
	}
	return inline.Of(o).Points(event.Gomp)
}

// Atomics is the Finder of atomic and flush constructs that make no call.
func Atomics(mod *symbols.Module) []probes.CodePoint {
	o := mod.Object()
	switch {
	case target.UsesGomp(o):
		return inline.Atomics(o).Points(event.Gomp)
	case o.Imports("__kmpc_fork_call"):
		return inline.Atomics(o).Points(event.Kmpc)
	}
	return nil
}
