/* Two static loops in which every thread waits 20 ms for each of its number + 1,
 * 5 times; the second loop has no barrier. */
#include <omp.h>
#include <time.h>

static void rest(int n)
{
	struct timespec t = {0, 20000000L * n};
	nanosleep(&t, 0);
}

int main(void)
{
	int n = omp_get_max_threads();
#pragma omp parallel
	for (int r = 0; r < 5; r++) {
#pragma omp for
		for (int i = 0; i < n; i++)
			rest(i + 1);
#pragma omp for nowait
		for (int i = 0; i < n; i++)
			rest(i + 1);
#pragma omp barrier
	}
	return 0;
}
