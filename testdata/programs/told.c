/* Static loops right behind their region's beginning or a barrier, and what may
 * come in between. Behind //= stands how often each thread executes the
 * construct (with "master": the primary thread). No barrier is explicit. */
#include <stdio.h>
#include "ompp.h"

#define N 1000
static double a[N], b[N], c[N];
static int primary;

static void plain(void)
{
#pragma omp parallel
	{
#pragma omp for //= 3
		for (int i = 0; i < N; i++) a[i] += i;
#pragma omp for //= 3
		for (int i = 0; i < N; i++) b[i] += a[N - 1 - i];
#pragma omp for nowait //= 3
		for (int i = 0; i < N; i++) c[i] += b[N - 1 - i];
	}
}

static void masters(void)
{
#pragma omp parallel
	{
#pragma omp master //= master 3
		primary++;
#pragma omp for //= 3
		for (int i = 0; i < N; i++) a[i] += 1;
#pragma omp master //= master 3
		primary++;
#pragma omp for //= 3
		for (int i = 0; i < N; i++) b[i] += a[N - 1 - i];
	}
}

static void marked(void)
{
#pragma omp parallel
	{
		ompp_begin("marked");
#pragma omp for //= 3
		for (int i = 0; i < N; i++) a[i] += 2;
		ompp_end("marked");
#pragma omp for //= 3
		for (int i = 0; i < N; i++) b[i] += a[N - 1 - i];
	}
}

static void lines(void)
{
#pragma omp parallel
	{
#pragma omp for //= 3
		for (int i = 0; i < N; i++) a[i] += 3;
		// begin lines
#pragma omp for //= 3
		for (int i = 0; i < N; i++) b[i] += a[N - 1 - i];
		// end lines
	}
}

/* Outside of parallel regions. */
static void __attribute__((noinline)) orphans(void)
{
#pragma omp for //= master 3
	for (int i = 0; i < N; i++) a[i] += 4;
#pragma omp for //= master 3
	for (int i = 0; i < N; i++) b[i] += a[N - 1 - i];
}

/* A team of one thread. */
static void alone(void)
{
#pragma omp parallel num_threads(1)
	{
#pragma omp for //= master 3
		for (int i = 0; i < N; i++) a[i] += 5;
#pragma omp for //= master 3
		for (int i = 0; i < N; i++) b[i] += a[N - 1 - i];
	}
}

int main(void)
{
	for (int k = 0; k < 3; k++) {
		plain();
		masters();
		marked();
		lines();
		orphans();
		alone();
	}
	printf("%d %g %g\n", primary, b[N / 2], c[N / 2]);
	return 0;
}
