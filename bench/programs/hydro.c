// hydro.c: the hydrodynamics code of testdata as a mini-app: 30 parallel regions of some 10 us in a
// time step, the shape of LULESH.
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static double result;
static void keep_result(const char *format, double seconds, int regions, double least)
{
	(void)format, (void)seconds, (void)regions;
	result = least;
}

#define main hydro_main
#define printf keep_result
#include "../../testdata/programs/hydro.c"
#undef main
#undef printf
#include "app.h"

static double expected;

static double work(void)
{
	char *argv[] = {"hydro", "500", "20000"};
	hydro_main(3, argv);
	for (int i = 0; i < n; i++)
		result += a[i] + b[i] + c[i];
	free(a), free(b), free(c);
	return result;
}

// setup lets one thread do the same: elements do not depend on who computes them.
static void setup(void)
{
	int threads = omp_get_max_threads();
	omp_set_num_threads(1);
	expected = work();
	omp_set_num_threads(threads);
}

static int right(double sum) { return fabs(sum - expected) <= 1e-9 * fabs(expected); }
