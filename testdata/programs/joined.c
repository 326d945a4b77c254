// joined.c: parallel regions whose body is one worksharing construct that is a directive of its own.
// GCC joins the two to one call of libgomp from -O2 on, and leaves the construct its end.
#include <stdio.h>

enum { ROUNDS = 50 };

static volatile double sink[128];

static __attribute__((noinline)) void work(int at, int n)
{
	for (int i = 0; i < n; i++)
		sink[at * 16] += i;
}

static __attribute__((noinline)) void sections(int n)
{
#pragma omp parallel
	{
#pragma omp sections
		{
#pragma omp section
			work(0, n);
#pragma omp section
			work(1, 2 * n);
#pragma omp section
			work(2, n);
		}
	}
}

static __attribute__((noinline)) void loop(int n)
{
#pragma omp parallel
	{
#pragma omp for schedule(dynamic)
		for (int i = 0; i < 8; i++)
			work(i % 4, n);
	}
}

int main(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		sections(20000);
		loop(10000);
	}
	printf("%d rounds\n", ROUNDS);
	return 0;
}
