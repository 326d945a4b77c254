// messages.c N: rank 0 sends N pairs of numbered messages to rank 1, the first of each pair with tag
// 1, the second with tag 2. Rank 1 receives the second one first. Every other first message is taken
// by a nonblocking receive. Rank 1 sends an answer to every pair, and rank 0 receives it from any
// source. Each rank writes a line per message, in the order of its calls: "RANK sent NUMBER" or
// "RANK received NUMBER". A nonblocking receive's message is "RANK taken NUMBER".
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int me, n = argc > 1 ? atoi(argv[1]) : 10;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	for (int i = 0; i < n; i++) {
		int first = 3 * i, second = 3 * i + 1, answer = 3 * i + 2;
		if (me == 0) {
			MPI_Send(&first, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
			printf("%d sent %d\n", me, first);
			usleep(i % 3 * 1000);
			MPI_Ssend(&second, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
			printf("%d sent %d\n", me, second);
			MPI_Recv(&answer, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			printf("%d received %d\n", me, answer);
		} else if (me == 1) {
			int a = -1, b = -1;
			MPI_Request q;
			if (i % 2)
				MPI_Irecv(&a, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &q);
			MPI_Recv(&b, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			printf("%d received %d\n", me, b);
			if (i % 2)
				MPI_Wait(&q, MPI_STATUS_IGNORE);
			else
				MPI_Recv(&a, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			printf("%d %s %d\n", me, i % 2 ? "taken" : "received", a);
			MPI_Send(&answer, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
			printf("%d sent %d\n", me, answer);
		}
	}
	fflush(stdout);
	MPI_Finalize();
	return 0;
}
