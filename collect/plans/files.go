package plans

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ompp-attach/collect/loops"
	"ompp-attach/collect/selection"
	"ompp-attach/event"
	"ompp-attach/probes"
	"ompp-attach/probes/mpilib"
	"ompp-attach/probes/openmp"
	"ompp-attach/symbols"
)

// Measurement is what plans are made for.
type Measurement interface {
	Selection() *selection.Selection // nil: all constructs are wanted
	LogsCalls() bool                 // MPI calls are recorded one by one
	Logf(format string, args ...any)
	// DerivesEnds tells whether ends of calls may be derived from other events.
	DerivesEnds() bool

	// Store hands a plan to the kernel side.
	Store(*probes.Plan) (*probes.Attached, error)
	// LoadMPI loads the kernel side of MPI calls, once. It comes before the first StoreMPI.
	LoadMPI() error
	// StoreMPI hands the plan of an MPI library to the kernel side.
	StoreMPI(*mpilib.Plan) (*mpilib.Attached, error)

	// Alter calls a function that changes rows which are stored, while no record is decoded.
	Alter(change func())
}

// Files are the plans of the files that the processes of a measurement map. The caller's lock
// guards them.
type Files struct {
	// Mapped is told which files a process maps, before the finders are called; nil: nobody asks.
	// It is set before the measurement starts.
	Mapped func(mods []symbols.Module)
	// Later finds the probes that a file needs only because of files that were loaded after it;
	// nil: there are none. continued are functions of levels, named by the Fn of their events,
	// to which the functions of these probes may jump. Later is set before the measurement
	// starts.
	Later func(mod *symbols.Module) (points []probes.CodePoint, continued []uint64)

	m       Measurement
	finders []Finder

	inline bool // see FindInline

	runtimes, code, told, loops memo[*probes.Attached]
	beginnings                  memo[*probes.Attached]
	further                     map[*symbols.Object][]*probes.Attached // see Further
	found                       memo[[]probes.CodePoint]               // by the finders
	mpi                         memo[*mpilib.Attached]
	plain                       memo[bool]
}

// New returns the plans of a measurement. None of them is made yet.
func New(m Measurement) *Files {
	return &Files{m: m, runtimes: memo[*probes.Attached]{}, code: memo[*probes.Attached]{}, told: memo[*probes.Attached]{}, loops: memo[*probes.Attached]{},
		beginnings: memo[*probes.Attached]{},
		found:      memo[[]probes.CodePoint]{}, mpi: memo[*mpilib.Attached]{}, plain: memo[bool]{}, further: map[*symbols.Object][]*probes.Attached{}}
}

// memo keeps what was made of each file. The key is no inode, which may be reused for another file.
type memo[T any] map[*symbols.Object]made[T]

// made is what was made of a file. Without an error, the zero value stands for no probes.
type made[T any] struct {
	of  T
	err error
}

// get returns what was made of a file, and makes it when the file is seen for the first time.
func (m memo[T]) get(o *symbols.Object, make func() (T, error)) (T, error) {
	known, ok := m[o]
	if !ok {
		known.of, known.err = make()
		m[o] = known
	}
	return known.of, known.err
}

// Runtime returns the plan of an OpenMP runtime. It returns nil if the module is no runtime.
// imported tells which functions the process's files import.
func (f *Files) Runtime(mod *symbols.Module, imported func(string) bool) (*probes.Attached, error) {
	o := mod.Object()
	return f.runtimes.get(o, func() (*probes.Attached, error) {
		if openmp.Identify(o) == event.NoRuntime {
			return nil, nil
		}
		begin := time.Now()
		p, err := openmp.KeptPlan(o, imported)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", mod.Path, err)
		}
		if f.m.DerivesEnds() && mayDerive(o, imported) {
			p.DeriveEnds()
		}
		f.m.Selection().Prune(p)
		a, err := f.m.Store(p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", mod.Path, err)
		}
		f.m.Logf("%s: %s, %d probes planned in %s", mod.Path, p.Runtime, len(p.Placements), time.Since(begin).Round(time.Microsecond))
		return a, nil
	})
}

// ForgetRuntimes forgets the plans of runtimes, because they have to be stored in another way.
func (f *Files) ForgetRuntimes() { f.runtimes = memo[*probes.Attached]{} }

// MPI returns the plan of an MPI library. It returns nil if the module is no MPI library.
func (f *Files) MPI(mod *symbols.Module) (*mpilib.Attached, error) {
	return f.mpi.get(mod.Object(), func() (*mpilib.Attached, error) {
		if !mpilib.Is(mod.Object()) {
			return nil, nil
		}
		return f.newMPI(mod)
	})
}

func (f *Files) newMPI(mod *symbols.Module) (*mpilib.Attached, error) {
	begin := time.Now()
	if err := f.m.LoadMPI(); err != nil {
		return nil, err
	}
	plan, err := mpilib.NewPlan(mod.Object(), f.m.LogsCalls())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", mod.Path, err)
	}
	plan.Keep(f.m.Selection().WantsMPI)
	a, err := f.m.StoreMPI(plan)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", mod.Path, err)
	}
	f.m.Logf("%s: %s, %d probes planned in %s", mod.Path, plan.Library.Name, len(plan.Placements), time.Since(begin).Round(time.Microsecond))
	for _, why := range plan.Missing {
		f.m.Logf("%s: not probed: %s", mod.Path, why)
	}
	return a, nil
}

// Loops returns the plan of the probes at a file's calls of static loops. runtime is the plan of
// the runtime that they call. It comes after TellMapped.
func (f *Files) Loops(mod *symbols.Module, runtime *probes.Plan) (*probes.Attached, error) {
	return f.loops.get(mod.Object(), func() (*probes.Attached, error) {
		points := f.wanted(mod)
		p, err := loops.Plan(mod.Object(), runtime, func(vaddr uint64) bool {
			return slices.ContainsFunc(points, func(p probes.CodePoint) bool { return p.VAddr == vaddr })
		})
		if err != nil {
			return nil, err
		}
		return f.m.Store(p)
	})
}

// mayDerive tells whether probes of a runtime may stand for others where ends are derived. In a
// program with tasks all ends are reported (bpf.RowExact), as tasks run in the call that ends with
// the join. Regions of code that GCC compiled end in libomp by the same calls as other regions, but
// begin by other calls.
func mayDerive(runtime *symbols.Object, imported func(string) bool) bool {
	return !MayHaveTasks(runtime, imported) && !forksByGCC(runtime, imported)
}

// forksByGCC tells whether the program forks teams by functions that only code of GCC calls.
func forksByGCC(runtime *symbols.Object, imported func(string) bool) (forks bool) {
	runtime.Symbols(func(name string, _, _ uint64) {
		forks = forks || (strings.HasPrefix(name, "GOMP_parallel") || name == "GOMP_teams_reg") && imported(name)
	})
	return forks
}

// MayHaveTasks tells whether the program may create tasks. A static program imports nothing, so for
// it the answer is always yes.
func MayHaveTasks(runtime *symbols.Object, imported func(string) bool) bool {
	return runtime.IsExecutable() || slices.ContainsFunc([]string{"GOMP_task", "GOMP_taskloop", "GOMP_taskloop_ull",
		"__kmpc_omp_task", "__kmpc_omp_task_with_deps", "__kmpc_omp_task_begin_if0", "__kmpc_taskloop", "__kmpc_taskloop_5"}, imported)
}
