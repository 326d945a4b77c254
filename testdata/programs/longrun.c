// longrun.c: runs long enough to be attached to.
//
//   longrun [SECONDS=2] [regions|inside] [PAUSE=1000]    PAUSE in microseconds
//
// regions: repeats one iteration = a region in which every thread passes a
// critical, a loop of dynamic schedule, a barrier and a single; pauses between.
// inside: stays in one region; every thread passes a critical, then pauses.
// SIGUSR1 ends it early.
// Prints the number of iterations, for inside the criticals passed.
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static volatile sig_atomic_t enough;

static void stop(int sig)
{
	(void)sig;
	enough = 1;
}

static void nap(long us)
{
	struct timespec t = {us / 1000000, us % 1000000 * 1000};
	nanosleep(&t, NULL);
}

static long work[64], passed;

static void iteration(void)
{
#pragma omp parallel
	{
#pragma omp critical
		{
			passed++;
		}
		/* libomp lets threads steal from each other otherwise, and aborts at times
		 * (llvm-project issues 86995, 132164): by itself, and sooner when slowed down. */
#pragma omp for schedule(monotonic : dynamic, 4)
		for (int i = 0; i < 64; i++)
			work[i] += i;
#pragma omp barrier
#pragma omp single
		{
			work[0]++;
		}
	}
}

static void inside(double end, long pause)
{
#pragma omp parallel
	{
		while (now() < end && !enough) {
#pragma omp critical(inside)
			{
				passed++;
			}
			nap(pause);
		}
	}
}

int main(int argc, char **argv)
{
	double end = now() + (argc > 1 ? atof(argv[1]) : 2);
	long pause = argc > 3 ? atol(argv[3]) : 1000;
	long iterations = 0;

	signal(SIGUSR1, stop);
	if (argc > 2 && !strcmp(argv[2], "inside")) {
		inside(end, pause);
		printf("%ld\n", passed);
		return 0;
	}
	do { /* once at least: a busy machine may give no core before the end */
		iteration();
		nap(pause);
		iterations++;
	} while (now() < end && !enough);
	printf("%ld\n", iterations);
	return passed != iterations * omp_get_max_threads() || work[0] != iterations;
}
