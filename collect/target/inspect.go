package target

import (
	"os"
	"slices"
	"strings"

	"ompp-attach/collect/selection"
	"ompp-attach/event"
	"ompp-attach/preflight"
	"ompp-attach/probes/disasm/points"
	"ompp-attach/probes/mpilib"
	"ompp-attach/probes/openmp"
	"ompp-attach/profile"
	"ompp-attach/symbols"
)

// Inspection is what can be found out about a process without attaching to it.
type Inspection struct {
	Process   preflight.Process
	Path      string // executable
	Libraries int    // files that it maps besides the executable
	Runtimes  []InspectedRuntime
	Users     []RuntimeUser // modules that call a runtime, the executable first
	MPI       []InspectedMPI
	Unread    error  // files that it maps but that could not be read
	NoOpenMP  string // why nothing can be measured; "" if there is a runtime
}

// InspectedRuntime is one OpenMP runtime in a process.
type InspectedRuntime struct {
	profile.Runtime
	Kind     event.Runtime
	Static   bool                       // part of the executable
	Replaced bool                       // its file on disk was replaced since
	Costs    [points.SingleStep + 1]int // probes that would be placed, by what they cost
	Returns  int                        // how many of them have a return probe
	// Constructs are the constructs for which the process's modules call the runtime.
	Constructs []ConstructProbes
	Err        error // why no probes can be placed
}

// InspectedMPI is an MPI library and the probes that would be placed in it.
type InspectedMPI struct {
	Name    string // with its version
	Path    string
	Probes  int
	Unknown error // why the volumes of its calls are not known; nil if they are
	Err     error // why it cannot be measured; nil if it can
}

func inspectMPI(mod *symbols.Module) InspectedMPI {
	plan, err := mpilib.NewPlan(mod.Object(), false)
	if err != nil {
		return InspectedMPI{Name: "MPI", Path: mod.Path, Err: err}
	}
	plan.Keep((&selection.Selection{}).WantsMPI)
	return InspectedMPI{Name: plan.Library.Name, Path: mod.Path, Probes: len(plan.Placements), Unknown: plan.Library.Unknown}
}

// RuntimeUser is a module that calls an OpenMP runtime.
type RuntimeUser struct {
	Path       string
	BuildID    string
	Executable bool
	Static     bool   // it holds the runtime itself
	Stripped   bool   // its own functions have no names
	Lines      bool   // line information is there, perhaps in a separate file
	DebugLink  string // name of the separate debug file, if the file has one
	Debug      string // the distribution's package that has the debug file, if known
	Kinds      []event.Runtime
	Calls      []string // entry points that it imports; empty if static
	Sources    []Source // files of its parallel regions, as far as symbols and lines tell
}

// Source is a source file with parallel regions.
type Source struct {
	File  string
	State SourceState
}

// SourceState tells whether a source file is usable.
type SourceState uint8

// The states of a source file.
const (
	SourceFound   SourceState = iota // and no newer than the program
	SourceMissing                    // or not readable
	SourceNewer                      // changed after the program was built
)

// Tasking returns the tasking entry points that the module imports.
func (u *RuntimeUser) Tasking() (names []string) {
	for _, n := range u.Calls {
		if strings.HasPrefix(n, "GOMP_task") || strings.HasPrefix(n, "__kmpc_omp_task") || strings.HasPrefix(n, "__kmpc_task") {
			names = append(names, n)
		}
	}
	return names
}

// Inspect looks at a process as an attach would, but places no probes and changes nothing. The
// error, an *AttachError, says why the process cannot be looked into.
func Inspect(pid int) (*Inspection, error) {
	p, exe, err := accept(pid)
	if err != nil {
		return nil, err
	}
	mods, unread := mapped(symbols.NewProcess(pid), pid)
	if len(mods) == 0 {
		return nil, unreadable(p, unread)
	}
	in := &Inspection{Process: p, Path: exe, Unread: unread}
	imported, libraries := ImportedBy(mods), MPILibraries(mods)
	var runtimes []*symbols.Module
	for i := range mods {
		mod := &mods[i]
		if mod.Path != exe {
			in.Libraries++
		}
		if slices.Contains(libraries, mod.Object()) {
			in.MPI = append(in.MPI, inspectMPI(mod))
		}
		if !MayBeRuntime(mod.Object()) {
			continue
		}
		if r, ok := inspectRuntime(mod, imported); ok {
			in.Runtimes = append(in.Runtimes, r)
			runtimes = append(runtimes, mod)
		}
	}
	if len(runtimes) == 0 && len(in.MPI) == 0 {
		in.NoOpenMP = NoRuntime(pid).Error()
	}
	for i := range mods {
		if u, ok := inspectUser(&mods[i], mods[i].Path == exe, runtimes, in.Runtimes); ok {
			in.Users = append(in.Users, u)
		}
	}
	slices.SortStableFunc(in.Users, func(a, b RuntimeUser) int {
		switch {
		case a.Executable == b.Executable:
			return 0
		case a.Executable:
			return -1
		}
		return 1
	})
	return in, nil
}

