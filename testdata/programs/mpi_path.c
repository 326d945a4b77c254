// mpi_path.c: three ranks that work one after the other, so that the critical path is known.
//
//   mpi_path [ROUNDS=6] [MS=20]
//
// In round r, rank r % 3 works, and sends a message to the next rank. That one works, and sends a
// message to the third rank. In odd rounds, the first message is taken by MPI_Irecv and MPI_Wait, and
// the second one is sent by MPI_Ssend. At the end of each round, all meet.
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

static void work(long ms)
{
	struct timespec t = {0, ms * 1000000L};
	nanosleep(&t, NULL);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 6, rank, data = 0;
	long ms = argc > 2 ? atol(argv[2]) : 20;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int r = 0; r < rounds; r++) {
		int next = (rank + 1) % 3, before = (rank + 2) % 3;
		MPI_Request q;
		switch ((rank + 3 - r % 3) % 3) {
		case 0:
			work(2 * ms);
			MPI_Send(&data, 1, MPI_INT, next, r, MPI_COMM_WORLD);
			break;
		case 1:
			if (r % 2) {
				MPI_Irecv(&data, 1, MPI_INT, before, r, MPI_COMM_WORLD, &q);
				MPI_Wait(&q, MPI_STATUS_IGNORE);
			} else {
				MPI_Recv(&data, 1, MPI_INT, before, r, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			}
			work(ms);
			if (r % 2)
				MPI_Ssend(&data, 1, MPI_INT, next, r, MPI_COMM_WORLD);
			else
				MPI_Send(&data, 1, MPI_INT, next, r, MPI_COMM_WORLD);
			break;
		default:
			MPI_Recv(&data, 1, MPI_INT, before, r, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		}
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
