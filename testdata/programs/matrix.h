// matrix.h: every construct once per call, on a known line. A marker behind a
// directive names the row of docs/constructs.md, the region that stands for it
// in a profile, and how many executions, over all threads, one call makes:
//
//   = row: CONSTRUCT count; row: CONSTRUCT count
//
// Every function is called CALLS times by teams of two. matrix.c and matrix.cpp
// include this file, matrix.f90 is its twin.
#include <omp.h>
#include <stdio.h>

#define F __attribute__((noinline)) static void
enum { CALLS = 3, N = 8 };

static int a[64], flag;
static omp_lock_t lock;
static omp_nest_lock_t nest;
static volatile int zero;

F work(int i) { __atomic_fetch_add(&a[i & 63], 1, __ATOMIC_RELAXED); }

F m_parallel(void)
{
#pragma omp parallel // = parallel: PARALLEL 2
	work(1);
}

F m_parallel_if(void)
{
#pragma omp parallel if (zero) // = parallel if(0): PARALLEL 1
	work(1);
}

F m_parallel_one(void)
{
#pragma omp parallel num_threads(1) // = parallel num_threads(1): PARALLEL 1
	work(1);
}

F m_parallel_for(void)
{
#pragma omp parallel for // = parallel for: PARALLEL LOOP 2
	for (int i = 0; i < N; i++)
		work(i);
}

F m_parallel_for_dynamic(void)
{
#pragma omp parallel for schedule(dynamic) // = parallel for schedule(dynamic): PARALLEL LOOP 2
	for (int i = 0; i < N; i++)
		work(i);
}

F m_parallel_sections(void)
{
#pragma omp parallel sections // = parallel sections: PARALLEL SECTIONS 2
	{
#pragma omp section
		work(1);
#pragma omp section
		work(2);
	}
}

F m_for(void)
{
#pragma omp parallel
	{
#pragma omp for // = for: LOOP 2
		for (int i = 0; i < N; i++)
			work(i);
		work(1);
	}
}

F m_for_nowait(void)
{
#pragma omp parallel
	{
#pragma omp for nowait // = for nowait: LOOP 2
		for (int i = 0; i < N; i++)
			work(i);
		work(1);
	}
}

F m_for_dynamic(void)
{
#pragma omp parallel
	{
#pragma omp for schedule(dynamic) // = for schedule(dynamic): LOOP 2
		for (int i = 0; i < N; i++)
			work(i);
		work(1);
	}
}

F m_for_guided(void)
{
#pragma omp parallel
	{
#pragma omp for schedule(guided) nowait // = for schedule(guided) nowait: LOOP 2
		for (int i = 0; i < N; i++)
			work(i);
		work(1);
	}
}

F m_for_runtime(void)
{
#pragma omp parallel
	{
#pragma omp for schedule(runtime) // = for schedule(runtime): LOOP 2
		for (int i = 0; i < N; i++)
			work(i);
		work(1);
	}
}

F m_for_simd(void)
{
#pragma omp parallel
	{
#pragma omp for simd // = for simd: LOOP 2
		for (int i = 0; i < N; i++)
			a[i] += i;
		work(1);
	}
}

F m_ordered(void)
{
#pragma omp parallel
	{
#pragma omp for ordered // = for ordered: LOOP 2
		for (int i = 0; i < N; i++) {
			work(i);
#pragma omp ordered // = ordered: ORDERED 8
			work(1);
		}
	}
}

F m_doacross(void)
{
#pragma omp parallel
	{
#pragma omp for ordered(1) schedule(static, 1) // = for ordered(1): LOOP 2
		for (int i = 0; i < N; i++) {
#pragma omp ordered depend(sink : i - 1) // = ordered depend(sink): ORDERED 7|8
			work(i);
#pragma omp ordered depend(source) // = ordered depend(source): ORDERED 8
		}
	}
}

F m_loop(void)
{
#pragma omp parallel
	{
#pragma omp loop // = loop: LOOP 2
		for (int i = 0; i < N; i++)
			work(i);
		work(1);
	}
}

F m_sections(void)
{
#pragma omp parallel
	{
#pragma omp sections // = sections: SECTIONS 2
		{
#pragma omp section
			work(1);
#pragma omp section
			work(2);
#pragma omp section
			work(3);
		}
		work(4);
	}
}

F m_single(void)
{
#pragma omp parallel
	{
#pragma omp single // = single: SINGLE 2
		work(1);
		work(2);
	}
}

F m_single_nowait(void)
{
#pragma omp parallel
	{
#pragma omp single nowait // = single nowait: SINGLE 2
		work(1);
		work(2);
	}
}

F m_copyprivate(void)
{
	int x = 0;
#pragma omp parallel firstprivate(x)
	{
#pragma omp single copyprivate(x) // = single copyprivate: SINGLE 2
		x = zero + 5;
		work(x);
	}
}

F m_master(void)
{
#pragma omp parallel
	{
#pragma omp master // = master: MASTER 1
		work(1);
		work(2);
	}
}

F m_masked(void)
{
#pragma omp parallel
	{
#pragma omp masked filter(1) // = masked filter(1): MASKED 1
		work(1);
		work(2);
	}
}

