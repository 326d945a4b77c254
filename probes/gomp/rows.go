package gomp

import (
	"slices"

	"ompp-attach/bpf"
	"ompp-attach/event"
	"ompp-attach/probes"
)

// libgomp's entry points (GOMP_* ABI, libgomp.h and the *.c named below, GCC 8
// to 16). Teams are seen from inside: see teams.go.
var basic = []probes.Row{
	// loop.c, loop_ull.c. A loop's chunks (_next) tell nothing that ompP shows.
	{Symbols: `GOMP_loop(_ull)?(_maybe_nonmonotonic|_nonmonotonic|_ordered|_doacross)?(_static|_dynamic|_guided|_runtime)?_start`,
		Construct: event.Loop, Entry: event.Open, Flags: bpf.RowOutsideOnly},
	{Symbols: `GOMP_loop_end(_cancel)?`, Construct: event.Loop, Entry: event.Wait,
		Return: event.Waited},
	{Symbols: `GOMP_loop_end_nowait`, Construct: event.Loop, Entry: event.Close},

	// sections.c
	{Symbols: `GOMP_sections2?_start`, Construct: event.Sections, Entry: event.Open,
		Return: event.Result, Flags: bpf.RowOutsideOnly},
	{Symbols: `GOMP_sections_next`, Construct: event.Sections, Entry: event.Release,
		Return: event.Result},
	{Symbols: `GOMP_sections_end(_cancel)?`, Construct: event.Sections, Entry: event.Wait,
		Return: event.Waited},
	{Symbols: `GOMP_sections_end_nowait`, Construct: event.Sections, Entry: event.Close},

	// single.c
	{Symbols: `GOMP_single_start`, Construct: event.Single, Entry: event.Open, Return: event.Result},
	{Symbols: `GOMP_single_copy_start`, Construct: event.Single, Entry: event.Open,
		Return: event.Result, ZeroIsChosen: true, Marks: event.CopyPrivate},
	{Symbols: `GOMP_single_copy_end`, Construct: event.Single, Entry: event.Release,
		Return: event.Waited},

	// barrier.c
	{Symbols: `GOMP_barrier`, Construct: event.Barrier, Entry: event.Wait, Return: event.Waited,
		Sparse: true},
	// Threads of a cancelled team may pass it without the others.
	{Symbols: `GOMP_barrier_cancel`, Construct: event.Barrier, Entry: event.Wait,
		Return: event.Waited},

	// critical.c
	{Symbols: `GOMP_critical_start`, Construct: event.Critical, Entry: event.Enter,
		Return: event.Acquired, Fast: true},
	{Symbols: `GOMP_critical_name_start`, Construct: event.Critical, Entry: event.Enter,
		Return: event.Acquired, Fast: true, A: probes.Fn(0)},
	{Symbols: `GOMP_critical_end|GOMP_critical_name_end`, Construct: event.Critical,
		Entry: event.Release, Return: event.Released, Fast: true},
	{Symbols: `GOMP_atomic_start`, Construct: event.Atomic, Entry: event.Enter,
		Return: event.Acquired, Fast: true},
	{Symbols: `GOMP_atomic_end`, Construct: event.Atomic, Entry: event.Release,
		Return: event.Released, Fast: true},

	// ordered.c
	{Symbols: `GOMP_ordered_start`, Construct: event.Ordered, Entry: event.Enter,
		Return: event.Acquired, Flags: bpf.RowOutsideOnly},
	{Symbols: `GOMP_ordered_end`, Construct: event.Ordered, Entry: event.Release},

	// task.c, taskloop.c. Where tasks run inside, and how the calls return: see tasks.go.
	{Symbols: `GOMP_task`, Construct: event.Task, Entry: event.Enter, Exit: event.Released,
		A: probes.Fn(0), B: probes.TaskFlags(6), Flags: bpf.RowNoSite},
	{Symbols: `GOMP_taskloop(_ull)?`, Construct: event.TaskLoop, Entry: event.Enter,
		Exit: event.Released, A: probes.Fn(0), B: probes.TaskFlags(5), Flags: bpf.RowNoSite},
	{Symbols: `GOMP_taskwait(_depend(_nowait)?)?`, Construct: event.TaskWait, Entry: event.Wait,
		Exit: event.Waited},
	{Symbols: `GOMP_taskgroup_start`, Construct: event.TaskGroup, Entry: event.Enter,
		Flags: bpf.RowOutsideOnly},
	{Symbols: `GOMP_taskgroup_end`, Construct: event.TaskGroup, Entry: event.Wait,
		Exit: event.Waited, Flags: bpf.RowOutsideOnly},
	{Symbols: `GOMP_taskyield`, Construct: event.TaskYield, Entry: event.Wait,
		Imported: true}, // does nothing

	// config/linux/lock.c. Fortran's omp_set_lock_ calls these.
	{Symbols: `omp_set_lock`, Construct: event.Lock, Entry: event.Enter, Return: event.Acquired,
		Fast: true, A: probes.Fn(0)},
	{Symbols: `omp_unset_lock`, Construct: event.Lock, Entry: event.Release, Return: event.Released,
		Fast: true, A: probes.Fn(0)},
	{Symbols: `omp_test_lock`, Construct: event.Lock, Entry: event.Enter, Return: event.Result,
		A: probes.Fn(0)},
	{Symbols: `omp_set_nest_lock`, Construct: event.NestLock, Entry: event.Enter,
		Return: event.Acquired, A: probes.Fn(0)},
	{Symbols: `omp_unset_nest_lock`, Construct: event.NestLock, Entry: event.Release,
		Return: event.Released, A: probes.Fn(0)},
	{Symbols: `omp_test_nest_lock`, Construct: event.NestLock, Entry: event.Enter,
		Return: event.Result, A: probes.Fn(0)},
}

