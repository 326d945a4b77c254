package probes

import (
	"ompp-attach/bpf"
	"ompp-attach/event"
)

// libgomp's entry points (GOMP_* ABI, libgomp.h and the *.c named below, GCC 8
// to 16). Teams are seen from inside: see gompTeam.
var gompPoints = []point{
	// loop.c, loop_ull.c. A loop's chunks (_next) tell nothing that ompP shows.
	{symbols: `GOMP_loop(_ull)?(_maybe_nonmonotonic|_nonmonotonic|_ordered|_doacross)?(_static|_dynamic|_guided|_runtime)?_start`,
		construct: event.Loop, entry: event.Open, flags: bpf.RowOutsideOnly},
	{symbols: `GOMP_loop_end(_cancel)?`, construct: event.Loop, entry: event.Wait, ret: event.Waited},
	{symbols: `GOMP_loop_end_nowait`, construct: event.Loop, entry: event.Close},

	// sections.c
	{symbols: `GOMP_sections2?_start`, construct: event.Sections, entry: event.Open, ret: event.Result, flags: bpf.RowOutsideOnly},
	{symbols: `GOMP_sections_next`, construct: event.Sections, entry: event.Release, ret: event.Result},
	{symbols: `GOMP_sections_end(_cancel)?`, construct: event.Sections, entry: event.Wait, ret: event.Waited},
	{symbols: `GOMP_sections_end_nowait`, construct: event.Sections, entry: event.Close},

	// single.c
	{symbols: `GOMP_single_start`, construct: event.Single, entry: event.Open, ret: event.Result},
	{symbols: `GOMP_single_copy_start`, construct: event.Single, entry: event.Open, ret: event.Result, taken0: true, marks: event.CopyPrivate},
	{symbols: `GOMP_single_copy_end`, construct: event.Single, entry: event.Release, ret: event.Waited},

	// barrier.c
	{symbols: `GOMP_barrier(_cancel)?`, construct: event.Barrier, entry: event.Wait, ret: event.Waited},

	// critical.c
	{symbols: `GOMP_critical_start`, construct: event.Critical, entry: event.Enter, ret: event.Acquired, fast: true},
	{symbols: `GOMP_critical_name_start`, construct: event.Critical, entry: event.Enter, ret: event.Acquired, fast: true, a: take{0, toFn}},
	{symbols: `GOMP_critical_end|GOMP_critical_name_end`, construct: event.Critical, entry: event.Release, ret: event.Released, fast: true},
	{symbols: `GOMP_atomic_start`, construct: event.Atomic, entry: event.Enter, ret: event.Acquired, fast: true},
	{symbols: `GOMP_atomic_end`, construct: event.Atomic, entry: event.Release, ret: event.Released, fast: true},

	// ordered.c
	{symbols: `GOMP_ordered_start`, construct: event.Ordered, entry: event.Enter, ret: event.Acquired, flags: bpf.RowOutsideOnly},
	{symbols: `GOMP_ordered_end`, construct: event.Ordered, entry: event.Release},

	// task.c, taskloop.c. What is executed inside, and how the calls return: see
	// planTasks.
	{symbols: `GOMP_task`, construct: event.Task, entry: event.Enter, exit: event.Released, a: take{0, toFn}, b: take{6, toTaskFlags}, flags: bpf.RowNoSite},
	{symbols: `GOMP_taskloop(_ull)?`, construct: event.TaskLoop, entry: event.Enter, exit: event.Released, a: take{0, toFn}, b: take{5, toTaskFlags}, flags: bpf.RowNoSite},
	{symbols: `GOMP_taskwait(_depend(_nowait)?)?`, construct: event.TaskWait, entry: event.Wait, exit: event.Waited},
	{symbols: `GOMP_taskgroup_start`, construct: event.TaskGroup, entry: event.Enter, flags: bpf.RowOutsideOnly},
	{symbols: `GOMP_taskgroup_end`, construct: event.TaskGroup, entry: event.Wait, exit: event.Waited, flags: bpf.RowOutsideOnly},
	{symbols: `GOMP_taskyield`, construct: event.TaskYield, entry: event.Wait, imported: true}, // does nothing

	// config/linux/lock.c. Fortran's omp_set_lock_ calls these.
	{symbols: `omp_set_lock`, construct: event.Lock, entry: event.Enter, ret: event.Acquired, fast: true, a: take{0, toFn}},
	{symbols: `omp_unset_lock`, construct: event.Lock, entry: event.Release, ret: event.Released, fast: true, a: take{0, toFn}},
	{symbols: `omp_test_lock`, construct: event.Lock, entry: event.Enter, ret: event.Result, a: take{0, toFn}},
	{symbols: `omp_set_nest_lock`, construct: event.NestLock, entry: event.Enter, ret: event.Acquired, a: take{0, toFn}},
	{symbols: `omp_unset_nest_lock`, construct: event.NestLock, entry: event.Release, ret: event.Released, a: take{0, toFn}},
	{symbols: `omp_test_nest_lock`, construct: event.NestLock, entry: event.Enter, ret: event.Result, a: take{0, toFn}},
}

// Places inside libgomp through which every thread of every team passes
// (team.c). They see serialised, nested and folded regions alike, need no list
// of the program's outlined functions, and have no return probe pending while
// user code runs, so that recursion costs no counts.
var (
	pointTeamStart   = point{construct: event.Parallel, entry: event.Fork, ret: event.Begin, a: take{4, toKey}, b: take{0, toFn}, flags: bpf.RowLevelFromTLS}
	pointWorkerBegin = point{construct: event.Parallel, entry: event.Begin, flags: bpf.RowTeamFromTLS, a: take{to: toKey}}
	pointWorkerEnd   = point{construct: event.Parallel, entry: event.End}
	pointTeamEnd     = point{construct: event.Parallel, entry: event.End, ret: event.Join, flags: bpf.RowLevelFromTLS}
)
