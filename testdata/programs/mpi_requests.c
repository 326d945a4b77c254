// mpi_requests.c: requests whose handles the library gives again after a test.
//
//   mpi_requests [ROUNDS=10], with two ranks
//
// Rank 0 receives by MPI_Irecv, and tests until the message has come. Then other calls make requests:
// MPI_Comm_idup, and MPI_Recv_init. It prints `again N M`: how often these had the handle of the
// request before.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int a, b;

/* Receives a message, and returns the handle that its request had. */
static MPI_Request receive(int tag)
{
	MPI_Request q, was;
	int done = 0;

	MPI_Irecv(&b, 1, MPI_INT, 1, tag, MPI_COMM_WORLD, &q);
	was = q;
	while (!done)
		MPI_Test(&q, &done, MPI_STATUS_IGNORE);
	return was;
}

int main(int argc, char **argv)
{
	int rank, rounds = argc > 1 ? atoi(argv[1]) : 10, again[2] = {0, 0};

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < rounds; i++) {
		MPI_Request q, was = MPI_REQUEST_NULL;
		MPI_Comm copy;

		if (rank == 0)
			was = receive(1);
		else
			MPI_Send(&a, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
		MPI_Comm_idup(MPI_COMM_WORLD, &copy, &q);
		again[0] += rank == 0 && q == was;
		MPI_Wait(&q, MPI_STATUS_IGNORE);
		MPI_Comm_free(&copy);
		if (rank == 0) {
			was = receive(2);
			MPI_Recv_init(&b, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, &q);
			again[1] += q == was;
			MPI_Wait(&q, MPI_STATUS_IGNORE); /* nothing has been started */
			MPI_Start(&q);
			MPI_Wait(&q, MPI_STATUS_IGNORE);
			MPI_Request_free(&q);
		} else {
			MPI_Send(&a, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
			MPI_Send(&a, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
		}
	}
	if (rank == 0)
		printf("again %d %d\n", again[0], again[1]);
	MPI_Finalize();
	return 0;
}
