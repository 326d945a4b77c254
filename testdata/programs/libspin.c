// libspin.c: shared object with one OpenMP region that computes for a given
// time, for tworuntimes.c.
#include <omp.h>
#include <time.h>

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

// spin runs one region in which every thread of the team is busy.
void spin(double seconds)
{
	double end = now() + seconds;
#pragma omp parallel
	while (now() < end)
		;
}
