package probes

import (
	"ompp-attach/bpf"
	"ompp-attach/event"
)

// The entry points of LLVM's libomp and Intel's libiomp5 (kmp.h, kmp_csupport.cpp,
// LLVM 14 to 19). The first argument is the ident_t, the second the global
// thread id.
var kmpcPoints = []point{
	// __kmpc_fork_call(loc, argc, microtask, ...). __kmp_invoke_microtask(fn,
	// gtid, tid, argc, argv) is where every thread of every team enters the
	// body; argv lies in the team's structure and so names the team. How both
	// end: see kmpcBodyEnd.
	{symbols: `__kmpc_fork_call`, construct: event.Parallel, entry: event.Fork, a: take{0, toLoc}, b: take{2, toFn}, flags: bpf.RowNoSite},
	{symbols: `__kmp_invoke_microtask`, construct: event.Parallel, entry: event.Begin, a: take{4, toKey}, b: take{0, toFn}, num: 3, flags: bpf.RowSizeFromKmp},
	// if(0), and inside the library teams of one.
	{symbols: `__kmpc_serialized_parallel`, construct: event.Parallel, entry: event.Fork, a: take{0, toLoc}, flags: bpf.RowOutsideOnly, marks: event.AtOnce},
	{symbols: `__kmpc_end_serialized_parallel`, construct: event.Parallel, entry: event.End, ret: event.Join, marks: event.Inside},

	{symbols: `__kmpc_(dist_)?for_static_init_4u?`, construct: event.Loop, entry: event.Open, a: take{0, toLoc}, b: take{to: toValue}, flags: bpf.RowTrip32},
	{symbols: `__kmpc_(dist_)?for_static_init_8u?`, construct: event.Loop, entry: event.Open, a: take{0, toLoc}, b: take{to: toValue}, flags: bpf.RowTrip64},
	{symbols: `__kmpc_for_static_fini`, construct: event.Loop, entry: event.Close},
	{symbols: `__kmpc_dispatch_init_(4|8)u?`, construct: event.Loop, entry: event.Open, a: take{0, toLoc}, flags: bpf.RowOutsideOnly},
	{symbols: `__kmpc_dispatch_next_(4|8)u?`, construct: event.Loop, ret: event.Close, flags: bpf.RowReturnIfZero | bpf.RowOutsideOnly},

	{symbols: `__kmpc_single`, construct: event.Single, entry: event.Open, ret: event.Result, a: take{0, toLoc}},
	{symbols: `__kmpc_end_single`, construct: event.Single, entry: event.Release},
	{symbols: `__kmpc_copyprivate(_light)?`, construct: event.Single, entry: event.Wait, ret: event.Waited, a: take{0, toLoc}},

	{symbols: `__kmpc_barrier|__kmpc_cancel_barrier`, construct: event.Barrier, entry: event.Wait, ret: event.Waited, a: take{0, toLoc}, flags: bpf.RowOutsideOnly},
	// A blocking reduction is the implicit barrier of its construct: threads
	// that get 0 have been through it, the others end it by __kmpc_end_reduce.
	{symbols: `__kmpc_reduce`, entry: event.Wait, ret: event.Result, a: take{0, toLoc}},
	{symbols: `__kmpc_end_reduce`, entry: event.Wait, ret: event.Waited, a: take{0, toLoc}},

	{symbols: `__kmpc_critical|__kmpc_critical_with_hint`, construct: event.Critical, entry: event.Enter, ret: event.Acquired, a: take{0, toLoc}, b: take{2, toFn}, flags: bpf.RowOutsideOnly, forwarded: true},
	{symbols: `__kmpc_end_critical`, construct: event.Critical, entry: event.Release, ret: event.Released, a: take{0, toLoc}, b: take{2, toFn}},
	{symbols: `__kmpc_ordered`, construct: event.Ordered, entry: event.Enter, ret: event.Acquired, a: take{0, toLoc}},
	{symbols: `__kmpc_end_ordered`, construct: event.Ordered, entry: event.Release},
	{symbols: `__kmpc_master`, construct: event.Master, entry: event.Enter, a: take{0, toLoc}},
	{symbols: `__kmpc_end_master`, construct: event.Master, entry: event.Release},
	{symbols: `__kmpc_masked`, construct: event.Masked, entry: event.Enter, a: take{0, toLoc}, b: take{2, toValue}},
	{symbols: `__kmpc_end_masked`, construct: event.Masked, entry: event.Release},
	{symbols: `__kmpc_flush`, construct: event.Flush, entry: event.Enter, ret: event.Released, a: take{0, toLoc}},
	{symbols: `__kmpc_atomic_start`, construct: event.Atomic, entry: event.Enter, ret: event.Acquired},
	{symbols: `__kmpc_atomic_end`, construct: event.Atomic, entry: event.Release},
	{symbols: `__kmpc_atomic_(fixed|float|cmplx|[0-9]).*`, construct: event.Atomic, entry: event.Enter, ret: event.Released, a: take{0, toLoc}, imported: true},

	// kmp_tasking.cpp. The task's routine is the second word of its structure
	// (kmp_task_t, part of the interface).
	{symbols: `__kmpc_omp_task(_with_deps)?`, construct: event.Task, entry: event.Enter, exit: event.Released, a: take{2, toKey}, b: take{to: toFn}, flags: bpf.RowNoSite | bpf.RowBFromA},
	{symbols: `__kmpc_omp_task_begin_if0`, construct: event.Task, entry: event.Enter, a: take{2, toKey}, b: take{to: toFn}, flags: bpf.RowNoSite | bpf.RowBFromA, marks: event.AtOnce},
	{symbols: `__kmpc_omp_task_complete_if0`, construct: event.TaskExec, entry: event.End, a: take{2, toKey}, marks: event.AtOnce},
	{symbols: `__kmpc_taskloop(_5)?`, construct: event.TaskLoop, entry: event.Enter, exit: event.Released, a: take{2, toKey}, b: take{to: toFn}, flags: bpf.RowNoSite | bpf.RowBFromA},
	{symbols: `__kmpc_omp_taskwait|__kmpc_omp_wait_deps|__kmpc_omp_taskwait_deps_51`, construct: event.TaskWait, entry: event.Wait, exit: event.Waited, a: take{0, toLoc}, flags: bpf.RowOutsideOnly},
	{symbols: `__kmpc_taskgroup`, construct: event.TaskGroup, entry: event.Enter, a: take{0, toLoc}, flags: bpf.RowOutsideOnly},
	{symbols: `__kmpc_end_taskgroup`, construct: event.TaskGroup, entry: event.Wait, exit: event.Waited, flags: bpf.RowOutsideOnly},
	{symbols: `__kmpc_omp_taskyield`, construct: event.TaskYield, entry: event.Wait, exit: event.Waited, a: take{0, toLoc}},

	// The Fortran names are functions of their own here, not callers.
	{symbols: `omp_set_lock_?`, construct: event.Lock, entry: event.Enter, ret: event.Acquired, a: take{0, toFn}},
	{symbols: `omp_unset_lock_?`, construct: event.Lock, entry: event.Release, ret: event.Released, a: take{0, toFn}},
	{symbols: `omp_test_lock_?`, construct: event.Lock, entry: event.Enter, ret: event.Result, a: take{0, toFn}},
	{symbols: `omp_set_nest_lock_?`, construct: event.NestLock, entry: event.Enter, ret: event.Acquired, a: take{0, toFn}},
	{symbols: `omp_unset_nest_lock_?`, construct: event.NestLock, entry: event.Release, ret: event.Released, a: take{0, toFn}},
	{symbols: `omp_test_nest_lock_?`, construct: event.NestLock, entry: event.Enter, ret: event.Result, a: take{0, toFn}},
}

// Places inside libomp where a region ends (kmpcExits).
var (
	pointBodyEnd = point{construct: event.Parallel, entry: event.End}
	pointJoin    = point{construct: event.Parallel, entry: event.Join, flags: bpf.RowNoSite}
)
