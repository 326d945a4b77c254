// storm.c: one OpenMP operation, as often as it goes.
//
//   storm MODE THREADS
//   MODE: critical, lock (each thread its own), shared (one for all), barrier, task
//
// For each line "MS" on standard input it performs operations for about MS
// milliseconds, in batches, and prints the nanoseconds per operation of the
// median batch: criticals, locks and barriers per thread, tasks that one thread
// creates and all execute. Three barriers between two batches are in it.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCH = 400, MOST = 1 << 16, LINE = 16, THREADS = 64 };

static long count[THREADS * LINE], shared_count;
static omp_lock_t lock, own[THREADS * LINE];
static double took[MOST];
static long batches;

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
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

static void batch(const char *mode)
{
	int me = omp_get_thread_num() * LINE;

	if (!strcmp(mode, "critical")) {
		for (int i = 0; i < BATCH; i++) {
#pragma omp critical
			shared_count++;
		}
	} else if (!strcmp(mode, "lock")) {
		for (int i = 0; i < BATCH; i++) {
			omp_set_lock(&own[me]);
			count[me]++;
			omp_unset_lock(&own[me]);
		}
	} else if (!strcmp(mode, "shared")) {
		for (int i = 0; i < BATCH; i++) {
			omp_set_lock(&lock);
			shared_count++;
			omp_unset_lock(&lock);
		}
	} else if (!strcmp(mode, "barrier")) {
		for (int i = 0; i < BATCH; i++) {
#pragma omp barrier
		}
	} else if (me == 0) {
		for (int i = 0; i < BATCH; i++) {
#pragma omp task
			count[omp_get_thread_num() * LINE]++;
		}
#pragma omp taskwait
	}
}

static void turn(const char *mode, int threads, double ms)
{
	double last = now(), end = last + ms * 1e6;
	int stop = 0;

#pragma omp parallel num_threads(threads)
	for (int mine = 0; !mine;) {
		batch(mode);
#pragma omp barrier
		if (omp_get_thread_num() == 0) {
			double t = now();
			took[batches++ % MOST] = (t - last) / BATCH;
			last = t;
#pragma omp atomic write
			stop = t >= end;
		}
#pragma omp barrier
#pragma omp atomic read
		mine = stop;
#pragma omp barrier
	}
}

int main(int argc, char **argv)
{
	char line[64];
	int threads = argc > 2 ? atoi(argv[2]) : 1;

	if (argc < 2 || threads < 1 || threads > THREADS)
		return 2;
	omp_set_dynamic(0);
	omp_init_lock(&lock);
	for (int i = 0; i < THREADS; i++)
		omp_init_lock(&own[i * LINE]);
	turn(argv[1], threads, 1);
	printf("ready\n");
	fflush(stdout);
	while (fgets(line, sizeof line, stdin)) {
		batches = 0;
		turn(argv[1], threads, atof(line));
		printf("%.3f\n", median());
		fflush(stdout);
	}
	return 0;
}
