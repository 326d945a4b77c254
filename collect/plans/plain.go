package plans

import (
	"path/filepath"

	"ompp-attach/collect/target"
	"ompp-attach/event"
	"ompp-attach/probes/mpilib"
	"ompp-attach/probes/openmp"
	"ompp-attach/symbols"
)

// TellMapped tells the finders which files a process maps. It comes before Code, Further and Plain.
func (f *Files) TellMapped(mods []symbols.Module) {
	if f.Mapped != nil {
		f.Mapped(mods)
	}
}

// AllPlain tells whether nothing in any module can be measured.
func (f *Files) AllPlain(mods []symbols.Module) bool {
	f.TellMapped(mods)
	for i := range mods {
		if !f.Plain(&mods[i]) {
			return false
		}
	}
	return true
}

// Plain tells whether nothing in a module can be measured. A program that calls a runtime is plain,
// too, unless its own code is probed: the runtime is another file.
func (f *Files) Plain(mod *symbols.Module) bool {
	o := mod.Object()
	plain, _ := f.plain.get(o, func() (bool, error) {
		switch {
		case target.IsOffload(filepath.Base(mod.Path)), openmp.Named(mod.Path),
			target.MayBeRuntime(o) && openmp.Identify(o) != event.NoRuntime, target.MayBeMPI(o) && mpilib.Is(o):
			return false, nil
		case !f.Finds():
			return true, nil
		}
		return len(f.newCode(mod, false).Placements) == 0, nil
	})
	return plain
}
