// ops.c: what one OpenMP operation costs.
//
//   ops MODE THREADS
//   MODE: critical, lock, barrier, region
//
// For each line "MS" on standard input it performs operations for about MS
// milliseconds and prints the nanoseconds per operation. An operation is one
// critical or lock entered and left, one barrier passed, one parallel region.
// Criticals and locks are free: one thread, no waiting.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCH = 50 };

static long count;
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

// barriers returns ns per barrier: the region around them is not measured. The
// primary thread decides when it is time; all read its decision after the
// barrier that follows it.
static double barriers(int threads, double end)
{
	double begin = 0, last = 0;
	long n = 0;
	int stop = 0;
#pragma omp parallel num_threads(threads)
	{
		int mine = 0;
#pragma omp barrier
		if (omp_get_thread_num() == 0)
			begin = now();
		while (!mine) {
			for (int i = 0; i < BATCH - 2; i++) {
#pragma omp barrier
			}
			if (omp_get_thread_num() == 0) {
				n += BATCH;
				last = now();
#pragma omp atomic write
				stop = last >= end;
			}
#pragma omp barrier
#pragma omp atomic read
			mine = stop;
#pragma omp barrier
		}
	}
	return (last - begin) / (double)n;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "critical";
	int threads = argc > 2 ? atoi(argv[2]) : 1;
	char line[64];

	omp_set_dynamic(0);
	omp_init_lock(&lock);
	region(threads); // the runtime and its threads start
	printf("ready\n");
	fflush(stdout);
	while (fgets(line, sizeof line, stdin)) {
		double begin = now(), end = begin + atof(line) * 1e6, t = begin;
		long n = 0;
		if (!strcmp(mode, "barrier")) {
			printf("%.3f\n", barriers(threads, end));
			fflush(stdout);
			continue;
		}
		while (t < end) {
			if (!strcmp(mode, "critical"))
				critical();
			else if (!strcmp(mode, "lock"))
				locks();
			else
				region(threads);
			n += BATCH;
			t = now();
		}
		printf("%.3f\n", (t - begin) / (double)n);
		fflush(stdout);
	}
	return 0;
}
