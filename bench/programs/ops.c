// ops.c: what one OpenMP operation costs.
//
//   ops MODE THREADS
//   MODE: critical, lock, barrier, region
//
// For each line "MS" on standard input it performs operations for about MS
// milliseconds, in batches, and prints the nanoseconds per operation of the
// median batch: a thread that loses its core now and then does not count. An
// operation is one critical or lock entered and left, one barrier passed, one
// parallel region. Criticals and locks are free: one thread, no waiting.
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

// barriers: the region around them is not measured. The primary thread decides
// when it is time; all read its decision after the barrier that follows it.
static void barriers(int threads, double end)
{
	int stop = 0;
#pragma omp parallel num_threads(threads)
	{
		int mine = 0;
		while (!mine) {
			double begin = now();
			for (int i = 0; i < BATCH; i++) {
#pragma omp barrier
			}
			if (omp_get_thread_num() == 0) {
				double t = now();
				note(t - begin);
#pragma omp atomic write
				stop = t >= end;
			}
#pragma omp barrier
#pragma omp atomic read
			mine = stop;
#pragma omp barrier
		}
	}
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
		double t = now(), end = t + atof(line) * 1e6;
		batches = 0;
		if (!strcmp(mode, "barrier"))
			barriers(threads, end);
		while (t < end && strcmp(mode, "barrier")) {
			double begin = t;
			if (!strcmp(mode, "critical"))
				critical();
			else if (!strcmp(mode, "lock"))
				locks();
			else
				region(threads);
			t = now();
			note(t - begin);
		}
		printf("%.3f\n", median());
		fflush(stdout);
	}
	return 0;
}
