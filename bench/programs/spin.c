// spin.c: what sampling costs a thread that works.
//
//   spin FRAMES
//
// For each line "spin 1 MS" on standard input it works for about MS milliseconds, below
// FRAMES calls of 200 bytes of stack each. It prints the mean nanoseconds of its
// processor time per unit of work, and the number of units. Interrupts are part of
// that time. What other processes take is not.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <omp.h>

static volatile unsigned long sink;
static long units;

static double now(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double spin(double ms)
{
	unsigned long x = 1;
	units = 0;
	double begin = now(CLOCK_THREAD_CPUTIME_ID), end = begin + ms * 1e6, at;
	do {
		for (int i = 0; i < 10000; i++) {
			x = x * 2862933555777941757UL + 3037000493UL;
			__asm__("" : "+r"(x));
		}
		units++;
		at = now(CLOCK_THREAD_CPUTIME_ID);
	} while (at < end);
	sink = x;
	return (at - begin) / (double)units;
}

static __attribute__((noinline)) double below(int frames, double ms)
{
	volatile char room[200];
	room[frames % 200] = 1;
	double r = frames > 1 ? below(frames - 1, ms) : spin(ms);
	return r + 0 * room[0];
}

int main(int argc, char **argv)
{
	double ms, result = 0;
	int frames = argc > 1 ? atoi(argv[1]) : 1;
	omp_set_num_threads(1);
	puts("ready");
	fflush(stdout);
	while (scanf("%*s %*d %lf", &ms) == 1) {
#pragma omp parallel
		result = below(frames, ms);
		printf("%f %ld\n", result, units);
		fflush(stdout);
	}
	return 0;
}
