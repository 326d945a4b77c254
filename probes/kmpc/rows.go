package kmpc

import (
	"ompp-attach/bpf"
	"ompp-attach/event"
	"ompp-attach/probes"
)

// The entry points (kmp.h, kmp_csupport.cpp, LLVM 14 to 19). The first argument is the ident_t, the
// second one is the global thread number.
var basic = []probes.Row{
	// __kmpc_fork_call(loc, argc, microtask, ...) forks. Every thread of every team enters the body
	// by __kmp_invoke_microtask(fn, gtid, tid, argc, argv). argv lies in the team's structure, and
	// so names the team. Where both end: see exits.go.
	{Symbols: `__kmpc_fork_call`, Construct: event.Parallel, Entry: event.Fork, A: probes.Loc(0),
		B: probes.Fn(2), Flags: bpf.RowNoSite},
	{Symbols: `__kmp_invoke_microtask`, Construct: event.Parallel, Entry: event.Begin,
		A: probes.Key(4), B: probes.Fn(0), Num: 3, Flags: bpf.RowSizeFromKmp},
	// The program calls these for a region with if(0), the library for a team of one thread.
	{Symbols: `__kmpc_serialized_parallel`, Construct: event.Parallel, Entry: event.Fork,
		A: probes.Loc(0), Flags: bpf.RowOutsideOnly, Marks: event.AtOnce},
	{Symbols: `__kmpc_end_serialized_parallel`, Construct: event.Parallel, Entry: event.End,
		Return: event.Join, Marks: event.Inside},

	{Symbols: `__kmpc_(dist_)?for_static_init_4u?`, Construct: event.Loop, Entry: event.Open,
		A: probes.Loc(0), B: probes.Elsewhere(probes.ToValue), Flags: bpf.RowTrip32},
	{Symbols: `__kmpc_(dist_)?for_static_init_8u?`, Construct: event.Loop, Entry: event.Open,
		A: probes.Loc(0), B: probes.Elsewhere(probes.ToValue), Flags: bpf.RowTrip64},
	{Symbols: `__kmpc_for_static_fini`, Construct: event.Loop, Entry: event.Close},
	{Symbols: `__kmpc_dispatch_init_(4|8)u?`, Construct: event.Loop, Entry: event.Open,
		A: probes.Loc(0), Flags: bpf.RowOutsideOnly},
	{Symbols: `__kmpc_dispatch_next_(4|8)u?`, Construct: event.Loop, Return: event.Close,
		Flags: bpf.RowReturnIfZero | bpf.RowOutsideOnly},

	{Symbols: `__kmpc_single`, Construct: event.Single, Entry: event.Open, Return: event.Result,
		A: probes.Loc(0)},
	{Symbols: `__kmpc_end_single`, Construct: event.Single, Entry: event.Release},
	{Symbols: `__kmpc_copyprivate(_light)?`, Construct: event.Single, Entry: event.Wait,
		Return: event.Waited, A: probes.Loc(0)},

	{Symbols: `__kmpc_barrier`, Construct: event.Barrier, Entry: event.Wait,
		Return: event.Waited, A: probes.Loc(0), Flags: bpf.RowOutsideOnly, Sparse: true},
	// Threads of a region that is cancelled do not all come to the same barriers.
	{Symbols: `__kmpc_cancel_barrier`, Construct: event.Barrier, Entry: event.Wait,
		Return: event.Waited, A: probes.Loc(0), Flags: bpf.RowOutsideOnly},
	// A blocking reduction is the implicit barrier of its construct: threads
	// that get 0 have been through it, the others end it by __kmpc_end_reduce.
	{Symbols: `__kmpc_reduce`, Construct: event.ReductionBarrier, Entry: event.Wait,
		Return: event.Result, A: probes.Loc(0)},
	{Symbols: `__kmpc_end_reduce`, Construct: event.ReductionBarrier, Entry: event.Wait,
		Return: event.Waited, A: probes.Loc(0)},

	{Symbols: `__kmpc_critical|__kmpc_critical_with_hint`, Construct: event.Critical,
		Entry: event.Enter, Return: event.Acquired, A: probes.Loc(0), B: probes.Fn(2),
		Flags: bpf.RowOutsideOnly, Forwarded: true},
	{Symbols: `__kmpc_end_critical`, Construct: event.Critical, Entry: event.Release,
		Return: event.Released, A: probes.Loc(0), B: probes.Fn(2)},
	{Symbols: `__kmpc_ordered`, Construct: event.Ordered, Entry: event.Enter,
		Return: event.Acquired, A: probes.Loc(0)},
	{Symbols: `__kmpc_end_ordered`, Construct: event.Ordered, Entry: event.Release},
	{Symbols: `__kmpc_master`, Construct: event.Master, Entry: event.Enter, A: probes.Loc(0)},
	{Symbols: `__kmpc_end_master`, Construct: event.Master, Entry: event.Release},
	{Symbols: `__kmpc_masked`, Construct: event.Masked, Entry: event.Enter, A: probes.Loc(0),
		B: probes.Value(2)},
	{Symbols: `__kmpc_end_masked`, Construct: event.Masked, Entry: event.Release},
	{Symbols: `__kmpc_flush`, Construct: event.Flush, Entry: event.Enter, Return: event.Released,
		A: probes.Loc(0)},
	{Symbols: `__kmpc_atomic_start`, Construct: event.Atomic, Entry: event.Enter,
		Return: event.Acquired},
	{Symbols: `__kmpc_atomic_end`, Construct: event.Atomic, Entry: event.Release},
	{Symbols: `__kmpc_atomic_(fixed|float|cmplx|[0-9]).*`, Construct: event.Atomic,
		Entry: event.Enter, Return: event.Released, A: probes.Loc(0), Imported: true},

	// kmp_tasking.cpp. The task's routine is the second word of the task (kmp_task_t, which is part
	// of the interface).
	{Symbols: `__kmpc_omp_task(_with_deps)?`, Construct: event.Task, Entry: event.Enter,
		Exit: event.Released, A: probes.Key(2), B: probes.Elsewhere(probes.ToFn),
		Flags: bpf.RowNoSite | bpf.RowBFromA},
	{Symbols: `__kmpc_omp_task_begin_if0`, Construct: event.Task, Entry: event.Enter,
		A: probes.Key(2), B: probes.Elsewhere(probes.ToFn), Flags: bpf.RowNoSite | bpf.RowBFromA,
		Marks: event.AtOnce},
	{Symbols: `__kmpc_omp_task_complete_if0`, Construct: event.TaskExec, Entry: event.End,
		A: probes.Key(2), Marks: event.AtOnce},
	{Symbols: `__kmpc_taskloop(_5)?`, Construct: event.TaskLoop, Entry: event.Enter,
		Exit: event.Released, A: probes.Key(2), B: probes.Elsewhere(probes.ToFn),
		Flags: bpf.RowNoSite | bpf.RowBFromA},
	{Symbols: `__kmpc_omp_taskwait|__kmpc_omp_wait_deps|__kmpc_omp_taskwait_deps_51`,
		Construct: event.TaskWait, Entry: event.Wait, Exit: event.Waited, A: probes.Loc(0),
		Flags: bpf.RowOutsideOnly},
	{Symbols: `__kmpc_taskgroup`, Construct: event.TaskGroup, Entry: event.Enter, A: probes.Loc(0),
		Flags: bpf.RowOutsideOnly},
	{Symbols: `__kmpc_end_taskgroup`, Construct: event.TaskGroup, Entry: event.Wait,
		Exit: event.Waited, Flags: bpf.RowOutsideOnly},
	{Symbols: `__kmpc_omp_taskyield`, Construct: event.TaskYield, Entry: event.Wait,
		Exit: event.Waited, A: probes.Loc(0)},

	// The Fortran names are functions of their own here. They do not call the C functions.
	{Symbols: `omp_set_lock_?`, Construct: event.Lock, Entry: event.Enter, Return: event.Acquired,
		A: probes.Fn(0)},
	{Symbols: `omp_unset_lock_?`, Construct: event.Lock, Entry: event.Release,
		Return: event.Released, A: probes.Fn(0)},
	{Symbols: `omp_test_lock_?`, Construct: event.Lock, Entry: event.Enter, Return: event.Result,
		A: probes.Fn(0)},
	{Symbols: `omp_set_nest_lock_?`, Construct: event.NestLock, Entry: event.Enter,
		Return: event.Acquired, A: probes.Fn(0)},
	{Symbols: `omp_unset_nest_lock_?`, Construct: event.NestLock, Entry: event.Release,
		Return: event.Released, A: probes.Fn(0)},
	{Symbols: `omp_test_nest_lock_?`, Construct: event.NestLock, Entry: event.Enter,
		Return: event.Result, A: probes.Fn(0)},
}

