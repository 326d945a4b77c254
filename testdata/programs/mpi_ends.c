// mpi_ends.c: jobs that end otherwise than by MPI_Finalize.
//
//   mpi_ends abort     the last rank calls MPI_Abort(3), others wait for it
//   mpi_ends early     the last rank exits with status 4 before MPI_Init (MPICH's
//                      others wait for it forever)
//   mpi_ends crash     the last rank is killed by a segmentation fault
//   mpi_ends exit      all exit with status 5 without MPI_Finalize
//   mpi_ends echo      rank 0 prints its standard input; status 0
//
// Each rank sends itself 80 bytes first, three times.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The launchers' names for the rank and the number of ranks.
static int told(const char *openmpi, const char *mpich)
{
	const char *s = getenv(openmpi);
	if (!s)
		s = getenv(mpich);
	return s ? atoi(s) : 0;
}

int main(int argc, char **argv)
{
	MPI_Comm W = MPI_COMM_WORLD;
	double a[10] = {0}, b[10];
	int me, np;
	const char *mode = argc > 1 ? argv[1] : "";
	int last = told("OMPI_COMM_WORLD_RANK", "PMI_RANK") == told("OMPI_COMM_WORLD_SIZE", "PMI_SIZE") - 1;
	if (!strcmp(mode, "early") && last)
		return 4;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(W, &me);
	MPI_Comm_size(W, &np);
	for (int i = 0; i < 3; i++)
		MPI_Sendrecv(a, 10, MPI_DOUBLE, me, 1, b, 10, MPI_DOUBLE, me, 1, W, MPI_STATUS_IGNORE);
	if (!strcmp(mode, "echo")) {
		for (int c; me == 0 && (c = getchar()) != EOF;)
			putchar(c);
		MPI_Finalize();
		return 0;
	}
	MPI_Barrier(W);
	if (!strcmp(mode, "exit"))
		exit(5);
	if (last && !strcmp(mode, "crash"))
		raise(SIGSEGV);
	if (last && !strcmp(mode, "abort"))
		MPI_Abort(W, 3);
	MPI_Barrier(W);
	MPI_Finalize();
	return 0;
}
