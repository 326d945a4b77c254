// mpi_flood.c: many more hits per second than a ring holds, in OpenMP and in MPI.
//
//   mpi_flood, with one rank
//
// It prints `ready` and works until a line comes in. The primary thread sends itself messages and
// waits for them (MPI_Waitall). After each wait there is a short parallel region. After each thousand
// waits it prints `on`. Then it prints `calm`, waits for another line, and does the same once more.
#include <mpi.h>
#include <poll.h>
#include <stdio.h>

enum { MESSAGES = 4 };

static int from[MESSAGES], to[MESSAGES], sum;

static void exchange(void)
{
	MPI_Request r[2 * MESSAGES];

	for (int i = 0; i < MESSAGES; i++) {
		MPI_Irecv(&to[i], 1, MPI_INT, 0, i, MPI_COMM_WORLD, &r[i]);
		MPI_Isend(&from[i], 1, MPI_INT, 0, i, MPI_COMM_WORLD, &r[MESSAGES + i]);
	}
	MPI_Waitall(2 * MESSAGES, r, MPI_STATUSES_IGNORE);
#pragma omp parallel reduction(+ : sum)
	sum++;
}

int main(int argc, char **argv)
{
	struct pollfd in = {.fd = 0, .events = POLLIN};
	int waits = 0, level;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
	puts("ready");
	fflush(stdout);
	while (!poll(&in, 1, 0))
		for (int n = 0; n < 100; n++) {
			exchange();
			if (++waits % 1000 == 0) {
				puts("on");
				fflush(stdout);
			}
		}
	for (int c = 0; c != '\n' && c != EOF;)
		c = getchar();
	puts("calm");
	fflush(stdout);
	getchar();
	exchange();
	printf("%d\n", sum > 0);
	return MPI_Finalize();
}
