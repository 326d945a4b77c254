// markers.c: the markers of ompp.h.
//
//   markers [STEPS=5]
//
// Regions by markers, nested, in inlined functions, in parallel regions, left
// without an end; then measuring is switched off and on, outside a parallel
// region and by one thread inside. What has to be counted is in main's comments.
// Prints `done`.
#include "ompp.h"
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile long sink;

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
	ompp_off();
	inner(10);
	for (int i = 0; i < 100; i++)
		step();                  // 0
	usleep(200000);
	ompp_off();                      // it is off
	ompp_on();
	for (int i = 0; i < steps; i++)
		step();                  // parallel, critical: STEPS per thread
	ompp_end("all");
#pragma omp parallel num_threads(2)
	{
#pragma omp barrier
#pragma omp master
		ompp_off();
#pragma omp barrier
#pragma omp critical
		sink++;                  // 0
#pragma omp barrier
#pragma omp master
		ompp_on();
	}
	for (int i = 0; i < steps; i++)
		step();                  // STEPS per thread again
	puts("done");
	return 0;
}