func inspectRuntime(mod *symbols.Module, imported func(string) bool) (r InspectedRuntime, ok bool) {
	o := mod.Object()
	r.Kind = openmp.Identify(o)
	if r.Kind == event.NoRuntime {
		return r, false
	}
	r.Static, r.Replaced = o.IsExecutable(), mod.Deleted
	plan, err := openmp.KeptPlan(o, imported)
	if err != nil {
		r.Err = err
		r.Runtime = profile.Runtime{Name: r.Kind.String(), Path: mod.Path, BuildID: o.BuildID()}
		return r, true
	}
	r.Runtime = DescribeRuntime(mod, plan)
	for _, pl := range plan.Placements {
		r.Costs[pl.Cost]++
		if pl.Return {
			r.Returns++
		}
	}
	r.Constructs = constructProbes(plan, func(name string) bool { return r.Static || imported(name) })
	return r, true
}

// inspectUser tells whether a module calls one of the runtimes. A static executable calls the
// runtime that it holds; other modules call runtimes whose functions they import.
func inspectUser(mod *symbols.Module, executable bool, runtimes []*symbols.Module, kinds []InspectedRuntime) (u RuntimeUser, ok bool) {
	o := mod.Object()
	u = RuntimeUser{Path: mod.Path, Executable: executable}
	for i, rt := range runtimes {
		if rt.Object() == o {
			u.Static = kinds[i].Static
			if !u.Static {
				// Libomp imports nothing of itself, and libgomp's plugins are no users.
				return u, false
			}
			u.Kinds = append(u.Kinds, kinds[i].Kind)
			continue
		}
		n := len(u.Calls)
		rt.Object().Symbols(func(name string, _, _ uint64) {
			if isEntryPoint(name) && o.Imports(name) && !slices.Contains(u.Calls, name) {
				u.Calls = append(u.Calls, name)
			}
		})
		if len(u.Calls) > n {
			u.Kinds = append(u.Kinds, kinds[i].Kind)
		}
	}
	if len(u.Kinds) == 0 {
		return u, false
	}
	slices.Sort(u.Calls)
	u.BuildID, u.Stripped, u.Lines = o.BuildID(), o.Stripped(), o.HasDWARF()
	u.DebugLink = o.DebugLink()
	described := []profile.Object{{Path: mod.Path, Lines: u.Lines}}
	NameDebugPackages(described, []symbols.Module{*mod})
	u.Debug = described[0].Debug
	u.Sources = inspectSources(o)
	return u, true
}

// isEntryPoint picks the functions that compiled constructs call.
func isEntryPoint(name string) bool {
	return strings.HasPrefix(name, "GOMP_") || strings.HasPrefix(name, "__kmpc_") || strings.HasPrefix(name, "omp_")
}

// inspectSources finds the files of the module's parallel regions and tasks.
func inspectSources(o *symbols.Object) (found []Source) {
	if !o.HasDWARF() {
		return nil
	}
	seen := map[string]bool{}
	o.Symbols(func(name string, vaddr, _ uint64) {
		e, ok := symbols.Extent{}, false
		if strings.Contains(name, "._omp_fn.") || strings.Contains(name, ".omp_outlined") {
			e, ok = o.Outlined(vaddr)
		}
		if !ok || seen[e.File] {
			return
		}
		seen[e.File] = true
		s := Source{File: e.File}
		if _, ok := o.Directives(e.File); !ok {
			s.State = SourceMissing
			if _, err := os.Stat(e.File); err == nil {
				s.State = SourceNewer
			}
		}
		found = append(found, s)
	})
	return found
}
