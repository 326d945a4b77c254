// Messages between two ranks whose threads communicate at once, or compute meanwhile.
//
//	hybrid ERROR LEAST SAMPLES SECONDS TARGET BYTES,BYTES,...
//	ompp-attach: hybrid THREADS COMMUNICATING BYTES NODES WHERE OVERSUBSCRIBED SAMPLES...
#include "sample.h"
#include "place.h"
#include <omp.h>

static int rank, threads, level;
static volatile int done; // of the threads that communicate

static void compute_until_done(int communicating)
{
	volatile double x = 1;

	while (done < communicating)
		for (int i = 0; i < 1000; i++)
			x = x * 1.0000001;
}

static void round_trips(char *buffer, int bytes, int thread, int n)
{
	for (int i = 0; i < n; i++) {
		if (rank == 0) {
			MPI_Send(buffer, bytes, MPI_BYTE, 1, thread, MPI_COMM_WORLD);
			MPI_Recv(buffer, bytes, MPI_BYTE, 1, thread, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		} else {
			MPI_Recv(buffer, bytes, MPI_BYTE, 0, thread, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			MPI_Send(buffer, bytes, MPI_BYTE, 0, thread, MPI_COMM_WORLD);
		}
	}
}

// timed is half of the time in which each communicating thread makes a round trip.
static double timed(int bytes, int communicating, int n)
{
	double began = 0, ended = 0;

	done = 0;
	MPI_Barrier(MPI_COMM_WORLD);
#pragma omp parallel num_threads(threads)
	{
		int thread = omp_get_thread_num();
		char *buffer = calloc(bytes + 1, 1);

#pragma omp barrier
#pragma omp master
		began = now();
		if (thread < communicating) {
			round_trips(buffer, bytes, thread, n);
#pragma omp critical
			{
				ended = now();
				done++;
			}
		} else {
			compute_until_done(communicating);
		}
		free(buffer);
	}
	return (ended - began) / n / 2;
}

static void measure(int bytes, int communicating, const char *place, int nodes, int over)
{
	int inner = 1, n = 0, stop = 0;
	double start = now();

	timed(bytes, communicating, 2);
	for (int more = 1; more; ) {
		more = timed(bytes, communicating, inner) * 2 * inner < rule.target && inner < 1 << 20;
		MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
		if (more)
			inner *= 2;
	}
	while (!stop) {
		sample[n++] = timed(bytes, communicating, inner);
		stop = enough(n, start);
		MPI_Bcast(&stop, 1, MPI_INT, 0, MPI_COMM_WORLD);
	}
	if (rank == 0) {
		printf("ompp-attach: hybrid %d %d %d %d %s %d", threads, communicating, bytes, nodes, place, over);
		write_samples(n);
	}
}

int main(int argc, char **argv)
{
	int ranks, nodes, over;
	const char *place;

	if (argc != 7)
		return 2;
	rule_of(argv);
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (ranks != 2)
		MPI_Abort(MPI_COMM_WORLD, 3);
#pragma omp parallel
#pragma omp critical
	{
		threads = omp_get_num_threads();
		allow(); // the runtime may have bound each thread to a CPU
	}
	MPI_Bcast(&threads, 1, MPI_INT, 0, MPI_COMM_WORLD);
	place = where(MPI_COMM_WORLD, threads, &nodes, &over);
	if (rank == 0)
		write_library(level);
	for (const char *s = argv[6]; s != NULL && *s; s = strchr(s, ',') ? strchr(s, ',') + 1 : NULL) {
		measure(atoi(s), 1, place, nodes, over);
		if (level == MPI_THREAD_MULTIPLE && threads > 1)
			measure(atoi(s), threads, place, nodes, over);
	}
	MPI_Finalize();
	return 0;
}
