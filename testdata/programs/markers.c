// markers.c: the markers of ompp.h.
//
//   markers [STEPS=5]
//
// Regions by markers, nested, in inlined functions, in parallel regions, left
// without an end; then measuring is switched off and on, outside a parallel
// region and by one thread inside. What has to be counted is in main's comments.
// Prints nanoseconds: `least N` and `most N`, between which measuring was off,
// and `main N`, the time in main.
#include "ompp.h"
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static volatile long sink;

static long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

static inline void inner(int n)
{
	ompp_begin("inner work");
	for (int i = 0; i < n; i++)
		sink += i;
	ompp_end("inner work");
}

__attribute__((noinline)) static void step(void)
{
#pragma omp parallel num_threads(2)
	{
#pragma omp critical
		sink++;
	}
}

int main(int argc, char **argv)
{
	int steps = argc > 1 ? atoi(argv[1]) : 5;
	long begin = now(), least = 0, most = 0;
	ompp_begin("all");               // 1
	inner(10);                       // inner work: 1
	for (int i = 0; i < steps; i++) {
		ompp_begin("step");      // STEPS, one of them without its end
#pragma omp parallel num_threads(2)
		{
			inner(100);      // inner work: 2 * STEPS
		}
		if (i == 1)
			continue;
		ompp_end("step");
	}
	most -= now();
	ompp_off();
	least -= now();
	inner(10);
	for (int i = 0; i < 100; i++)
		step();                  // 0
	usleep(500000);
	ompp_off();                      // it is off
	least += now();
	ompp_on();
	most += now();
	for (int i = 0; i < steps; i++)
		step();                  // parallel, critical: STEPS per thread
	ompp_end("all");
#pragma omp parallel num_threads(2)
	{
#pragma omp barrier
#pragma omp master
		{
			most -= now();
			ompp_off();
			least -= now();
		}
#pragma omp barrier
#pragma omp critical
		sink++;                  // 0
#pragma omp barrier
#pragma omp master
		{
			least += now();
			ompp_on();
			most += now();
		}
	}
	for (int i = 0; i < steps; i++)
		step();                  // STEPS per thread again
	printf("least %ld\nmost %ld\nmain %ld\n", least, most, now() - begin);
	return 0;
}
