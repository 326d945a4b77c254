// newer.c: constructs that came with OpenMP 4.0 and later, but for tasks, each
// executed REPS times with counts that are known.
//
//   OMP_CANCELLATION=true ./newer REPS N
//
// Prints the names of entry points that exist but that no compiler here calls,
// which it then calls itself. Clang knows no scope (up to 19).
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static int reps, n, sum, a[64];

__attribute__((noinline)) static void work(int i) { __atomic_fetch_add(&a[i & 63], 1, __ATOMIC_RELAXED); }

static void masked(void)
{
#pragma omp parallel
	{
#pragma omp masked filter(omp_get_num_threads() - 1)
		work(1);
	}
}

static void teams(void)
{
#pragma omp teams num_teams(3) thread_limit(2)
	{
#pragma omp distribute
		for (int i = 0; i < n; i++)
			work(i);
#pragma omp parallel num_threads(2)
		work(2);
	}
#pragma omp teams distribute parallel for num_teams(2) thread_limit(2)
	for (int i = 0; i < n; i++)
		work(i);
#pragma omp teams num_teams(2) thread_limit(1)
	work(3);
}

// The first thread that comes to iteration 0 cancels; all others may see it.
// Not dynamic for libomp, which does not take a cancelled loop's dispatch buffer
// back: now and then the program aborts (kmp_dispatch.cpp: steal_flag == THIEF) or
// hangs (monotonic), also without a tool (LLVM 19; 4 of 60 runs of 100 such loops).
#ifdef __clang__
#define SHARED static, 1
#else
#define SHARED dynamic
#endif
static void cancelled_loop(void)
{
#pragma omp parallel
#pragma omp for schedule(SHARED)
	for (int i = 0; i < n; i++) {
		if (i == 0) {
#pragma omp cancel for
		}
#pragma omp cancellation point for
		work(i);
	}
}

static void cancelled_region(void)
{
#pragma omp parallel
	{
		if (omp_get_thread_num() == 0) {
#pragma omp cancel parallel
		}
#pragma omp barrier
		work(4);
	}
}

static void doacross(void)
{
#pragma omp parallel
#pragma omp for ordered(1) schedule(static, 1)
	for (int i = 0; i < n; i++) {
#pragma omp ordered depend(sink : i - 1)
		work(i);
#pragma omp ordered depend(source)
	}
}

static void target(void)
{
#pragma omp target map(tofrom : sum)
	sum++;
#pragma omp target data map(tofrom : a)
	{
#pragma omp target update to(a)
		work(5);
	}
#pragma omp target enter data map(to : a)
#pragma omp target exit data map(from : a)
#pragma omp target teams num_teams(2) thread_limit(1) map(tofrom : a)
	work(8);
}

static void reductions(void)
{
	int s = 0, t = 0;
#pragma omp parallel
	{
#pragma omp for reduction(+ : s, t) nowait
		for (int i = 0; i < n; i++)
			s += i, t++;
#pragma omp barrier
#ifndef __clang__
#pragma omp for reduction(task, + : s)
		for (int i = 0; i < n; i++)
			s += i;
#pragma omp scope reduction(task, + : s)
		s++;
#pragma omp scope
		work(6);
#endif
	}
	sum += s + t;
}

#ifdef __clang__
// kmp.h; newer compilers call these.
typedef struct {
	int reserved1, flags, reserved2, length;
	const char *text;
} ident;

extern void __kmpc_fork_call_if(ident *, int, void *, int, void *) __attribute__((weak));
extern void __kmpc_scope(ident *, int, void *) __attribute__((weak));
extern void __kmpc_end_scope(ident *, int, void *) __attribute__((weak));
extern int __kmpc_global_thread_num(ident *);

static ident here = {0, 2, 0, 26, ";newer.c;by_hand;1;1;;"};

static void body(int *gtid, int *tid, void *args)
{
	(void)gtid, (void)tid, (void)args;
	int me = __kmpc_global_thread_num(&here);
	__kmpc_scope(&here, me, NULL);
	work(7);
	__kmpc_end_scope(&here, me, NULL);
}

static void by_hand(void)
{
	if (!__kmpc_fork_call_if || !__kmpc_scope || !__kmpc_end_scope)
		return;
	__kmpc_fork_call_if(&here, 1, (void *)body, 1, NULL);
	__kmpc_fork_call_if(&here, 1, (void *)body, 0, NULL);
	__kmpc_fork_call_if(&here, 1, (void *)body, 0, a);
}

static const char *names(void)
{
	return __kmpc_fork_call_if && __kmpc_scope && __kmpc_end_scope ? "fork_call_if scope" : "";
}
#else
static void by_hand(void) {}
static const char *names(void) { return ""; }
#endif

int main(int argc, char **argv)
{
	reps = argc > 1 ? atoi(argv[1]) : 2;
	n = argc > 2 ? atoi(argv[2]) : 9;
	if (!omp_get_cancellation()) {
		fprintf(stderr, "set OMP_CANCELLATION=true\n");
		return 1;
	}
	for (int r = 0; r < reps; r++) {
		masked();
		teams();
		cancelled_loop();
		cancelled_region();
		doacross();
		target();
		reductions();
		by_hand();
	}
	printf("%s\n", names());
	return sum > 0 ? 0 : 1;
}
