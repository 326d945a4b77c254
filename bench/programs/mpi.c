// mpi.c: what one MPI operation costs.
//
//   mpi
//
// Input and output as of ops.c; MODE is rank, iprobe, test, sendrecv or
// allreduce, THREADS means nothing. One process, so that calls take as little time
// as they can: sendrecv is a message to itself: MPI_Irecv, MPI_Send, MPI_Wait.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCH = 50, MOST = 1 << 16 };

static double took[MOST];
static long batches;
static int in[16], out[16];

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double median(void)
{
	long n = batches < MOST ? batches : MOST;
	qsort(took, (size_t)n, sizeof *took, ascending);
	return took[n / 2];
}

static void operation(const char *mode)
{
	MPI_Request request = MPI_REQUEST_NULL;
	int flag;

	switch (mode[0]) {
	case 'r':
		MPI_Comm_rank(MPI_COMM_SELF, &flag);
		break;
	case 'i':
		MPI_Iprobe(0, 1, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
		break;
	case 't':
		MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
		break;
	case 's':
		MPI_Irecv(in, 16, MPI_INT, 0, 2, MPI_COMM_SELF, &request);
		MPI_Send(out, 16, MPI_INT, 0, 2, MPI_COMM_SELF);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		break;
	case 'a':
		MPI_Allreduce(out, in, 16, MPI_INT, MPI_SUM, MPI_COMM_SELF);
		break;
	}
}

int main(int argc, char **argv)
{
	char line[128], mode[32];
	int threads;
	double ms;

	MPI_Init(&argc, &argv);
	operation("sendrecv");
	printf("ready\n");
	fflush(stdout);
	while (fgets(line, sizeof line, stdin)) {
		if (sscanf(line, "%31s %d %lf", mode, &threads, &ms) != 3)
			return 2;
		double t = now(), end = t + ms * 1e6;
		batches = 0;
		while (t < end) {
			double begin = t;
			for (int i = 0; i < BATCH; i++)
				operation(mode);
			t = now();
			took[batches++ % MOST] = (t - begin) / BATCH;
		}
		printf("%.3f %ld\n", median(), batches * BATCH);
		fflush(stdout);
	}
	MPI_Finalize();
	return 0;
}
