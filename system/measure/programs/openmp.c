// The cost of OpenMP constructs is measured by the method of EPCC's benchmarks. It is the time of
// work with a construct, less the time of the same work without the construct. The code is our own.
//
//	openmp ERROR LEAST SAMPLES SECONDS TARGET
//	openmp list
//
// One team size per run: that of OMP_NUM_THREADS. A line per test:
//
//	ompp-attach: openmp TEST THREADS REFERENCE SAMPLES...
#include "sample.h"
#include <omp.h>

static int threads;     // of a team
static int delay_steps; // of delay: some 100 ns

// delay is the work: the compiler cannot shorten it.
static __attribute__((noinline)) void delay(void)
{
	volatile int x;

	for (int i = 0; i < delay_steps; i++)
		x = i;
	(void)x;
}

static void calibrate(void)
{
	double best = 1e9;

	delay_steps = 1000;
	for (int i = 0; i < 100; i++) {
		double t = now();

		delay();
		t = now() - t;
		if (t > 0 && t < best)
			best = t;
	}
	delay_steps = (int)(100 * delay_steps / best) + 1;
}

// The references. Their loops do the work of n executions: by one thread, by each thread, by all
// together, by the primary thread of a team.

static void alone(int n)
{
	for (int i = 0; i < n; i++)
		delay();
}

static void each(int n)
{
#pragma omp parallel
	for (int i = 0; i < n; i++)
		delay();
}

static void together(int n)
{
#pragma omp parallel
	for (int i = 0; i < n / threads; i++)
		delay();
}

// The others wait at the end of the region.
static void primary(int n)
{
#pragma omp parallel
	for (int i = 0; i < n; i++)
		if (omp_get_thread_num() == 0)
			delay();
}

#include "constructs.h"
#include "tasks.h"

// A test compares two functions. per is the number of executions in a step of with.
struct test {
	const char *name;
	void (*without)(int n), (*with)(int n);
	int per;
};

static const struct test tests[] = {
	{"parallel", alone, in_parallel, 1},
	{"parallel private", alone, with_private, 1},
	{"parallel firstprivate", alone, with_firstprivate, 1},
	{"parallel copyin", alone, with_copyin, 1},
	{"parallel loop", alone, in_parallel_loop, 1},
	{"loop static", each, in_static, 1},
	{"loop static,1", each, in_static_1, 1},
	{"loop dynamic,1", each, in_dynamic, 1},
	{"loop guided", each, in_guided, 1},
	{"loop chunk of static,1", each_chunk, chunks_static, CHUNKS},
	{"loop chunk of dynamic,1", each_chunk, chunks_dynamic, CHUNKS},
	{"sections", each, in_sections, 1},
	{"single", each, in_single, 1},
	{"single copyprivate", each, with_copyprivate, 1},
	{"master", primary, in_master, 1},
	{"critical", primary, in_critical, 1},
	{"critical free", primary, in_critical_free, 1},
	{"ordered", primary, in_ordered, 1},
	{"lock", primary, in_lock, 1},
	{"lock free", each, in_lock_free, 1},
	{"nest lock", primary, in_nest_lock, 1},
	{"barrier", each, at_barrier, 1},
	{"atomic", primary_adds, in_atomic, 1},
	{"atomic free", each_adds, in_atomic_free, 1},
	{"flush", each, at_flush, 1},
	{"reduction", in_parallel, with_reduction, 1},
	{"task", each, creates_tasks, 1},
	{"task one", together, creates_for_all, 1},
	{"taskloop", primary, in_taskloop, 1},
	{"taskwait", each, at_taskwait, 1},
	{"taskwait task", each, at_taskwait_for_task, 1},
	{"taskgroup", each, in_taskgroup, 1},
};

static double timed(void (*f)(int), int n)
{
	double t = now();

	f(n);
	return (now() - t) / n;
}

// least is the shortest of some times: others may have had the processor during one.
static double least(void (*f)(int), int n)
{
	double least = timed(f, n);

	for (int i = 0; i < 4; i++) {
		double t = timed(f, n);

		if (t < least)
			least = t;
	}
	return least;
}

// measure takes samples in pairs, so that a change of the clock's frequency changes both.
static void measure(const struct test *t)
{
	static double reference[MOST_SAMPLES];
	int inner = threads, n = 0;
	double began = now();

	timed(t->without, inner); // starts threads, warms caches
	while (least(t->with, inner) * inner < rule.target && inner < 1 << 24)
		inner *= 2;
	do {
		double without = timed(t->without, inner), with = timed(t->with, inner);

		reference[n] = without / t->per;
		sample[n++] = (with - without) / t->per;
	} while (!enough(n, began));
	qsort(reference, n, sizeof *reference, by_value);
	printf("ompp-attach: openmp %d %d %.6g", (int)(t - tests), threads, reference[n / 2]);
	write_samples(n);
}

int main(int argc, char **argv)
{
	int number = sizeof tests / sizeof *tests;

	if (argc > 1 && strcmp(argv[1], "list") == 0) {
		for (int i = 0; i < number; i++)
			printf("ompp-attach: test %s\n", tests[i].name);
		return 0;
	}
	if (argc != 6)
		return 2;
	rule_of(argv);
#pragma omp parallel
#pragma omp single
	threads = omp_get_num_threads();
	calibrate();
	prepare();
	for (double began = now(); now() - began < 1e8;) // the kernel spreads the threads over the CPUs
		each(1000);
	for (int i = 0; i < number; i++)
		measure(&tests[i]);
	return 0;
}
