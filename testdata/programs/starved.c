/* Threads that work for a known while, if they are given a core: a loop, critical
 * sections and barriers. Prints how long each of two threads was ready to run without
 * one, by the kernel's account, and how long the first was before main. */
#define _GNU_SOURCE
#include <omp.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static long long waited[2];
static volatile long sum;

static void work(double seconds)
{
	struct timespec t;
	double end;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	end = t.tv_sec + 1e-9 * t.tv_nsec + seconds;
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	while (t.tv_sec + 1e-9 * t.tv_nsec < end);
}

static long long account(void)
{
	unsigned long long ran;
	long long sofar;
	char name[64];
	FILE *f;

	snprintf(name, sizeof(name), "/proc/self/task/%d/schedstat", gettid());
	f = fopen(name, "r");
	if (!f || fscanf(f, "%llu %lld", &ran, &sofar) != 2)
		sofar = -1;
	if (f)
		fclose(f);
	return sofar;
}

int main(void)
{
	long long first = account();
	int i, r;

	for (r = 0; r < 10; r++) {
#pragma omp parallel num_threads(2)
		{
			int k;
#pragma omp for schedule(dynamic)
			for (i = 0; i < 10; i++)
				work(0.001);
			for (k = 0; k < 1000; k++) {
#pragma omp critical
				sum++;
			}
#pragma omp barrier
			work(0.002);
		}
	}
#pragma omp parallel num_threads(2)
	waited[omp_get_thread_num()] = account();
	printf("%lld %lld %lld\n", waited[0], waited[1], first);
	return 0;
}