// Constructs that came with OpenMP 4.0 and later, except for tasks: kmp_csupport.cpp,
// kmp_cancel.cpp.
var newer = []probes.Row{
	{Symbols: `__kmpc_scope`, Construct: event.Scope, Entry: event.Open, A: probes.Loc(0)},
	{Symbols: `__kmpc_end_scope`, Construct: event.Scope, Entry: event.Close},
	{Symbols: `__kmpc_distribute_static_init_4u?`, Construct: event.Distribute, Entry: event.Open,
		A: probes.Loc(0), B: probes.Elsewhere(probes.ToValue), Flags: bpf.RowTrip32},
	{Symbols: `__kmpc_distribute_static_init_8u?`, Construct: event.Distribute, Entry: event.Open,
		A: probes.Loc(0), B: probes.Elsewhere(probes.ToValue), Flags: bpf.RowTrip64},
	{Symbols: `__kmpc_distribute_static_fini`, Construct: event.Distribute, Entry: event.Close},
	{Symbols: `__kmpc_dist_dispatch_init_(4|8)u?`, Construct: event.Loop, Entry: event.Open,
		A: probes.Loc(0), Flags: bpf.RowOutsideOnly},

	// The answer 1 means: combine, then call __kmpc_end_reduce_nowait; 2: combine by atomics,
	// without a further call; 0: another thread has combined.
	{Symbols: `__kmpc_reduce_nowait`, Construct: event.Reduction, Entry: event.Enter,
		Return: event.Result, A: probes.Loc(0)},
	{Symbols: `__kmpc_end_reduce_nowait`, Construct: event.Reduction, Entry: event.Release,
		Return: event.Released},

	{Symbols: `__kmpc_cancel`, Construct: event.Cancel, Entry: event.Enter, Return: event.Result,
		A: probes.Loc(0)},
	{Symbols: `__kmpc_cancellationpoint`, Construct: event.CancellationPoint, Entry: event.Enter,
		Return: event.Result, A: probes.Loc(0)},

	{Symbols: `__kmpc_doacross_wait`, Construct: event.Ordered, Entry: event.Enter,
		Return: event.Acquired, A: probes.Loc(0), Marks: event.Whole},
	{Symbols: `__kmpc_doacross_post`, Construct: event.Ordered, Entry: event.Enter,
		Return: event.Released, A: probes.Loc(0), Marks: event.Whole},

	// __kmpc_fork_call_if(loc, argc, microtask, cond, args) calls __kmpc_fork_call if cond is true.
	// Otherwise it serialises the region itself.
	{Symbols: `__kmpc_fork_call_if`, Construct: event.Parallel, Entry: event.Fork, A: probes.Loc(0),
		B: probes.Fn(2), Num: 4, Flags: bpf.RowNoSite, Marks: event.AtOnce | event.IfSerial},
}

