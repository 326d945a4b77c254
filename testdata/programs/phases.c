// Phases: quiet, a storm of one construct, quiet again. Each thread counts what
// it executes, phase by phase.
// phases KIND WORK QUIET STORM SETTLE. KIND is the storm's construct (critical, lock,
// barrier, task, region). WORK is the number of steps of work between two. The others
// are the phases' lengths in seconds. The last quiet phase is as long as the first.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX = 64 };
static struct { long n; char pad[120]; } counts[MAX];
static long sum, check;

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

// work computes in registers: a loop that stores and loads what it counts was seen
// to need up to twice its time for a while after each trap (Intel).
static void work(long steps)
{
	unsigned long x = 1;
	for (long i = 0; i < steps; i++) {
		x = x * 3 + 1;
		__asm__ volatile("" : "+r"(x));
	}
}

static void nap(void)
{
	struct timespec t = {0, 10 * 1000 * 1000};
	nanosleep(&t, 0);
}

static void told(const char *phase)
{
	long all = 0;
	printf("%s", phase);
	for (int i = 0; i < omp_get_max_threads(); i++) {
		printf(" %ld", counts[i].n);
		all += counts[i].n;
		counts[i].n = 0;
	}
	printf("\n");
	check += all;
}

static void first(double until)
{
	while (now() < until) {
#pragma omp parallel
		for (int i = 0; i < 5; i++) {
#pragma omp critical
			sum++; // first
			counts[omp_get_thread_num()].n++;
		}
		nap();
	}
}

static void settle(double until)
{
	while (now() < until) {
#pragma omp parallel
		for (int i = 0; i < 6; i++) {
#pragma omp critical
			sum++; // settle
			counts[omp_get_thread_num()].n++;
		}
		nap();
	}
}

static void last(double until)
{
	while (now() < until) {
#pragma omp parallel
		for (int i = 0; i < 7; i++) {
#pragma omp critical
			sum++; // last
			counts[omp_get_thread_num()].n++;
		}
		nap();
	}
}

static void storm(const char *kind, long steps, double until)
{
	enum { BATCH = 64 };
	if (!strcmp(kind, "critical")) {
#pragma omp parallel
		while (now() < until)
			for (int i = 0; i < BATCH; i++) {
				work(steps);
#pragma omp critical
				sum++; // storm
				counts[omp_get_thread_num()].n++;
			}
	} else if (!strcmp(kind, "lock")) {
#pragma omp parallel
		{
			omp_lock_t own;
			long mine = 0;
			omp_init_lock(&own);
			while (now() < until)
				for (int i = 0; i < BATCH; i++) {
					work(steps);
					omp_set_lock(&own); // storm
					mine++;
					omp_unset_lock(&own);
				}
			omp_destroy_lock(&own);
			counts[omp_get_thread_num()].n = mine;
#pragma omp atomic
			sum += mine;
		}
	} else if (!strcmp(kind, "barrier")) {
		long rounds = 0;
		int over = 0;
#pragma omp parallel
		for (;;) {
#pragma omp single
			over = now() >= until;
			if (over)
				break;
			for (int i = 0; i < BATCH; i++) {
				work(steps);
#pragma omp barrier // storm
				counts[omp_get_thread_num()].n++;
			}
#pragma omp atomic
			rounds += BATCH;
		}
		sum += rounds;
	} else if (!strcmp(kind, "task")) {
		while (now() < until) {
#pragma omp parallel
#pragma omp single
			for (int i = 0; i < 20 * BATCH; i++) {
#pragma omp task // storm
				{
					work(steps);
#pragma omp atomic
					sum++;
				}
				counts[0].n++;
			}
		}
	} else if (!strcmp(kind, "region")) {
		while (now() < until) {
#pragma omp parallel // storm
			{
				work(steps);
				counts[omp_get_thread_num()].n++;
#pragma omp atomic
				sum++;
			}
		}
	}
}

int main(int argc, char **argv)
{
	if (argc < 6)
		return 2;
	const char *kind = argv[1];
	long steps = atol(argv[2]);
	double quiet = atof(argv[3]), length = atof(argv[4]), after = atof(argv[5]);
	first(now() + quiet);
	told("first");
	storm(kind, steps, now() + length);
	told("storm");
	settle(now() + after);
	told("settle");
	last(now() + quiet);
	told("last");
	if (sum != check) {
		printf("wrong: %ld of %ld\n", sum, check);
		return 1;
	}
	return 0;
}
