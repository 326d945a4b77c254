/* Constructs that are entered so often that probes take a good part of the time,
 * each with some work of its own. Prints how long each part took by the
 * program's own clock, in ns: critical, lock, barrier, region, loop, task. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void work(int n)
{
	for (int i = 0; i < n; i++)
		__asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 20000, w = argc > 2 ? atoi(argv[2]) : 4000;
	omp_lock_t lock[64];
	long at[7];

	for (int i = 0; i < 64; i++)
		omp_init_lock(&lock[i]);
#pragma omp parallel
	work(w);
	at[0] = now();
#pragma omp parallel
	for (int i = 0; i < n / omp_get_num_threads(); i++) {
		work(w);
#pragma omp critical
		work(w / 4);
	}
	at[1] = now();
#pragma omp parallel
	for (int i = 0; i < n; i++) {
		omp_set_lock(&lock[omp_get_thread_num() % 64]);
		work(w);
		omp_unset_lock(&lock[omp_get_thread_num() % 64]);
	}
	at[2] = now();
#pragma omp parallel
	for (int i = 0; i < n / 2; i++) {
		work(w);
#pragma omp barrier
	}
	at[3] = now();
	for (int i = 0; i < n / 2; i++) {
#pragma omp parallel
		work(w);
	}
	at[4] = now();
#pragma omp parallel
	for (int i = 0; i < n / 4; i++) {
#pragma omp for schedule(dynamic, 1)
		for (int k = 0; k < 4; k++)
			work(w);
	}
	at[5] = now();
#pragma omp parallel
#pragma omp single
	for (int i = 0; i < n / 2; i++) {
#pragma omp task
		work(w);
	}
	at[6] = now();
	for (int i = 0; i < 6; i++)
		printf("%ld%c", at[i + 1] - at[i], i < 5 ? ' ' : '\n');
	return 0;
}
