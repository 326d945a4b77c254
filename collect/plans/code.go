package plans

import (
	"slices"

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
func (f *Files) Finds() bool { return f.inline || len(f.finders) > 0 }

// FindInline makes Code plan probes at constructs that GCC compiles to plain instructions.
func (f *Files) FindInline() { f.inline = true }

// Code returns the plan of the probes in a file's own code. It returns nil if none are wanted
// there. told leaves out beginnings of loops that other events tell.
func (f *Files) Code(mod *symbols.Module, told bool) (*probes.Attached, error) {
	plans := f.code
	if told {
		plans = f.told
	}
	return plans.get(mod.Object(), func() (*probes.Attached, error) {
		p := f.newCode(mod, told)
		if len(p.Placements) == 0 {
			return nil, nil
		}
		return f.m.Store(p)
	})
}

// Further returns the plans of probes in a file's own code that files loaded later have made
// wanted. It comes after Code.
func (f *Files) Further(mod *symbols.Module) ([]*probes.Attached, error) {
	o := mod.Object()
	if f.Later == nil {
		return nil, nil
	}
	points, continued := f.Later(mod)
	if len(continued) > 0 {
		f.m.Alter(func() {
			for _, a := range append(slices.Clone(f.further[o]), f.code[o].of, f.told[o].of) {
				if a != nil {
					a.Plan.Continue(continued)
				}
			}
		})
	}
	p := probes.NewCodePlan(o, points)
	f.m.Selection().Prune(p)
	if len(p.Placements) > 0 {
		a, err := f.m.Store(p)
		if err != nil {
			return nil, err
		}
		f.further[o] = append(f.further[o], a)
	}
	return f.further[o], nil
}

// newCode makes the plan of the probes in a file's own code.
func (f *Files) newCode(mod *symbols.Module, told bool) *probes.Plan {
	o := mod.Object()
	points := f.wanted(mod)
	if f.inline {
		points = slices.Concat(points, inlined(o, told))
	}
	p := probes.NewCodePlan(o, points)
	f.m.Selection().Prune(p)
	return p
}

// wanted returns the points that the finders find in a file.
func (f *Files) wanted(mod *symbols.Module) []probes.CodePoint {
	points, _ := f.found.get(mod.Object(), func() (all []probes.CodePoint, err error) {
		for _, find := range f.finders {
			all = append(all, find(mod)...)
		}
		return all, nil
	})
	return points
}

// Beginnings returns the plan of the probes that Code leaves out where other events tell of loops.
// It returns nil if there are none.
func (f *Files) Beginnings(mod *symbols.Module) (*probes.Attached, error) {
	return f.beginnings.get(mod.Object(), func() (*probes.Attached, error) {
		told := inlined(mod.Object(), true)
		p := probes.NewCodePlan(mod.Object(), slices.DeleteFunc(inlined(mod.Object(), false), func(c probes.CodePoint) bool {
			return slices.ContainsFunc(told, func(t probes.CodePoint) bool { return t.VAddr == c.VAddr && t.Edge == c.Edge })
		}))
		f.m.Selection().Prune(p)
		if len(p.Placements) == 0 {
			return nil, nil
		}
		return f.m.Store(p)
	})
}

// Tells tells whether other events may stand for beginnings of loops in a file. They may if no
// point that the finders find lies between such an event and its loop.
func (f *Files) Tells(mod *symbols.Module) bool {
	all := inline.Of(mod.Object()).Constructs
	return !slices.ContainsFunc(f.wanted(mod), func(p probes.CodePoint) bool {
		return slices.ContainsFunc(all, func(c inline.Construct) bool { return c.After.Crosses(p.VAddr) })
	})
}

// Switches tells whether one of the files may switch measurement off or on. That hides the events
// that tell of loops, no matter in which file the loops are.
func (f *Files) Switches(mods []symbols.Module) bool {
	for i := range mods {
		if slices.ContainsFunc(f.wanted(&mods[i]), func(p probes.CodePoint) bool { return p.Edge == event.Off || p.Edge == event.On }) {
			return true
		}
	}
	return false
}

// inlined finds the places of constructs that GCC compiles to plain instructions.
func inlined(o *symbols.Object, told bool) []probes.CodePoint {
	if !target.UsesGomp(o) {
		return nil
	}
	found := inline.Of(o)
	if told {
		found = found.Untold()
	}
	return found.Points(event.Gomp)
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
