// The time of MPI operations, by the methods of SKaMPI and the Intel MPI benchmarks. The code is
// our own.
//
//	mpi ERROR LEAST SAMPLES SECONDS TARGET pair CPU CPU BYTES,BYTES,...
//	mpi ERROR LEAST SAMPLES SECONDS TARGET all BYTES,BYTES,...
//
// `pair` is for two ranks, bound to these CPUs: messages between them. `all` is for any number: the
// collective operations, and messages between the first rank and one on another node.
//
//	ompp-attach: mpi OPERATION BYTES PROCESSES NODES WHERE OVERSUBSCRIBED SAMPLES...
//	ompp-attach: eager WHERE BYTES WAITS
#include "sample.h"
#include "place.h"

enum { WINDOW = 32, LARGEST = 16 << 20 };

static MPI_Comm comm; // of the ranks that take part
static int rank, ranks;
static char *from, *to; // LARGEST bytes each

#include "messages.h"
#include "collectives.h"

// An operation is executed n times. It returns the time of one, in ns; what counts is the longest
// of all ranks.
struct operation {
	const char *name;
	double (*timed)(long bytes, int n);
	long least; // bytes that it needs; -1: it has no bytes
	int blocks; // a block of bytes per rank
};

static const struct operation messages[] = {
	{"MPI_Send", ping_pong, 0, 0},
	{"MPI_Sendrecv", exchange, 0, 0},
	{"MPI_Isend", stream, 0, 0},
	{NULL, NULL, 0, 0},
};

static const struct operation collectives[] = {
	{"MPI_Barrier", barrier, -1, 0},
	{"MPI_Bcast", bcast, 0, 0},
	{"MPI_Reduce", reduce, sizeof(double), 0},
	{"MPI_Allreduce", allreduce, sizeof(double), 0},
	{"MPI_Scan", scan, sizeof(double), 0},
	{"MPI_Gather", gather, 0, 1},
	{"MPI_Scatter", scatter, 0, 1},
	{"MPI_Allgather", allgather, 0, 1},
	{"MPI_Alltoall", alltoall, 0, 1},
	{NULL, NULL, 0, 0},
};

// longest is the longest time of all ranks, which all get.
static double longest(const struct operation *op, long bytes, int n)
{
	double own, all;

	MPI_Barrier(comm);
	own = op->timed(bytes, n);
	MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_MAX, comm);
	return all;
}

static void measure(const struct operation *op, long bytes, const char *place, int nodes, int over)
{
	int inner = 1, n = 0, stop = 0;
	double began = now(), least;

	longest(op, bytes, 2); // connects, warms caches
	for (;; inner *= 2) {
		least = longest(op, bytes, inner);
		for (int i = 0; i < 2; i++) {
			double t = longest(op, bytes, inner);

			if (t < least)
				least = t;
		}
		if (least * inner >= rule.target || inner >= 1 << 20)
			break;
	}
	while (!stop) {
		sample[n++] = longest(op, bytes, inner);
		stop = rank == 0 && enough(n, began);
		MPI_Bcast(&stop, 1, MPI_INT, 0, comm);
	}
	if (rank == 0) {
		printf("ompp-attach: mpi %s %ld %d %d %s %d", op->name, bytes < 0 ? 0 : bytes, ranks, nodes, place, over);
		write_samples(n);
	}
}

// measure_all measures operations with each of the lengths.
static void measure_all(const struct operation *op, const char *lengths)
{
	int nodes, over;
	const char *place = where(comm, 1, &nodes, &over);

	for (; op->name != NULL; op++) {
		if (op->least < 0) {
			measure(op, -1, place, nodes, over);
			continue;
		}
		for (const char *s = lengths; s != NULL && *s; s = strchr(s, ',') ? strchr(s, ',') + 1 : NULL) {
			long bytes = atol(s);

			if (bytes >= op->least && bytes * (op->blocks ? ranks : 1) <= LARGEST)
				measure(op, bytes, place, nodes, over);
		}
	}
}

// bind_to binds the calling rank to a CPU, if there is one with this number.
static void bind_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	if (cpu >= 0 && cpu < CPU_SETSIZE) {
		CPU_SET(cpu, &set);
		sched_setaffinity(0, sizeof set, &set);
	}
}

static void take_part(MPI_Comm c)
{
	comm = c;
	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &ranks);
}

// across measures messages between the first rank and the first one on another node,
// if there is one.
static void across(const char *lengths)
{
	struct place own = place_of(MPI_COMM_WORLD);
	MPI_Comm two;
	int other = own.node != 0 ? rank : ranks, first;

	MPI_Allreduce(&other, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	if (first == ranks)
		return;
	MPI_Comm_split(MPI_COMM_WORLD, rank == 0 || rank == first ? 0 : MPI_UNDEFINED, rank, &two);
	if (two != MPI_COMM_NULL) {
		take_part(two);
		measure_all(messages, lengths);
		write_eager();
		MPI_Comm_free(&two);
	}
	take_part(MPI_COMM_WORLD);
	MPI_Barrier(comm);
}

int main(int argc, char **argv)
{
	int level, pair = argc == 10 && strcmp(argv[6], "pair") == 0;

	if (!pair && argc != 8)
		return 2;
	rule_of(argv);
	MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &level);
	take_part(MPI_COMM_WORLD);
	from = malloc(LARGEST);
	to = malloc(LARGEST);
	if (from == NULL || to == NULL || (pair && ranks != 2))
		MPI_Abort(comm, 3);
	if (pair)
		bind_to(atoi(argv[7 + rank])); // before the memory is touched
	allow();
	memset(from, 0, LARGEST);
	memset(to, 0, LARGEST);
	if (rank == 0)
		write_library(level);
	if (pair) {
		measure_all(messages, argv[9]);
		write_eager();
	} else {
		measure_all(collectives, argv[7]);
		across(argv[7]);
	}
	MPI_Finalize();
	return 0;
}
