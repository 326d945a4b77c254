// storm.c: many short-lived threads, each with a little OpenMP.
//
//   storm [THREADS=1000] [ALIVE=16]
//
// ALIVE threads at a time. Odd ones pass one critical outside any region,
// even ones start a team of 2 whose threads pass it: CRITICAL THREADS/2 +
// 2*ceil(THREADS/2), PARALLEL ceil(THREADS/2). Checks itself.
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static long passed;

static void pass(void)
{
#pragma omp critical(storm)
	{
		passed++;
	}
}

static void *one(void *arg)
{
	if ((long)arg % 2) {
		pass();
	} else {
		omp_set_dynamic(0);
#pragma omp parallel num_threads(2)
		{
			pass();
		}
	}
	return NULL;
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1000;
	long alive = argc > 2 ? atol(argv[2]) : 16;
	pthread_t thread[256];
	if (alive < 1 || alive > 256)
		return 2;
	for (long i = 0; i < n + alive; i++) {
		if (i >= alive)
			pthread_join(thread[i % alive], NULL);
		if (i < n && pthread_create(&thread[i % alive], NULL, one, (void *)i))
			return 3;
	}
	long want = n / 2 + 2 * ((n + 1) / 2);
	if (passed != want)
		printf("%ld, want %ld\n", passed, want);
	return passed != want;
}
