// crash.c: dies by SIGSEGV inside a parallel region, after N whole ones.
//
//   crash [N=3]
//
// In each region every thread passes one critical; in the last one thread 0
// writes to address 0 after the team's barrier.
#include <omp.h>
#include <stdlib.h>

static long sum;
static int *volatile nowhere;

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 3;
	for (int i = 0; i <= n; i++) {
#pragma omp parallel
		{
#pragma omp critical
			{
				sum++;
			}
#pragma omp barrier
			if (i == n && omp_get_thread_num() == 0)
				*nowhere = 1;
		}
	}
	return 0;
}
