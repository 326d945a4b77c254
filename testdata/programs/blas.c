// blas.c N [wait]: calls of OpenBLAS: N times dgemm, 100 N times ddot, N times dgesv. With a second
// argument it first waits for a line on its standard input. It writes the numbers of calls.
#include <stdio.h>
#include <stdlib.h>

enum { SIZE = 60 };
double ddot_(int *, double *, int *, double *, int *);
void dgemm_(char *, char *, int *, int *, int *, double *, double *, int *, double *, int *, double *, double *, int *);
void dgesv_(int *, int *, double *, int *, int *, double *, int *, int *);

int main(int argc, char **argv)
{
	int n = atoi(argv[1]), size = SIZE, one = 1, eight = 8, pivots[SIZE], info;
	static double a[SIZE * SIZE], b[SIZE * SIZE], c[SIZE * SIZE];
	double alpha = 1, beta = 0, sum = 0;
	char no = 'N';
	if (argc > 2)
		getchar();
	for (int i = 0; i < n; i++) {
		for (int k = 0; k < SIZE * SIZE; k++) {
			a[k] = rand() / 1e9;
			b[k] = a[k] + 1;
		}
		dgemm_(&no, &no, &size, &size, &size, &alpha, a, &size, b, &size, &beta, c, &size);
		for (int k = 0; k < 100; k++)
			sum += ddot_(&eight, a, &one, b, &one);
		dgesv_(&size, &one, a, &size, pivots, b, &size, &info);
	}
	printf("dgemm_ %d\nddot_ %d\ndgesv_ %d\n", n, 100 * n, n);
	return sum == 0;
}
