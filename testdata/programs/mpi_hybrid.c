// mpi_hybrid.c: MPI calls from OpenMP threads.
//
//   mpi_hybrid MODE [N=10]
//
// critical  Fig. 6 of Fürlinger and Moore: N times a region in which each thread
//           sends 1 MiB in a critical section, from even ranks to the next odd
//           one, whose initial thread receives them all (an even number of ranks)
// master    N exchanges of 800 bytes around a ring by the master thread
// single    the same by whoever comes first
// tasks     N tasks a rank that each send 8 bytes to their own rank
// multiple  each thread exchanges N times 80 bytes with the thread of its number
//           on the next rank, all at the same time
// funneled  N exchanges of 800 bytes outside of regions, regions between them
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEGABYTE = 1 << 20 };

static int me, np, next, prev, n = 10;
static double a[100], b[100];
static MPI_Comm W = MPI_COMM_WORLD;

static void critical(void)
{
	static char block[MEGABYTE];
	int team = 1;
#pragma omp parallel
#pragma omp single
	team = omp_get_num_threads();
	if (me % 2) {
		for (int i = 0; i < n * team; i++)
			MPI_Recv(block, MEGABYTE, MPI_CHAR, prev, 1, W, MPI_STATUS_IGNORE);
		return;
	}
	for (int i = 0; i < n; i++) {
#pragma omp parallel
		{
#pragma omp critical
			{
				MPI_Send(block, MEGABYTE, MPI_CHAR, next, 1, W);
			}
		}
	}
}

static void exchange(void)
{
	MPI_Sendrecv(a, 100, MPI_DOUBLE, next, 2, b, 100, MPI_DOUBLE, prev, 2, W, MPI_STATUS_IGNORE);
}

static void master(void)
{
#pragma omp parallel
	for (int i = 0; i < n; i++) {
#pragma omp master
		exchange();
#pragma omp barrier
	}
}

static void single(void)
{
#pragma omp parallel
	for (int i = 0; i < n; i++) {
#pragma omp single
		exchange();
	}
}

static void tasks(void)
{
	double *x = calloc((size_t)n, sizeof *x), *y = calloc((size_t)n, sizeof *y);
	MPI_Request *q = calloc((size_t)n, sizeof *q);
	for (int i = 0; i < n; i++)
		MPI_Irecv(y + i, 1, MPI_DOUBLE, me, i, W, q + i);
#pragma omp parallel
#pragma omp single
	for (int i = 0; i < n; i++) {
#pragma omp task
		MPI_Send(x + i, 1, MPI_DOUBLE, me, i, W);
	}
	MPI_Waitall(n, q, MPI_STATUSES_IGNORE);
	free(x);
	free(y);
	free(q);
}

static void multiple(void)
{
#pragma omp parallel
	{
		double x[10], y[10] = {0};
		int t = omp_get_thread_num();
		for (int i = 0; i < n; i++) {
			MPI_Sendrecv(y, 10, MPI_DOUBLE, next, t, x, 10, MPI_DOUBLE, prev, t, W, MPI_STATUS_IGNORE);
		}
	}
}

static void funneled(void)
{
	for (int i = 0; i < n; i++) {
		exchange();
#pragma omp parallel for
		for (int k = 0; k < 100; k++)
			a[k] = b[k] + 1;
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int level;
		void (*run)(void);
	} modes[] = {
		{"critical", MPI_THREAD_SERIALIZED, critical}, {"master", MPI_THREAD_FUNNELED, master},
		{"single", MPI_THREAD_SERIALIZED, single},     {"tasks", MPI_THREAD_MULTIPLE, tasks},
		{"multiple", MPI_THREAD_MULTIPLE, multiple},   {"funneled", MPI_THREAD_FUNNELED, funneled},
	};
	if (argc > 2)
		n = atoi(argv[2]);
	for (unsigned i = 0; argc > 1 && i < sizeof modes / sizeof *modes; i++) {
		if (strcmp(argv[1], modes[i].name))
			continue;
		int level;
		MPI_Init_thread(&argc, &argv, modes[i].level, &level);
		if (level < modes[i].level) {
			fprintf(stderr, "MPI has not this thread level\n");
			MPI_Abort(W, 1);
		}
		MPI_Comm_rank(W, &me);
		MPI_Comm_size(W, &np);
		next = (me + 1) % np;
		prev = (me + np - 1) % np;
		modes[i].run();
		MPI_Finalize();
		return 0;
	}
	fprintf(stderr, "mpi_hybrid: no such mode\n");
	return 2;
}
