/* Solves a linear system on a 2 x 2 grid of processes: ScaLAPACK on PBLAS on BLACS on MPI. Debian's
 * libscalapack holds the first three. The functions have no header. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

void Cblacs_pinfo(int *me, int *all);
void Cblacs_get(int context, int what, int *value);
void Cblacs_gridinit(int *context, const char *order, int rows, int columns);
void Cblacs_gridinfo(int context, int *rows, int *columns, int *row, int *column);
void Cblacs_barrier(int context, const char *scope);
void Cblacs_gridexit(int context);
void Cdgsum2d(int context, const char *scope, const char *top, int m, int n, double *a, int lda, int row, int column);
int numroc_(const int *n, const int *block, const int *me, const int *first, const int *all);
void descinit_(int *desc, const int *m, const int *n, const int *mb, const int *nb, const int *row, const int *column, const int *context,
	       const int *lld, int *info);
void pdgesv_(const int *n, const int *nrhs, double *a, const int *ia, const int *ja, const int *desca, int *pivots, double *b, const int *ib,
	     const int *jb, const int *descb, int *info);

int main(int argc, char **argv)
{
	int me, all, context, rows = 2, columns = 2, row, column, info, zero = 0, one = 1;
	int n = argc > 1 ? atoi(argv[1]) : 64, block = 8, turns = argc > 2 ? atoi(argv[2]) : 3;
	double sum = 0;

	MPI_Init(&argc, &argv);
	Cblacs_pinfo(&me, &all);
	Cblacs_get(-1, 0, &context);
	Cblacs_gridinit(&context, "Row", rows, columns);
	Cblacs_gridinfo(context, &rows, &columns, &row, &column);
	int m = numroc_(&n, &block, &row, &zero, &rows), k = numroc_(&n, &block, &column, &zero, &columns), lld = m > 1 ? m : 1;
	double *a = malloc(sizeof(double) * m * k), *b = malloc(sizeof(double) * m * k);
	int *pivots = malloc(sizeof(int) * (m + block)), desc[9];
	descinit_(desc, &n, &n, &block, &block, &zero, &zero, &context, &lld, &info);
	for (int turn = 0; turn < turns; turn++) {
		srand(7 + me);
		for (int i = 0; i < m * k; i++) {
			a[i] = rand() / (double)RAND_MAX;
			b[i] = 1;
		}
		pdgesv_(&n, &one, a, &one, &one, desc, pivots, b, &one, &one, desc, &info);
		sum += b[0];
		Cdgsum2d(context, "All", " ", 1, 1, &sum, 1, -1, -1);
		Cblacs_barrier(context, "All");
	}
	if (me == 0)
		printf("%s\n", info == 0 ? "solved" : "not solved");
	Cblacs_gridexit(context);
	MPI_Finalize();
	return 0;
}
