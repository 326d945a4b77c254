// ompt_truth.c: OMPT tool that counts the constructs libomp executes, by
// OpenMP thread number.
//
//   clang -fopenmp -O2 -fPIC -shared -o ompt_truth.so ompt_truth.c
//   TRUTH_OUT=counts OMP_TOOL_LIBRARIES=./ompt_truth.so program
//
// Lines of the file (see counts.h): "name thread n", where name is one of the
// table below; thread is the number in the innermost team, for parallel that
// of the encountering thread, for implicit_task that in the new team.
// A mutex has two names: X (asked for) and X:taken. Releases are not counted:
// in libomp up to 21 __kmpc_end_critical reads thread 0's record before that
// callback, which crashes once the initial OpenMP thread has ended
// (llvm-project pull request 169826).
#include "counts.h"
#include <omp-tools.h>
#include <stdbool.h>

#define NAMES(X)                                                               \
	X(parallel, "parallel")                                                \
	X(implicit_task, "implicit_task")                                      \
	X(loop, "loop")                                                        \
	X(sections, "sections")                                                \
	X(single_executor, "single_executor")                                  \
	X(single_other, "single_other")                                        \
	X(workshare, "workshare")                                              \
	X(work_other, "work_other")                                            \
	X(barrier_explicit, "barrier_explicit")                                \
	X(barrier_workshare, "barrier_implicit_workshare")                     \
	X(barrier_parallel, "barrier_implicit_parallel")                       \
	X(barrier_implementation, "barrier_implementation")                    \
	X(barrier_other, "barrier_other")                                      \
	X(taskwait, "taskwait")                                                \
	X(taskgroup, "taskgroup")                                              \
	X(reduction, "reduction")                                              \
	X(masked, "masked")                                                    \
	X(flush, "flush")                                                      \
	X(task_create, "task_create")                                          \
	X(league, "league_task")                                               \
	X(distribute, "distribute")                                            \
	X(scope, "scope")                                                      \
	X(cancel_on, "cancel:activated")                                       \
	X(cancel_seen, "cancel:detected")                                      \
	X(doacross_sink, "doacross_sink")                                      \
	X(doacross_source, "doacross_source")                                  \
	X(nest_again, "nest_lock:again")                                       \
	X(nest_unagain, "nest_lock:unagain")                                   \
	X(critical, "critical") X(critical_t, "critical:taken")                \
	X(lock, "lock") X(lock_t, "lock:taken")                                \
	X(nest_lock, "nest_lock") X(nest_lock_t, "nest_lock:taken")            \
	X(test_lock, "test_lock") X(test_lock_t, "test_lock:taken")            \
	X(test_nest, "test_nest_lock") X(test_nest_t, "test_nest_lock:taken")  \
	X(ordered, "ordered") X(ordered_t, "ordered:taken")                    \
	X(atomic, "atomic") X(atomic_t, "atomic:taken")                        \
	X(other, "mutex_other") X(other_t, "mutex_other:taken")

#define INDEX(name, text) N_##name,
enum { NAMES(INDEX) NUM_NAMES };

#define TEXT(name, text) text,
static const char *const names[NUM_NAMES] = {NAMES(TEXT)};
static const char *count_name(int n) { return names[n]; }

static ompt_get_task_info_t get_task_info;

// omp_get_thread_num must not be called from a callback; this may.
static int thread_num(void)
{
	int num = 0;
	if (get_task_info(0, NULL, NULL, NULL, NULL, &num) == 0)
		return 0;
	return num;
}

static void count(int name) { counts_add(name, thread_num()); }

// What marks the data of a league of teams.
enum { LEAGUE = 0x1ea9e };

static bool in_league(const ompt_data_t *parallel) { return parallel && parallel->value == LEAGUE; }

static void on_parallel(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *parallel,
			unsigned int requested, int flags, const void *ra)
{
	(void)task, (void)frame, (void)requested, (void)ra;
	if (flags & ompt_parallel_league) {
		parallel->value = LEAGUE;
		return;
	}
	count(N_parallel);
}

static void on_implicit_task(ompt_scope_endpoint_t end, ompt_data_t *parallel, ompt_data_t *task,
			     unsigned int size, unsigned int index, int flags)
{
	(void)task, (void)size;
	if (end == ompt_scope_begin && (flags & ompt_task_implicit))
		counts_add(N_implicit_task, (int)index);
	// A league's initial tasks have a league; the program's own has none.
	if (end == ompt_scope_begin && (flags & ompt_task_initial) && in_league(parallel))
		counts_add(N_league, (int)index);
}

static void on_work(ompt_work_t work, ompt_scope_endpoint_t end, ompt_data_t *parallel,
		    ompt_data_t *task, uint64_t n, const void *ra)
{
	(void)parallel, (void)task, (void)n, (void)ra;
	if (end != ompt_scope_begin)
		return;
	switch (work) {
	case ompt_work_loop:
	case ompt_work_loop_static:
	case ompt_work_loop_dynamic:
	case ompt_work_loop_guided:
	case ompt_work_loop_other: count(N_loop); break;
	case ompt_work_sections: count(N_sections); break;
	case ompt_work_single_executor: count(N_single_executor); break;
	case ompt_work_single_other: count(N_single_other); break;
	case ompt_work_workshare: count(N_workshare); break;
	case ompt_work_distribute: count(N_distribute); break;
	case ompt_work_scope: count(N_scope); break;
	default: count(N_work_other); break;
	}
}

