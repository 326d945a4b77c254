// Time that is spent on known lines. In a parallel loop each iteration does ten
// equal units of work: five on the line marked FIVE, three on THREE, two on TWO,
// through functions that call each other. Then each thread does one unit per
// round in a critical (line INSIDE), and thread 0 one more (line LATE) while
// the others wait at a barrier. Arguments: rounds (default 40), units per
// iteration's tenth (default 400000 steps).
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static long steps = 400000;
static volatile unsigned long sink;

// Each step depends on the last, and no compiler may make one of several.
#define WORK(n) for (long i = 0; i < (n) * steps; i++) { x = x * 2862933555777941757UL + 3037000493UL; __asm__("" : "+r"(x)); }

static __attribute__((noinline)) unsigned long two(unsigned long x)
{
	WORK(2); // TWO
	return x;
}

static __attribute__((noinline)) unsigned long three(unsigned long x)
{
	WORK(3); // THREE
	return two(x) + 1;
}

static inline __attribute__((always_inline)) unsigned long five(unsigned long x)
{
	WORK(5); // FIVE
	return x;
}

static __attribute__((noinline)) unsigned long all(unsigned long x)
{
	x = five(x);
	return three(x) + 1;
}

static __attribute__((noinline)) void critical(unsigned long x)
{
#pragma omp critical
	{
		WORK(1); // INSIDE
		sink += x;
	}
}

static __attribute__((noinline)) void late(unsigned long x)
{
	WORK(1); // LATE
	sink += x;
}

static __attribute__((noinline)) void loop(int rounds)
{
#pragma omp parallel for schedule(static)
	for (int r = 0; r < rounds; r++)
		sink += all(r);
}

static __attribute__((noinline)) void wait(int rounds)
{
#pragma omp parallel
	for (int r = 0; r < rounds; r++) {
		critical(r);
		if (omp_get_thread_num() == 0)
			late(r);
#pragma omp barrier
	}
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 40;
	if (argc > 2)
		steps = atol(argv[2]);
	loop(rounds);
	wait(rounds);
	printf("%d rounds of %ld steps on %d threads\n", rounds, steps, omp_get_max_threads());
	return 0;
}
