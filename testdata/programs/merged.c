// merged.c: three loops of the same bounds in one region, of which GCC makes one from -O1 on.
#include <stdio.h>

#define N 200000
static double a[N], b[N], c[N];

int main(void)
{
	for (int k = 0; k < 20; k++) {
#pragma omp parallel
		{
#pragma omp for nowait
			for (int i = 0; i < N; i++)
				a[i] += i;
#pragma omp for nowait
			for (int i = 0; i < N; i++)
				b[i] += 2 * i;
#pragma omp for
			for (int i = 0; i < N; i++)
				c[i] += 3 * i;
		}
	}
	printf("%g\n", a[3] + b[4] + c[5]);
	return 0;
}