// Constructs that came with OpenMP 4.0 and later, except for tasks: scope.c, cancel (parallel.c),
// ordered.c, target.c, task.c.
var newer = []probes.Row{
	// Only a scope with a task reduction makes a call; its barrier ends it.
	{Symbols: `GOMP_scope_start`, Construct: event.Scope, Entry: event.Open, Flags: bpf.RowOutsideOnly},
	// A construct with a task reduction starts by GOMP_loop_start, GOMP_sections2_start or
	// GOMP_scope_start. There the first thread makes the copies and the others wait for it, which
	// counts to the body. After the construct's barrier the threads wait once more, until all have
	// stopped using the copies.
	{Symbols: `GOMP_workshare_task_reduction_unregister`, Construct: event.Reduction,
		Entry: event.Enter, Return: event.Acquired, Marks: event.Whole},

	{Symbols: `GOMP_cancel`, Construct: event.Cancel, Entry: event.Enter, Return: event.Result},
	{Symbols: `GOMP_cancellation_point`, Construct: event.CancellationPoint, Entry: event.Enter,
		Return: event.Result},

	{Symbols: `GOMP_doacross(_ull)?_wait`, Construct: event.Ordered, Entry: event.Enter,
		Return: event.Acquired, Marks: event.Whole},
	{Symbols: `GOMP_doacross(_ull)?_post`, Construct: event.Ordered, Entry: event.Enter,
		Return: event.Released, Marks: event.Whole},

	// No user code runs in these, unless a `depend` clause makes the thread
	// execute tasks while it waits.
	{Symbols: `GOMP_target_data(_ext)?`, Construct: event.TargetData, Entry: event.Enter,
		Return: event.Acquired},
	{Symbols: `GOMP_target_end_data`, Construct: event.TargetData, Entry: event.Release,
		Return: event.Released},
	{Symbols: `GOMP_target_update(_ext)?`, Construct: event.TargetUpdate, Entry: event.Enter,
		Return: event.Released, Marks: event.Whole},
	{Symbols: `GOMP_target_enter_exit_data`, Construct: event.TargetEnterData, Entry: event.Enter,
		Return: event.Released, A: probes.Value(5), Marks: event.Whole},
	// The loop over the teams of a target region that the host executes:
	// while (GOMP_teams4 (lower, upper, limit, first)) body.
	{Symbols: `GOMP_teams4`, Construct: event.Teams, Entry: event.Open, Return: event.Result, Num: 4},
}

// Entry points that run user code before they return.
var enclosing = []probes.Enclosing{
	// GOMP_teams_reg(fn, data, num_teams, thread_limit, flags) executes the
	// teams one after another.
	{Symbol: "GOMP_teams_reg",
		Entry: probes.Row{Construct: event.Teams, Entry: event.Fork, A: probes.Fn(0), Marks: event.AtOnce},
		Exit:  probes.Row{Construct: event.Teams, Entry: event.Join, Flags: bpf.RowNoSite}},
	{Symbol: "GOMP_target_ext",
		Entry: probes.Row{Construct: event.Target, Entry: event.Enter},
		Exit:  probes.Row{Construct: event.Target, Entry: event.Release}},
}

// Places inside libgomp through which every thread of every team passes (team.c). They see
// serialised, nested and folded regions alike, and need no list of the program's outlined
// functions. While user code runs, no return probe is pending, so that recursion costs no counts.
var (
	teamStart = probes.Row{Construct: event.Parallel, Entry: event.Fork, Return: event.Begin,
		A: probes.Key(4), B: probes.Fn(0), Size: 3, Flags: bpf.RowLevelFromTLS, Sparse: true}
	workerBegin = probes.Row{Construct: event.Parallel, Entry: event.Begin,
		A: probes.Elsewhere(probes.ToKey), Flags: bpf.RowTeamFromTLS}
	workerEnd = probes.Row{Construct: event.Parallel, Entry: event.End}
	teamEnd   = probes.Row{Construct: event.Parallel, Entry: event.End, Return: event.Join,
		Flags: bpf.RowLevelFromTLS, Sparse: true}
)

// teamDone is where GOMP_teams_reg has executed one team.
var teamDone = probes.Row{Construct: event.Teams, Entry: event.Close}

// taskCreated is where libgomp has made a task that may run later.
var taskCreated = probes.Row{Construct: event.Task, Entry: event.Result,
	A: probes.Elsewhere(probes.ToKey), Flags: bpf.RowNoSite}

// Rows returns all rows that a plan for libgomp may have, in a fixed order.
func Rows() []*probes.Row {
	return probes.All(slices.Concat(basic, newer), &teamStart, &workerBegin, &workerEnd, &teamEnd,
		&taskCreated, &probes.TaskBegin, &probes.TaskEnd)
}
