// amdahl.c: a region that does not scale, by a known part.
//
//   OMP_NUM_THREADS=N amdahl [MS=80]
//
// Each thread works 8/N units of MS, then one of them works 1 more in a single, for which the others
// wait: t_par = 8/N + 1. Work is sleep, so that no core per thread is needed. Prints "region NS" and
// "work NS" by its own clock: the region's wall time, and the work of all threads.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long unit = 80;

static long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

static long work(long ms)
{
	long begin = now();
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};
	nanosleep(&t, NULL);
	return now() - begin;
}

int main(int argc, char **argv)
{
	long all = 0, begin;
	if (argc > 1)
		unit = atol(argv[1]);
#pragma omp parallel
	; // the threads start here
	begin = now();
#pragma omp parallel reduction(+ : all)
	{
		all += work(8 * unit / omp_get_num_threads());
#pragma omp single
		all += work(unit);
	}
	printf("region %ld\nwork %ld\n", now() - begin, all);
	return 0;
}
