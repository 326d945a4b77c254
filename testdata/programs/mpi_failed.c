// mpi_failed.c: a call that returns an error, between calls that do not.
//
//   mpi_failed send|receive [MESSAGES=10], with two ranks
//
// Rank 1 sends MESSAGES messages to rank 0, twice. In between, a send fails before there is a
// message, or a receive fails that takes one: its buffer is too short. Rank 1 comes late each time.
// It prints `failed N`: how many calls failed in both ranks.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int rank, sends = argc > 1 && !strcmp(argv[1], "send"), n = argc > 2 ? atoi(argv[2]) : 10;
	int four[4] = {0}, failed = 0, all = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	for (int i = 0; i < 2 * n; i++) {
		if (rank == 0) {
			if (i == n && !sends)
				failed += MPI_Recv(four, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE) != MPI_SUCCESS;
			MPI_Recv(four, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			continue;
		}
		if (i == n && sends)
			failed += MPI_Send(four, -1, MPI_INT, 0, 3, MPI_COMM_WORLD) != MPI_SUCCESS;
		if (i == n && !sends)
			MPI_Send(four, 4, MPI_INT, 0, 3, MPI_COMM_WORLD);
		usleep(2000);
		MPI_Send(four, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
	}
	MPI_Reduce(&failed, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("failed %d\n", all);
	return MPI_Finalize();
}