// Entry points that run user code before they return.
var enclosing = []probes.Enclosing{
	// __kmpc_fork_teams(loc, argc, microtask, ...)
	{Symbol: "__kmpc_fork_teams",
		Entry: probes.Row{Construct: event.Teams, Entry: event.Fork, A: probes.Loc(0), B: probes.Fn(2), Flags: bpf.RowNoSite},
		Exit:  probes.Row{Construct: event.Teams, Entry: event.Join, Flags: bpf.RowNoSite}},
}

// The places inside libomp where a region ends (exits.go).
var (
	bodyEnd = probes.Row{Construct: event.Parallel, Entry: event.End}
	join    = probes.Row{Construct: event.Parallel, Entry: event.Join, Flags: bpf.RowNoSite}
)

// The places that tell the ends by thread (apart.go): behind a worker's body, and the entry of
// __kmp_join_call(loc, gtid, fork_context, exit_teams). loc is the ident_t of the fork, and names
// the place.
var (
	workerEnd = probes.Row{Construct: event.Parallel, Entry: event.End}
	joinCall  = probes.Row{Construct: event.Parallel, Entry: event.End, Return: event.Join,
		B: probes.Loc(0), Sparse: true}
)

// loopOver is where __kmpc_dispatch_next_* has found that no chunk is left (loops.go).
var loopOver = probes.Row{Construct: event.Loop, Entry: event.Close}

// taskSubmitted is where a taskloop hands in a task that it has made. Tasks that only split the
// loop are recognised by their routine.
var taskSubmitted = probes.Row{Construct: event.Task, Entry: event.Result,
	A: probes.Elsewhere(probes.ToKey), B: probes.Elsewhere(probes.ToFn), Flags: bpf.RowNoSite | bpf.RowBFromA}
