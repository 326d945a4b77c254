/* alternatives.c: loops that are executed one instead of another, of whose barriers GCC makes one
 * call. A comment names each loop.
 *   alternatives N TILE   0: without tiles */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	size_t n = argc > 1 ? atoi(argv[1]) : 128, i, j, it, jt;
	int tile = argc > 2 ? atoi(argv[2]) : 32, tiled = tile > 0;
	if (!tiled)
		tile = n;
	double *a = malloc(n * n * sizeof *a), *b = malloc(n * n * sizeof *b);
#pragma omp parallel private(i, j, it, jt)
	{
		if (omp_get_thread_num() == 0 && n == 77)
			puts("77");
		if (tiled) {
#if COLLAPSE
#pragma omp for collapse(2)
#else
#pragma omp for // tiled
#endif
			for (j = 0; j < n; j += tile)
				for (i = 0; i < n; i += tile)
					for (jt = j; jt < j + tile; jt++)
						for (it = i; it < i + tile; it++) {
							a[it + n * jt] = (double)(n * jt + it);
							b[it + n * jt] = 0;
						}
		} else {
#pragma omp for // plain
			for (j = 0; j < n; j++)
				for (i = 0; i < n; i++) {
					a[i + n * j] = (double)(n * j + i);
					b[i + n * j] = 0;
				}
		}
		for (int k = 0; k < 5; k++) {
#pragma omp for // both
			for (j = 0; j < n; j++)
				for (i = 0; i < n; i++)
					b[j + n * i] += a[i + n * j];
		}
	}
	printf("%g\n", b[n + 3]);
	return 0;
}