static void on_sync(ompt_sync_region_t kind, ompt_scope_endpoint_t end, ompt_data_t *parallel,
		    ompt_data_t *task, const void *ra)
{
	(void)parallel, (void)task, (void)ra;
	if (end != ompt_scope_begin)
		return;
	switch (kind) {
	case ompt_sync_region_barrier_explicit: count(N_barrier_explicit); break;
	case ompt_sync_region_barrier_implicit_workshare: count(N_barrier_workshare); break;
	case ompt_sync_region_barrier_implicit_parallel: count(N_barrier_parallel); break;
	case ompt_sync_region_barrier_implementation: count(N_barrier_implementation); break;
	case ompt_sync_region_taskwait: count(N_taskwait); break;
	case ompt_sync_region_taskgroup: count(N_taskgroup); break;
	case ompt_sync_region_reduction: count(N_reduction); break;
	default: count(N_barrier_other); break;
	}
}

static void on_masked(ompt_scope_endpoint_t end, ompt_data_t *parallel, ompt_data_t *task,
		      const void *ra)
{
	(void)parallel, (void)task, (void)ra;
	if (end == ompt_scope_begin)
		count(N_masked);
}

static void on_flush(ompt_data_t *thread, const void *ra)
{
	(void)thread, (void)ra;
	count(N_flush);
}

static void on_task_create(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *new_task,
			   int flags, int dependences, const void *ra)
{
	(void)task, (void)frame, (void)new_task, (void)dependences, (void)ra;
	if (flags & ompt_task_explicit)
		count(N_task_create);
}

static void on_cancel(ompt_data_t *task, int flags, const void *ra)
{
	(void)task, (void)ra;
	if (flags & ompt_cancel_activated)
		count(N_cancel_on);
	if (flags & ompt_cancel_detected)
		count(N_cancel_seen);
}

// Of a doacross loop; those of tasks are not counted.
static void on_dependences(ompt_data_t *task, const ompt_dependence_t *deps, int n)
{
	(void)task;
	if (n < 1)
		return;
	if (deps[0].dependence_type == ompt_dependence_type_sink)
		count(N_doacross_sink);
	if (deps[0].dependence_type == ompt_dependence_type_source)
		count(N_doacross_source);
}

// Index of a mutex' first name; asked and taken follow each other.
static int mutex_name(ompt_mutex_t kind)
{
	switch (kind) {
	case ompt_mutex_lock: return N_lock;
	case ompt_mutex_test_lock: return N_test_lock;
	case ompt_mutex_nest_lock: return N_nest_lock;
	case ompt_mutex_test_nest_lock: return N_test_nest;
	case ompt_mutex_critical: return N_critical;
	case ompt_mutex_atomic: return N_atomic;
	case ompt_mutex_ordered: return N_ordered;
	default: return N_other;
	}
}

static void on_acquire(ompt_mutex_t kind, unsigned int hint, unsigned int impl,
		       ompt_wait_id_t id, const void *ra)
{
	(void)hint, (void)impl, (void)id, (void)ra;
	count(mutex_name(kind));
}

static void on_acquired(ompt_mutex_t kind, ompt_wait_id_t id, const void *ra)
{
	(void)id, (void)ra;
	count(mutex_name(kind) + 1);
}

static void on_nest_lock(ompt_scope_endpoint_t end, ompt_wait_id_t id, const void *ra)
{
	(void)id, (void)ra;
	count(end == ompt_scope_begin ? N_nest_again : N_nest_unagain);
}

static int initialize(ompt_function_lookup_t lookup, int device, ompt_data_t *data)
{
	(void)device, (void)data;
	ompt_set_callback_t set = (ompt_set_callback_t)lookup("ompt_set_callback");
	get_task_info = (ompt_get_task_info_t)lookup("ompt_get_task_info");
	if (!set || !get_task_info)
		counts_fatal("the runtime lacks an OMPT entry point");
	static const struct {
		ompt_callbacks_t event;
		ompt_callback_t fn;
	} callbacks[] = {
		{ompt_callback_parallel_begin, (ompt_callback_t)on_parallel},
		{ompt_callback_implicit_task, (ompt_callback_t)on_implicit_task},
		{ompt_callback_work, (ompt_callback_t)on_work},
		{ompt_callback_sync_region, (ompt_callback_t)on_sync},
		{ompt_callback_reduction, (ompt_callback_t)on_sync},
		{ompt_callback_masked, (ompt_callback_t)on_masked},
		{ompt_callback_flush, (ompt_callback_t)on_flush},
		{ompt_callback_task_create, (ompt_callback_t)on_task_create},
		{ompt_callback_mutex_acquire, (ompt_callback_t)on_acquire},
		{ompt_callback_mutex_acquired, (ompt_callback_t)on_acquired},
		{ompt_callback_nest_lock, (ompt_callback_t)on_nest_lock},
		{ompt_callback_cancel, (ompt_callback_t)on_cancel},
		{ompt_callback_dependences, (ompt_callback_t)on_dependences},
	};
	for (unsigned i = 0; i < sizeof callbacks / sizeof *callbacks; i++) {
		ompt_set_result_t r = set(callbacks[i].event, callbacks[i].fn);
		// Counts that are silently incomplete would be no truth.
		if (r != ompt_set_always)
			fprintf(stderr, "truth: OMPT event %d: result %d\n",
				callbacks[i].event, r);
	}
	return 1;
}

// libomp finalises before this library's destructor, or not at all when the
// process ends inside a parallel region; what is written once is not again.
static void finalize(ompt_data_t *data)
{
	(void)data;
	counts_write(count_name, NUM_NAMES);
}

__attribute__((constructor)) static void begin(void) { counts_init(); }
__attribute__((destructor)) static void finish(void) { counts_write(count_name, NUM_NAMES); }

ompt_start_tool_result_t *ompt_start_tool(unsigned int omp_version, const char *runtime_version)
{
	(void)omp_version, (void)runtime_version;
	static ompt_start_tool_result_t result = {initialize, finalize, {0}};
	return &result;
}
