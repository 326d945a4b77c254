// exits.c: calls exit(3) inside a parallel region, after N whole ones.
//
//   exits [N=3] [THREAD=0] [_exit]
//
// In each region every thread passes one critical; in the last one thread
// THREAD ends the process after the team's barrier, with a third argument by
// _exit, which runs no destructors.
#include <omp.h>
#include <stdlib.h>
#include <unistd.h>

static long sum;

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 3;
	int thread = argc > 2 ? atoi(argv[2]) : 0;
	for (int i = 0; i <= n; i++) {
#pragma omp parallel
		{
#pragma omp critical
			{
				sum++;
			}
#pragma omp barrier
			if (i == n && omp_get_thread_num() == thread) {
				if (argc > 3)
					_exit(3);
				exit(3);
			}
		}
	}
	return 0;
}
