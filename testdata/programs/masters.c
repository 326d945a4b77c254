// masters.c: several initial threads that start teams of their own at once.
//
//   masters [PTHREADS=3] [REPS=100]
//
// Thread p = 0..PTHREADS-1 starts teams of p+2 threads. In each of REPS
// regions every thread passes one critical and one barrier: CRITICAL and
// BARRIER REPS*(p+2) per p. Checks itself.
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int reps = 100;
static pthread_barrier_t start;
static long passed[64];

static void *teams(void *arg)
{
	long p = (long)arg;
	omp_set_dynamic(0);
	pthread_barrier_wait(&start);
	for (int r = 0; r < reps; r++) {
#pragma omp parallel num_threads((int)p + 2)
		{
			// One critical section for the whole program, not per team.
#pragma omp critical
			{
				passed[p]++;
			}
#pragma omp barrier
		}
	}
	return NULL;
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 3;
	pthread_t thread[64];
	if (argc > 2)
		reps = atoi(argv[2]);
	if (n < 1 || n > 64)
		return 2;
	pthread_barrier_init(&start, NULL, (unsigned)n);
	for (long p = 0; p < n; p++)
		pthread_create(&thread[p], NULL, teams, (void *)p);
	for (long p = 0; p < n; p++) {
		pthread_join(thread[p], NULL);
		if (passed[p] != reps * (p + 2)) {
			printf("master %ld: %ld, want %ld\n", p, passed[p], reps * (p + 2));
			return 1;
		}
	}
	return 0;
}
