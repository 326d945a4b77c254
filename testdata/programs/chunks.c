/* Dynamic loops and sections in teams and in serialised regions. Their cost must not
 * grow with the number of chunks.
 *	chunks REPS ITERATIONS
 * Each function runs REPS times: a region of two threads, one that `if` makes serial,
 * and one of num_threads(1). In each of them, each thread executes a loop of ITERATIONS
 * chunks once. Prints how many iterations were executed in all. */
#include <stdio.h>
#include <stdlib.h>

static long done;
static int reps, iterations;

static void count(void)
{
#pragma omp atomic
	done++;
}

/* Keeps compilers from making one construct of a region and its loop. */
__attribute__((noinline)) static void in_region(void)
{
	__asm__ volatile("");
}

static void ints(int threads, int parallel)
{
#pragma omp parallel num_threads(threads) if(parallel)
	{
		in_region();
#pragma omp for schedule(dynamic, 1)
		for (int i = 0; i < (int)iterations; i++)
			count();
	}
}

static void unsigneds(int threads, int parallel)
{
#pragma omp parallel num_threads(threads) if(parallel)
	{
		in_region();
#pragma omp for schedule(dynamic, 1) nowait
		for (unsigned i = 0; i < (unsigned)iterations; i++)
			count();
	}
}

static void longs(int threads, int parallel)
{
#pragma omp parallel num_threads(threads) if(parallel)
	{
		in_region();
#pragma omp for schedule(guided, 1)
		for (long i = 0; i < (long)iterations; i++)
			count();
	}
}

static void ulongs(int threads, int parallel)
{
#pragma omp parallel num_threads(threads) if(parallel)
	{
		in_region();
#pragma omp for schedule(monotonic: dynamic, 1)
		for (unsigned long i = 0; i < (unsigned long)iterations; i++)
			count();
	}
}

static void runtimes(int threads, int parallel)
{
#pragma omp parallel num_threads(threads) if(parallel)
	{
		in_region();
#pragma omp for schedule(runtime)
		for (int i = 0; i < (int)iterations; i++)
			count();
	}
}

static void ordereds(int threads, int parallel)
{
#pragma omp parallel num_threads(threads) if(parallel)
	{
		in_region();
#pragma omp for ordered schedule(dynamic, 1)
		for (int i = 0; i < iterations; i++) {
#pragma omp ordered
			done++;
		}
	}
}

static void sections(int threads, int parallel)
{
#pragma omp parallel num_threads(threads) if(parallel)
	{
		in_region();
#pragma omp sections
		{
#pragma omp section
			count();
#pragma omp section
			count();
#pragma omp section
			count();
		}
	}
}

int main(int argc, char **argv)
{
	static void (*const all[])(int, int) = {ints, unsigneds, longs, ulongs, runtimes, ordereds, sections};

	reps = argc > 1 ? atoi(argv[1]) : 3;
	iterations = argc > 2 ? atoi(argv[2]) : 10;
	for (unsigned f = 0; f < sizeof(all) / sizeof(*all); f++)
		for (int r = 0; r < reps; r++) {
			all[f](2, 1);
			all[f](2, 0);
			all[f](1, 1);
		}
	printf("%ld\n", done);
	return 0;
}
