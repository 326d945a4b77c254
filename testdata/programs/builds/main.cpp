// main.cpp: program of several parts, to be built in every odd way.
//
//   builds [REPS=3]
//
// one() runs REPS times, two() twice as often, tail() three times. A directive
// whose comment has an @ is executed by every thread as often as the parts run
// that the comment names.
#include <cstdio>
#include <cstdlib>
#include <omp.h>

#include "helper.h"

long sum;

int main(int argc, char **argv)
{
	int reps = argc > 1 ? atoi(argv[1]) : 3;
	long threads = omp_get_max_threads();
	for (int i = 0; i < reps; i++) {
		one(1);
		two(1);
		two(1);
		tail(1);
		tail(1);
		tail(1);
	}
	// two: its loop adds n + 1 once.
	long want = reps * (2 * threads + 2 * (2 + threads) + 3 * threads);
	printf("%ld\n", sum);
	return sum != want;
}
