// emptyloops.c: worksharing constructs without a barrier, each followed by a loop that has one but no
// iterations. Clang's code makes no call for such a loop, but that of the barrier.
//
//   emptyloops REPS N Z
//
// REPS times a region with 7 pairs, 3 loops with a barrier, and a loop before an explicit barrier.
// N > 0 and Z are the numbers of iterations of the first and of the second loop of each pair. With
// Z = 0, per thread: LOOP 9 REPS, of which 3 REPS have a barrier; SECTIONS REPS, SINGLE REPS, BARRIER
// 8 REPS. With Z > 0: LOOP 16 REPS, of which 10 REPS have a barrier; BARRIER REPS.
#include <stdlib.h>

static int a[1000];

__attribute__((noinline)) static void own(int n)
{
#pragma omp for nowait
	for (int i = 0; i < n; i++)
		a[i]++;
}

#define TWICE(n, z) \
	_Pragma("omp for nowait") \
	for (int i = 0; i < n; i++) \
		a[i]++; \
	_Pragma("omp for") \
	for (int i = 0; i < z; i++) \
		a[i]--;

__attribute__((noinline)) static void region(int n, int z)
{
#pragma omp parallel
	{
#pragma omp for nowait
		for (int i = 0; i < n; i++)
			a[i]++;
#pragma omp for
		for (int i = 0; i < z; i++)
			a[i]--;
#pragma omp for
		for (int i = 0; i < n; i++)
			a[i]++;
#pragma omp for nowait schedule(dynamic, 50)
		for (int i = 0; i < n; i++)
			a[i]++;
#pragma omp for schedule(dynamic)
		for (int i = 0; i < z; i++)
			a[i]--;
		own(n);
#pragma omp for schedule(guided)
		for (int i = 0; i < z; i++)
			a[i]--;
		TWICE(n, z)
#pragma omp for schedule(dynamic, 50)
		for (int i = 0; i < n; i++)
			a[i]++;
#pragma omp sections nowait
		{
			a[1]++;
#pragma omp section
			a[2]++;
		}
#pragma omp for
		for (int i = 0; i < z; i++)
			a[i]--;
#pragma omp single nowait
		a[3]++;
#pragma omp for
		for (int i = 0; i < z; i++)
			a[i]--;
		own(n);
#pragma omp barrier
#pragma omp for
		for (int i = 0; i < n; i++)
			a[i]++;
#pragma omp for nowait
		for (int i = 0; i < n; i++)
			a[i]++;
#pragma omp for schedule(static, 3)
		for (int i = 0; i < z; i++)
			a[i]--;
	}
}

int main(int argc, char **argv)
{
	for (int r = atoi(argv[1]); r > 0; r--)
		region(atoi(argv[2]), atoi(argv[3]));
	return argc > 4;
}
