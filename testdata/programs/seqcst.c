/* Atomic writes and reads: some are exchanges or fences, others plain moves.
 * Behind //= stands how often all threads together execute the construct. */
#include <omp.h>

#define N 2000
static int now, later, last[N];

int main(void)
{
#pragma omp parallel for
	for (int i = 0; i < N; i++) {
#pragma omp atomic write seq_cst //= 2000
		now = i;
#pragma omp atomic write //= 2000
		later = i;
#pragma omp atomic read //= 2000
		last[i] = now;
	}
	return last[0] < 0 || later < 0;
}
