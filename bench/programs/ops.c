// ops.c: what one OpenMP operation costs.
//
//   ops
//
// For each line "MODE THREADS MS" on standard input it performs operations for about
// MS milliseconds, in batches. It prints the nanoseconds per operation of the median
// batch, which a thread that loses its core now and then does not change. It prints
// the number of all operations, too. Each thread of a team of THREADS performs
// every operation; only tasks are created by the primary thread alone. So with
// more than one thread criticals, locks and atomics are contended. The region
// around the operations is not measured, but in mode "region".
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCH = 50 };

static long count;
static double sum, product;
static long double wide;
static omp_lock_t lock;

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void critical(void)
{
	for (int i = 0; i < BATCH; i++) {
#pragma omp critical
		count++;
	}
}

static void locks(void)
{
	for (int i = 0; i < BATCH; i++) {
		omp_set_lock(&lock);
		count++;
		omp_unset_lock(&lock);
	}
}

// atomic: of a type that no instruction serves, so that GCC calls the runtime;
// Clang calls libatomic.
static void atomic(void)
{
#ifndef __clang__
	for (int i = 0; i < BATCH; i++) {
#pragma omp atomic
		wide += 1;
	}
#endif
}

static void barrier(void)
{
	for (int i = 0; i < BATCH; i++) {
#pragma omp barrier
	}
}

static void single(void)
{
	for (int i = 0; i < BATCH; i++) {
#pragma omp single
		count++;
	}
}

static void loop_static(void)
{
	int n = omp_get_num_threads();
	for (int i = 0; i < BATCH; i++) {
		int own = 0;
#pragma omp for schedule(static)
		for (int j = 0; j < n; j++)
			*(volatile int *)&own = j;
	}
}

static void loop_dynamic(void)
{
	int n = 2 * omp_get_num_threads();
	for (int i = 0; i < BATCH; i++) {
		int own = 0;
#pragma omp for schedule(dynamic)
		for (int j = 0; j < n; j++)
			*(volatile int *)&own = j;
	}
}

static void sections(void)
{
	for (int i = 0; i < BATCH; i++) {
		int one = 0, two = 0;
#pragma omp sections
		{
#pragma omp section
			*(volatile int *)&one = i;
#pragma omp section
			*(volatile int *)&two = i;
		}
	}
}

// reduction: of two variables, which no single atomic instruction combines.
static void reduction(void)
{
	int n = omp_get_num_threads();
	for (int i = 0; i < BATCH; i++) {
#pragma omp for schedule(static) reduction(+ : sum) reduction(* : product)
		for (int j = 0; j < n; j++) {
			sum += j;
			product *= 1;
		}
	}
}

// ordered: an operation is one ordered block; the loop around them is part of it.
static void ordered(void)
{
	int n = BATCH * omp_get_num_threads();
#pragma omp for ordered schedule(static, 1)
	for (int j = 0; j < n; j++) {
#pragma omp ordered
		count++;
	}
}

static void task(void)
{
#pragma omp master
	{
		for (int i = 0; i < BATCH; i++) {
#pragma omp task firstprivate(i)
			{
				volatile int own = i;
				(void)own;
			}
		}
#pragma omp taskwait
	}
}

static void taskwait(void)
{
	for (int i = 0; i < BATCH; i++) {
#pragma omp taskwait
	}
}

static void region(int threads)
{
	for (int i = 0; i < BATCH; i++) {
#pragma omp parallel num_threads(threads)
		{
			if (omp_get_thread_num() == 0)
				count++;
		}
	}
}

static const struct mode {
	const char *name;
	void (*batch)(void);
} modes[] = {
	{"critical", critical}, {"lock", locks},           {"atomic", atomic},     {"barrier", barrier},
	{"single", single},     {"static", loop_static},   {"dynamic", loop_dynamic}, {"sections", sections},
	{"ordered", ordered},   {"reduction", reduction},  {"task", task},         {"taskwait", taskwait},
	{"region", NULL},
};

// The batches' times, in ns per operation.
enum { MOST = 1 << 16 };
static double took[MOST];
static long batches;

static void note(double ns)
{
	took[batches++ % MOST] = ns / BATCH;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double median(void)
{
	long n = batches < MOST ? batches : MOST;
	qsort(took, (size_t)n, sizeof *took, ascending);
	return took[n / 2];
}

// team performs batches in one region until it is time. The primary thread
// decides when that is. Its decision reaches the others in an array, a new place
// for each batch, so that no construct but the mode's own is needed to tell them
// and none is in the count; they wait for it without the runtime.
static void team(void (*batch)(void), int threads, double end)
{
	static volatile long go; // batch that may be performed; -1: none is left
	static volatile long arrived[256];
	go = 0;
	memset((void *)arrived, 0, sizeof arrived);
#pragma omp parallel num_threads(threads)
	{
		int me = omp_get_thread_num();
		for (long k = 1;; k++) {
			if (me == 0) {
				for (int i = 1; i < threads; i++)
					while (__atomic_load_n(&arrived[i], __ATOMIC_ACQUIRE) < k - 1)
						;
				__atomic_store_n(&go, now() < end ? k : -1, __ATOMIC_RELEASE);
			}
			long seen;
			while ((seen = __atomic_load_n(&go, __ATOMIC_ACQUIRE)) < k && seen >= 0)
				;
			if (seen < 0)
				break;
			double begin = now();
			batch();
			if (me == 0)
				note(now() - begin);
			__atomic_store_n(&arrived[me], k, __ATOMIC_RELEASE);
		}
	}
}

static void regions(int threads, double end)
{
	for (double t = now(); t < end;) {
		double begin = t;
		region(threads);
		t = now();
		note(t - begin);
	}
}

int main(void)
{
	char line[128], name[32];
	int threads;
	double ms;

	omp_set_dynamic(0);
	omp_init_lock(&lock);
	region(2); // the runtime and its threads start
	printf("ready\n");
	fflush(stdout);
	while (fgets(line, sizeof line, stdin)) {
		const struct mode *m = NULL;
		if (sscanf(line, "%31s %d %lf", name, &threads, &ms) != 3 || threads < 1 || threads > 256)
			return 2;
		for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
			if (!strcmp(modes[i].name, name))
				m = &modes[i];
		if (!m)
			return 2;
		batches = 0;
		double end = now() + ms * 1e6;
		if (m->batch)
			team(m->batch, threads, end);
		else
			regions(threads, end);
		printf("%.3f %ld\n", median(), batches * BATCH);
		fflush(stdout);
	}
	return 0;
}