F m_critical(void)
{
#pragma omp parallel
	{
#pragma omp critical // = critical: CRITICAL 2
		work(1);
#pragma omp critical(name) // = critical(name): CRITICAL 2
		work(2);
	}
}

F m_barrier(void)
{
#pragma omp parallel
	{
		work(1);
#pragma omp barrier // = barrier: BARRIER 2
		work(2);
	}
}

F m_atomic(void)
{
#pragma omp parallel
	{
#pragma omp atomic // = atomic: ATOMIC 2
		flag++;
	}
}

F m_flush(void)
{
#pragma omp parallel
	{
		work(1);
#pragma omp flush // = flush: FLUSH 2
		work(2);
	}
}

F m_locks(void)
{
#pragma omp parallel
	{
		omp_set_lock(&lock); // = omp_set_lock: LOCK 2
		work(1);
		omp_unset_lock(&lock);
		omp_set_nest_lock(&nest); // = omp_set_nest_lock: NEST LOCK 2
		work(2);
		omp_unset_nest_lock(&nest);
	}
}

F m_test_lock(void)
{
	if (omp_test_lock(&lock)) { // = omp_test_lock: LOCK 1
		work(1);
		omp_unset_lock(&lock);
	}
}

F m_reduction(void)
{
	int s = 0, t = 0;
#pragma omp parallel
	{
#pragma omp for reduction(+ : s) schedule(dynamic) // = for reduction: LOOP 2
		for (int i = 0; i < N; i++)
			s += i, work(i);
#pragma omp for reduction(+ : s, t) schedule(dynamic) nowait // = for reduction of two, nowait: LOOP 2; its reduction: REDUCTION 2
		for (int i = 0; i < N; i++)
			s += i, t++, work(i);
		work(1);
	}
	flag = s + t;
}

F m_cancel(void)
{
#pragma omp parallel
	{
#pragma omp cancellation point parallel // = cancellation point: CANCELLATION POINT 2
		work(1);
		if (omp_get_thread_num() == 0) {
#pragma omp cancel parallel // = cancel: CANCEL 1
		}
#pragma omp barrier
		work(2);
	}
}

F m_teams(void)
{
#pragma omp teams num_teams(3) thread_limit(1) // = teams: TEAMS 1|3
	{
#pragma omp distribute // = distribute: DISTRIBUTE 3
		for (int i = 0; i < N; i++)
			work(i);
	}
}

F m_teams_parallel_for(void)
{
#pragma omp teams distribute parallel for num_teams(2) thread_limit(2) // = teams in a combined directive: TEAMS 1|2; distribute in it: DISTRIBUTE 2; parallel for in it: PARALLEL LOOP 4
	for (int i = 0; i < N; i++)
		work(i);
}

F m_target(void)
{
#pragma omp target map(tofrom : flag) // = target: TARGET 1
	flag++;
#pragma omp target data map(tofrom : a) // = target data: TARGET DATA 1
	{
#pragma omp target update to(a) // = target update: TARGET UPDATE 1
		work(1);
	}
#pragma omp target enter data map(to : a) // = target enter data: TARGET ENTER DATA 1
#pragma omp target exit data map(from : a) // = target exit data: TARGET EXIT DATA 1
}

F m_tasks(void)
{
#pragma omp parallel
#pragma omp single
	{
#pragma omp task // = task: TASK 1; execution of a task: TASKEXEC 1
		work(1);
#pragma omp taskwait // = taskwait: TASKWAIT 1
#pragma omp taskgroup // = taskgroup: TASKGROUP 1
		{
#pragma omp task untied // = task untied: UTASK 1; execution of an untied task: UTASKEXEC 1
			work(2);
		}
#pragma omp taskloop num_tasks(4) // = taskloop: TASKLOOP 1
		for (int i = 0; i < N; i++)
			work(i);
#pragma omp taskyield // = taskyield: TASKYIELD 1
	}
}

#ifndef __clang__ // up to 19 clang compiles no scope
F m_scope(void)
{
#pragma omp parallel
	{
#pragma omp scope // = scope: SCOPE 2
		work(1);
		work(2);
	}
}

F m_scope_task(void)
{
	int s = 0;
#pragma omp parallel
	{
#pragma omp scope reduction(task, + : s) // = scope reduction(task): SCOPE 2
		s++;
		work(3);
	}
	flag += s;
}
#else
F m_scope(void) {}
F m_scope_task(void) {}
#endif

int main(void)
{
	static void (*const all[])(void) = {m_parallel, m_parallel_if, m_parallel_one, m_parallel_for, m_parallel_for_dynamic,
		m_parallel_sections, m_for, m_for_nowait, m_for_dynamic, m_for_guided, m_for_runtime, m_for_simd, m_ordered,
		m_doacross, m_loop, m_sections, m_single, m_single_nowait, m_copyprivate, m_master, m_masked, m_critical,
		m_barrier, m_atomic, m_flush, m_locks, m_test_lock, m_reduction, m_cancel, m_teams, m_teams_parallel_for,
		m_target, m_tasks, m_scope, m_scope_task};
	omp_init_lock(&lock);
	omp_init_nest_lock(&nest);
	for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
		for (int call = 0; call < CALLS; call++)
			all[i]();
	return 0;
}
