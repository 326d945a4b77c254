/* Atomics and flushes that make no call. Behind //= stands how often all
 * threads together execute the construct. */
#include <omp.h>

#define N 2000
static int count, last[N];
static long total;
static double sum;
static unsigned char bits;
static volatile int flag;

int main(void)
{
	int taken = 0;
#pragma omp parallel
	{
#pragma omp for
		for (int i = 0; i < N; i++) {
#pragma omp atomic //= 2000
			count++;
#pragma omp atomic //= 2000
			sum += i * 0.5;
			if (i % 2)
#pragma omp atomic //= 1000
				total -= i;
		}
#pragma omp for
		for (int i = 0; i < N; i++) {
			int old;
#pragma omp atomic capture //= 2000
			old = count++;
			last[i] = old;
#pragma omp atomic //= 2000
			bits |= 1 << i % 8;
#pragma omp atomic //= 2000
			sum *= 1.0000001;
			flag = i;
#pragma omp flush //= 2000
			taken = flag;
		}
	}
	return count != 2 * N || taken < 0;
}
