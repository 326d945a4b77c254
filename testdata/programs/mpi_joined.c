// mpi_joined.c: ranks that wait for each other, in rounds, until a file is there. A tool may attach
// to each rank at any moment.
//
//   mpi_joined FILE [MS=10], with three ranks
//
// In each round a rank comes late to a barrier, another one to a reduction, and one to a message on
// a communicator that is made anew. There are messages on MPI_COMM_WORLD, too: one for which a rank
// waits, one that is received in the next round, and one whose request the next round waits for.
// Each rank notes the time just before and just after its calls, by the clock that all ranks of a
// node share. At the end it writes to FILE.RANK, tab-separated:
//
//   PATTERN ROUND RANK ROLE LINE BEFORE AFTER     ns
//
// Before, rank 0 prints a line for each round.
//
// ROLE is w for a call that waits, l for a call that others wait for, b for both.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct note {
	const char *pattern;
	int round, line;
	char role;
	long before, after;
};

static struct note *notes;
static int count, room, rank, round_now;
static long ms = 10;

static long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void late(void)
{
	struct timespec t = {0, ms * 1000000L};
	nanosleep(&t, NULL);
}

static void note(const char *pattern, char role, int round, int line, long before)
{
	struct note n = {pattern, round, line, role, before, now()};
	if (count == room)
		notes = realloc(notes, (room = 2 * room + 1024) * sizeof(*notes));
	notes[count++] = n;
}

/* A call that is noted. It must stand in one line. */
#define CALL_OF(round, pattern, role, call) do { long before = now(); call; note(pattern, role, round, __LINE__, before); } while (0)
#define CALL(pattern, role, call) CALL_OF(round_now, pattern, role, call)

int main(int argc, char **argv)
{
	int a = 1, b = 0, stop = 0;
	MPI_Request none[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL}, q = MPI_REQUEST_NULL;
	MPI_Status st[2];
	char path[4096];
	FILE *f;
	MPI_Comm pair; /* ranks 0 and 1, and rank 2 */

	if (argc > 2)
		ms = atol(argv[2]);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (; !stop; round_now++) {
		if (rank == 0)
			puts("round");
		fflush(stdout);
		if (rank == round_now % 3)
			late();
		CALL("barrier", 'b', MPI_Barrier(MPI_COMM_WORLD));
		if (rank == (round_now + 1) % 3)
			late();
		CALL("n x n", 'b', MPI_Allreduce(&a, &b, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
		if (rank == 2) {
			CALL("asked", 'l', MPI_Send(&a, 1, MPI_INT, 0, 1, MPI_COMM_WORLD));
			late();
			CALL("older", 'l', MPI_Send(&a, 1, MPI_INT, 1, 1, MPI_COMM_WORLD));
			CALL("ahead", 'l', MPI_Send(&a, 1, MPI_INT, 1, 2, MPI_COMM_WORLD));
		} else if (rank == 1) {
			if (round_now > 0)
				CALL_OF(round_now - 1, "ahead", 'w', MPI_Recv(&b, 1, MPI_INT, 2, 2, MPI_COMM_WORLD, st));
			CALL("older", 'w', MPI_Recv(&b, 1, MPI_INT, 2, 1, MPI_COMM_WORLD, st));
		} else {
			if (q != MPI_REQUEST_NULL)
				MPI_Wait(&q, st);
			CALL("asked", 'l', MPI_Irecv(&b, 1, MPI_INT, 2, 1, MPI_COMM_WORLD, &q));
		}
		CALL("split", 'b', MPI_Comm_split(MPI_COMM_WORLD, rank / 2, 0, &pair));
		if (rank == 1) {
			late();
			CALL("late sender", 'l', MPI_Send(&a, 1, MPI_INT, 0, 1, pair));
		} else if (rank == 0) {
			CALL("late sender", 'w', MPI_Recv(&b, 1, MPI_INT, 1, 1, pair, st));
		}
		MPI_Comm_free(&pair);
		MPI_Waitall(2, none, st);
		if (rank == 0) {
			late();
			stop = access(argv[1], F_OK) == 0;
		}
		CALL("broadcast", rank ? 'w' : 'l', MPI_Bcast(&stop, 1, MPI_INT, 0, MPI_COMM_WORLD));
	}
	if (rank == 0)
		MPI_Wait(&q, st);
	if (rank == 1)
		CALL_OF(round_now - 1, "ahead", 'w', MPI_Recv(&b, 1, MPI_INT, 2, 2, MPI_COMM_WORLD, st));
	MPI_Finalize();
	snprintf(path, sizeof(path), "%s.%d", argv[1], rank);
	if (!(f = fopen(path, "w")))
		return 1;
	for (int i = 0; i < count; i++)
		fprintf(f, "%s\t%d\t%d\t%c\t%d\t%ld\t%ld\n", notes[i].pattern, notes[i].round, rank, notes[i].role, notes[i].line, notes[i].before, notes[i].after);
	return fclose(f) != 0;
}
