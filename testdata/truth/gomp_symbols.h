// gomp_symbols.h: libgomp's entry points (libgomp.map of GCC 12), each with
// the kind that says what else than the call itself can be counted.
//
//   PLAIN  nothing
//   BOOL   call returned true (only the low byte of the result is defined)
//   INT    call returned other than 0
//   NULLP  call returned NULL
//   BODY   executions of the region's body: arguments are (fn, data, ...)
//   LAST   not counted: the process image ends here, so write the counts
#ifndef GOMP_SYMBOLS_H
#define GOMP_SYMBOLS_H

#define SCHEDULED_LOOP(X, prefix)                                              \
	X(prefix##_static_start, BOOL) X(prefix##_static_next, BOOL)           \
	X(prefix##_dynamic_start, BOOL) X(prefix##_dynamic_next, BOOL)         \
	X(prefix##_guided_start, BOOL) X(prefix##_guided_next, BOOL)           \
	X(prefix##_runtime_start, BOOL) X(prefix##_runtime_next, BOOL)

#define NONMONOTONIC_LOOP(X, prefix)                                           \
	X(prefix##_nonmonotonic_dynamic_start, BOOL)                           \
	X(prefix##_nonmonotonic_dynamic_next, BOOL)                            \
	X(prefix##_nonmonotonic_guided_start, BOOL)                            \
	X(prefix##_nonmonotonic_guided_next, BOOL)                             \
	X(prefix##_nonmonotonic_runtime_start, BOOL)                           \
	X(prefix##_nonmonotonic_runtime_next, BOOL)                            \
	X(prefix##_maybe_nonmonotonic_runtime_start, BOOL)                     \
	X(prefix##_maybe_nonmonotonic_runtime_next, BOOL)

#define DOACROSS_LOOP(X, prefix)                                               \
	X(prefix##_doacross_static_start, BOOL)                                \
	X(prefix##_doacross_dynamic_start, BOOL)                               \
	X(prefix##_doacross_guided_start, BOOL)                                \
	X(prefix##_doacross_runtime_start, BOOL)                               \
	X(prefix##_doacross_start, BOOL)

// Fortran calls the names with an underscore.
#define LOCK(X, name, kind) X(name, kind) X(name##_, kind)

#define GOMP_SYMBOLS(X)                                                        \
	X(GOMP_parallel, BODY) X(GOMP_parallel_reductions, BODY)               \
	X(GOMP_parallel_sections, BODY)                                        \
	X(GOMP_parallel_loop_static, BODY) X(GOMP_parallel_loop_dynamic, BODY) \
	X(GOMP_parallel_loop_guided, BODY) X(GOMP_parallel_loop_runtime, BODY) \
	X(GOMP_parallel_loop_nonmonotonic_dynamic, BODY)                       \
	X(GOMP_parallel_loop_nonmonotonic_guided, BODY)                        \
	X(GOMP_parallel_loop_nonmonotonic_runtime, BODY)                       \
	X(GOMP_parallel_loop_maybe_nonmonotonic_runtime, BODY)                 \
	X(GOMP_parallel_start, PLAIN) X(GOMP_parallel_end, PLAIN)              \
	X(GOMP_parallel_sections_start, PLAIN)                                 \
	X(GOMP_parallel_loop_static_start, PLAIN)                              \
	X(GOMP_parallel_loop_dynamic_start, PLAIN)                             \
	X(GOMP_parallel_loop_guided_start, PLAIN)                              \
	X(GOMP_parallel_loop_runtime_start, PLAIN)                             \
	SCHEDULED_LOOP(X, GOMP_loop) SCHEDULED_LOOP(X, GOMP_loop_ull)          \
	SCHEDULED_LOOP(X, GOMP_loop_ordered)                                   \
	SCHEDULED_LOOP(X, GOMP_loop_ull_ordered)                               \
	NONMONOTONIC_LOOP(X, GOMP_loop) NONMONOTONIC_LOOP(X, GOMP_loop_ull)    \
	DOACROSS_LOOP(X, GOMP_loop) DOACROSS_LOOP(X, GOMP_loop_ull)            \
	X(GOMP_loop_start, BOOL) X(GOMP_loop_ull_start, BOOL)                  \
	X(GOMP_loop_ordered_start, BOOL) X(GOMP_loop_ull_ordered_start, BOOL)  \
	X(GOMP_loop_end, PLAIN) X(GOMP_loop_end_nowait, PLAIN)                 \
	X(GOMP_loop_end_cancel, BOOL)                                          \
	X(GOMP_sections_start, INT) X(GOMP_sections2_start, INT)               \
	X(GOMP_sections_next, INT) X(GOMP_sections_end, PLAIN)                 \
	X(GOMP_sections_end_nowait, PLAIN) X(GOMP_sections_end_cancel, BOOL)   \
	X(GOMP_single_start, BOOL) X(GOMP_single_copy_start, NULLP)            \
	X(GOMP_single_copy_end, PLAIN) X(GOMP_scope_start, PLAIN)              \
	X(GOMP_barrier, PLAIN) X(GOMP_barrier_cancel, BOOL)                    \
	X(GOMP_cancel, BOOL) X(GOMP_cancellation_point, BOOL)                  \
	X(GOMP_critical_start, PLAIN) X(GOMP_critical_end, PLAIN)              \
	X(GOMP_critical_name_start, PLAIN) X(GOMP_critical_name_end, PLAIN)    \
	X(GOMP_atomic_start, PLAIN) X(GOMP_atomic_end, PLAIN)                  \
	X(GOMP_ordered_start, PLAIN) X(GOMP_ordered_end, PLAIN)                \
	X(GOMP_doacross_post, PLAIN) X(GOMP_doacross_wait, PLAIN)              \
	X(GOMP_doacross_ull_post, PLAIN) X(GOMP_doacross_ull_wait, PLAIN)      \
	X(GOMP_task, PLAIN) X(GOMP_taskwait, PLAIN)                            \
	X(GOMP_taskwait_depend, PLAIN) X(GOMP_taskyield, PLAIN)                \
	X(GOMP_taskloop, PLAIN) X(GOMP_taskloop_ull, PLAIN)                    \
	X(GOMP_taskgroup_start, PLAIN) X(GOMP_taskgroup_end, PLAIN)            \
	X(GOMP_target, PLAIN) X(GOMP_target_ext, PLAIN)                        \
	X(GOMP_target_data_ext, PLAIN) X(GOMP_target_end_data, PLAIN)          \
	X(GOMP_target_update_ext, PLAIN) X(GOMP_target_enter_exit_data, PLAIN) \
	X(GOMP_workshare_task_reduction_unregister, PLAIN)                     \
	X(GOMP_teams, PLAIN) X(GOMP_teams4, BOOL) X(GOMP_teams_reg, PLAIN)     \
	LOCK(X, omp_set_lock, PLAIN) LOCK(X, omp_unset_lock, PLAIN)            \
	LOCK(X, omp_test_lock, INT)                                            \
	LOCK(X, omp_set_nest_lock, PLAIN) LOCK(X, omp_unset_nest_lock, PLAIN)  \
	LOCK(X, omp_test_nest_lock, INT)                                       \
	X(_exit, LAST) X(_Exit, LAST) X(quick_exit, LAST)                      \
	X(execve, LAST) X(execv, LAST) X(execvp, LAST) X(execvpe, LAST)        \
	X(execl, LAST) X(execlp, LAST) X(execle, LAST) X(fexecve, LAST)

#endif
