// relay.c N: each thread sets a lock N times. The holder waits until the others ask for the lock, or
// are done. It writes a line "THREAD" each time, in the order in which the threads had the lock.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST = 1000 };
static int order[MOST], had;
static volatile int asks[64];

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 5;
	omp_lock_t lock;
	omp_init_lock(&lock);
#pragma omp parallel num_threads(3)
	{
		int me = omp_get_thread_num();
		for (int i = 0; i < n; i++) {
			asks[me] = 1;
			omp_set_lock(&lock);
			asks[me] = 0;
			if (had < MOST)
				order[had++] = me;
			for (int t = 0; t < omp_get_num_threads(); t++)
				while (t != me && !asks[t])
					usleep(100);
			usleep(2000);
			omp_unset_lock(&lock);
		}
		asks[me] = 2; // done
	}
	for (int i = 0; i < had; i++)
		printf("%d\n", order[i]);
	return 0;
}
