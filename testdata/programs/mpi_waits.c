// mpi_waits.c: ranks that wait for each other, by patterns of which the program knows the waits.
//
//   mpi_waits [ROUNDS=5] [MS=20], with three ranks
//
// In each pattern some ranks come late, by sleeping. Each rank notes the time just before and just
// after its call, by the clock that all ranks of a node share. It prints, tab-separated:
//
//   PATTERN ROUND RANK ROLE LINE BEFORE AFTER     ns
//
// ROLE is w for a call that waits, l for a call that others wait for, b for both.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST = 4096 };

static struct note {
	const char *pattern;
	int round, line;
	char role;
	long before, after;
} notes[MOST];
static int count, rank, round_now;
static long ms = 20;

static long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void late(int n)
{
	struct timespec t = {0, n * ms * 1000000L};
	nanosleep(&t, NULL);
}

static void note(const char *pattern, char role, int line, long before)
{
	struct note n = {pattern, round_now, line, role, before, now()};
	if (count < MOST)
		notes[count++] = n;
}

/* A call that is noted. It must stand in one line. */
#define CALL(pattern, role, call) do { long before = now(); call; note(pattern, role, __LINE__, before); } while (0)

static int a, b, c, out[8], counts[] = {1, 1}, places[] = {0, 1};
static MPI_Request q[2];
static MPI_Status st[2];
static MPI_Comm pair; /* ranks 0 and 1 */

/* Rank 2 sends first, and rank 1 when told to: each call completes one request. */
static void some(void)
{
	int n, which[2];

	if (rank == 0) {
		MPI_Irecv(&b, 1, MPI_INT, 1, 11, MPI_COMM_WORLD, &q[0]);
		MPI_Irecv(&c, 1, MPI_INT, 2, 11, MPI_COMM_WORLD, &q[1]);
		CALL("waitsome", 'w', MPI_Waitsome(2, q, &n, which, st));
		MPI_Send(&a, 1, MPI_INT, 1, 12, MPI_COMM_WORLD);
		CALL("waitsome, rest", 'w', MPI_Waitsome(2, q, &n, which, st));
		MPI_Irecv(&b, 1, MPI_INT, 1, 13, MPI_COMM_WORLD, &q[0]);
		MPI_Irecv(&c, 1, MPI_INT, 2, 13, MPI_COMM_WORLD, &q[1]);
		CALL("waitany", 'w', MPI_Waitany(2, q, &n, st));
		MPI_Send(&a, 1, MPI_INT, 1, 14, MPI_COMM_WORLD);
		CALL("waitany, rest", 'w', MPI_Waitany(2, q, &n, st));
	} else if (rank == 1) {
		MPI_Recv(&b, 1, MPI_INT, 0, 12, MPI_COMM_WORLD, st);
		late(1);
		CALL("waitsome, rest", 'l', MPI_Send(&a, 1, MPI_INT, 0, 11, MPI_COMM_WORLD));
		MPI_Recv(&b, 1, MPI_INT, 0, 14, MPI_COMM_WORLD, st);
		late(1);
		CALL("waitany, rest", 'l', MPI_Send(&a, 1, MPI_INT, 0, 13, MPI_COMM_WORLD));
	} else {
		late(1);
		CALL("waitsome", 'l', MPI_Send(&a, 1, MPI_INT, 0, 11, MPI_COMM_WORLD));
		late(2);
		CALL("waitany", 'l', MPI_Send(&a, 1, MPI_INT, 0, 13, MPI_COMM_WORLD));
	}
	MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 0 asks for a message from any source, which rank 2 sends, and then for one of rank 1. */
static void ask(int tag, int asked)
{
	MPI_Irecv(&b, 1, MPI_INT, MPI_ANY_SOURCE, asked, MPI_COMM_WORLD, &q[0]);
	MPI_Irecv(&c, 1, MPI_INT, 1, tag, MPI_COMM_WORLD, &q[1]);
}

/* Rank 1 sends when told to. */
static void rest(int tag)
{
	if (rank == 0) {
		MPI_Send(&a, 1, MPI_INT, 1, tag, MPI_COMM_WORLD);
		MPI_Waitall(2, q, st);
	} else {
		MPI_Recv(&b, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, st);
		MPI_Send(&a, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
	}
	MPI_Barrier(MPI_COMM_WORLD);
}

static void any_source(void)
{
	MPI_Request other[] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
	MPI_Status more[2];
	int n, which[2];

	if (rank == 0) {
		ask(31, 31);
		CALL("any, wait", 'w', MPI_Wait(&q[0], st));
		rest(31);
		ask(32, MPI_ANY_TAG);
		CALL("any, waitany", 'w', MPI_Waitany(2, q, &n, st));
		rest(32);
		ask(33, 33);
		CALL("any, waitsome", 'w', MPI_Waitsome(2, q, &n, which, st));
		rest(33);
		ask(34, MPI_ANY_TAG);
		other[1] = q[0];
		CALL("any, waitall", 'w', MPI_Waitall(2, other, more));
		q[0] = MPI_REQUEST_NULL;
		rest(34);
	} else if (rank == 1) {
		for (int tag = 31; tag <= 34; tag++)
			rest(tag);
	} else {
		late(1);
		CALL("any, wait", 'l', MPI_Send(&a, 1, MPI_INT, 0, 31, MPI_COMM_WORLD));
		MPI_Barrier(MPI_COMM_WORLD);
		late(1);
		CALL("any, waitany", 'l', MPI_Send(&a, 1, MPI_INT, 0, 32, MPI_COMM_WORLD));
		MPI_Barrier(MPI_COMM_WORLD);
		late(1);
		CALL("any, waitsome", 'l', MPI_Send(&a, 1, MPI_INT, 0, 33, MPI_COMM_WORLD));
		MPI_Barrier(MPI_COMM_WORLD);
		late(1);
		CALL("any, waitall", 'l', MPI_Send(&a, 1, MPI_INT, 0, 34, MPI_COMM_WORLD));
		MPI_Barrier(MPI_COMM_WORLD);
	}
}

/* Rank 0 waits until a message is there, and receives it then. */
static void probes(void)
{
	if (rank == 0) {
		CALL("probe", 'w', MPI_Probe(1, 41, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		MPI_Recv(&b, 1, MPI_INT, 1, 41, MPI_COMM_WORLD, st);
		CALL("probe, any", 'w', MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, st));
		MPI_Recv(&b, 1, MPI_INT, st->MPI_SOURCE, st->MPI_TAG, MPI_COMM_WORLD, st);
	} else {
		late(rank);
		CALL(rank == 1 ? "probe" : "probe, any", 'l', MPI_Send(&a, 1, MPI_INT, 0, 40 + rank, MPI_COMM_WORLD));
	}
	MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 0 takes a message, and receives it later. A sender may wait until then. */
static void matched_probes(void)
{
	static int much[1 << 20]; /* is not sent before the receiver asks for it */
	MPI_Message m = MPI_MESSAGE_NULL, n = MPI_MESSAGE_NULL;
	int there = 0;

	if (rank == 0) {
		CALL("mprobe", 'w', MPI_Mprobe(1, 51, MPI_COMM_WORLD, &m, MPI_STATUS_IGNORE));
		MPI_Mrecv(&b, 1, MPI_INT, &m, MPI_STATUS_IGNORE);
		CALL("mprobe, any", 'w', MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &n, st));
		MPI_Imrecv(&b, 1, MPI_INT, &n, &q[0]);
		MPI_Wait(&q[0], st);
		MPI_Recv(&c, 1, MPI_INT, 2, 51, MPI_COMM_WORLD, st);
	} else {
		late(rank);
		CALL(rank == 1 ? "mprobe" : "mprobe, any", 'l', MPI_Send(&a, 1, MPI_INT, 0, 50 + rank, MPI_COMM_WORLD));
		if (rank == 2)
			MPI_Send(&a, 1, MPI_INT, 0, 51, MPI_COMM_WORLD);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0) {
		MPI_Mprobe(1, 53, MPI_COMM_WORLD, &m, st);
		while (!there)
			MPI_Improbe(MPI_ANY_SOURCE, 54, MPI_COMM_WORLD, &there, &n, st);
		late(1);
		CALL("taken", 'l', MPI_Mrecv(much, 1 << 20, MPI_INT, &m, st));
		MPI_Send(&a, 1, MPI_INT, 2, 55, MPI_COMM_WORLD);
		late(1);
		CALL("taken, improbe", 'l', MPI_Mrecv(much, 1 << 20, MPI_INT, &n, st));
	} else if (rank == 1) {
		CALL("taken", 'w', MPI_Send(much, 1 << 20, MPI_INT, 0, 53, MPI_COMM_WORLD));
	} else {
		MPI_Isend(much, 1 << 20, MPI_INT, 0, 54, MPI_COMM_WORLD, &q[0]);
		MPI_Recv(&b, 1, MPI_INT, 0, 55, MPI_COMM_WORLD, st);
		CALL("taken, improbe", 'w', MPI_Wait(&q[0], st));
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Mprobe(MPI_PROC_NULL, 51, MPI_COMM_WORLD, &m, st);
	MPI_Mrecv(&b, 1, MPI_INT, &m, st);
}

static void messages(void)
{
	if (rank == 1) {
		late(1);
		CALL("late sender", 'l', MPI_Send(&a, 1, MPI_INT, 0, 1, MPI_COMM_WORLD));
	} else if (rank == 0) {
		CALL("late sender", 'w', MPI_Recv(&b, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0) {
		CALL("any source", 'w', MPI_Recv(&b, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, st));
	} else if (rank == 2) {
		late(1);
		CALL("any source", 'l', MPI_Send(&a, 1, MPI_INT, 0, 2, MPI_COMM_WORLD));
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0) {
		MPI_Irecv(&b, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, &q[0]);
		MPI_Irecv(&c, 1, MPI_INT, 2, 3, MPI_COMM_WORLD, &q[1]);
		CALL("waitall", 'w', MPI_Waitall(2, q, st));
	} else {
		late(rank);
		CALL("waitall", 'l', MPI_Send(&a, 1, MPI_INT, 0, 3, MPI_COMM_WORLD));
	}
	MPI_Barrier(MPI_COMM_WORLD);
	some();
	any_source();
	probes();
	matched_probes();
	if (rank == 0) {
		CALL("late receiver", 'w', MPI_Ssend(&a, 1, MPI_INT, 1, 4, MPI_COMM_WORLD));
	} else if (rank == 1) {
		late(1);
		CALL("late receiver", 'l', MPI_Recv(&b, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0) {
		CALL("wrong order", 'w', MPI_Recv(&b, 1, MPI_INT, 1, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		MPI_Recv(&c, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else if (rank == 1) {
		MPI_Isend(&a, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, &q[0]);
		late(1);
		CALL("wrong order", 'l', MPI_Send(&a, 1, MPI_INT, 0, 6, MPI_COMM_WORLD));
		MPI_Wait(&q[0], st);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0) {
		MPI_Isend(&a, 1, MPI_INT, 1, 8, MPI_COMM_WORLD, &q[0]);
		CALL("overtaken", 'w', MPI_Ssend(&a, 1, MPI_INT, 1, 9, MPI_COMM_WORLD));
		MPI_Wait(&q[0], st);
	} else if (rank == 1) {
		late(1);
		CALL("overtaken", 'l', MPI_Recv(&b, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		MPI_Recv(&c, 1, MPI_INT, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank < 2) {
		if (rank == 1)
			late(1);
		CALL("sendrecv", 'b', MPI_Sendrecv(&a, 1, MPI_INT, 1 - rank, 7, &b, 1, MPI_INT, 1 - rank, 7, MPI_COMM_WORLD, st));
	}
	MPI_Barrier(MPI_COMM_WORLD);
}

static void collectives(void)
{
	if (rank == 2)
		late(1);
	CALL("barrier", 'b', MPI_Barrier(MPI_COMM_WORLD));
	if (rank == 1)
		late(1);
	CALL("n x n", 'b', MPI_Allreduce(&a, &b, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		late(1);
	CALL("broadcast", rank ? 'w' : 'l', MPI_Bcast(&a, 1, MPI_INT, 0, MPI_COMM_WORLD));
	MPI_Barrier(MPI_COMM_WORLD);
	late(rank);
	CALL("reduce", rank ? 'l' : 'w', MPI_Reduce(&a, &b, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		late(1);
	CALL("scan", 'b', MPI_Scan(&a, &b, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 2)
		late(1);
	CALL("nonblocking", 'l', MPI_Ibarrier(MPI_COMM_WORLD, &q[0]));
	CALL("nonblocking", 'w', MPI_Wait(&q[0], st));
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank < 2) {
		if (rank == 1)
			late(1);
		CALL("split", rank ? 'l' : 'w', MPI_Gatherv(&a, 1, MPI_INT, out, counts, places, MPI_INT, 0, pair));
	}
	MPI_Barrier(MPI_COMM_WORLD);
}

static void memory(void)
{
	MPI_Win win;

	if (rank == 1)
		late(1);
	CALL("create", 'b', MPI_Win_create(out, sizeof(out), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
	if (rank == 2)
		late(1);
	CALL("fence", 'b', MPI_Win_fence(0, win));
	MPI_Put(&a, 1, MPI_INT, (rank + 1) % 3, 0, 1, MPI_INT, win);
	if (rank == 0)
		late(1);
	CALL("fence, put", 'b', MPI_Win_fence(0, win));
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		late(1);
	CALL("free", 'b', MPI_Win_free(&win));
	MPI_Barrier(MPI_COMM_WORLD);
}

/* Post, start, complete and wait, with groups that are made in several ways. */
static void epochs(void)
{
	int done, span[1][3] = {{2, 1, -1}};
	MPI_Group all, others, first, two, partner, nobody;
	MPI_Win win;

	MPI_Win_create(out, sizeof(out), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Comm_group(MPI_COMM_WORLD, &all);
	MPI_Group_range_incl(all, 1, span, &others); /* ranks 2 and 1 */
	MPI_Group_difference(all, others, &first);
	MPI_Comm_group(pair, &two);
	if (rank == 0) {
		CALL("late post", 'w', MPI_Win_start(others, 0, win));
		MPI_Put(&a, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
		MPI_Put(&a, 1, MPI_INT, 2, 0, 1, MPI_INT, win);
		CALL("late post", 'w', MPI_Win_complete(win));
	} else {
		late(rank);
		CALL("late post", 'l', MPI_Win_post(first, 0, win));
		MPI_Win_wait(win);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0) {
		MPI_Win_post(others, 0, win);
		CALL("early wait", 'w', MPI_Win_wait(win));
	} else {
		MPI_Win_start(first, 0, win);
		MPI_Put(&a, 1, MPI_INT, 0, rank, 1, MPI_INT, win);
		late(rank);
		CALL("early wait", 'l', MPI_Win_complete(win));
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank < 2) {
		MPI_Group_excl(two, 1, &rank, &partner);
		if (rank == 0) {
			MPI_Win_post(partner, 0, win);
			do
				MPI_Win_test(win, &done);
			while (!done);
			MPI_Win_post(partner, 0, win);
			CALL("tested before", 'w', MPI_Win_wait(win));
		} else {
			MPI_Win_start(partner, 0, win);
			MPI_Win_complete(win);
			MPI_Win_start(partner, 0, win);
			late(1);
			CALL("tested before", 'l', MPI_Win_complete(win));
		}
		MPI_Group_free(&partner);
	} else {
		MPI_Group_incl(all, 0, NULL, &nobody);
		MPI_Win_start(nobody, 0, win);
		MPI_Win_complete(win);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Group_free(&all);
	MPI_Group_free(&others);
	MPI_Group_free(&first);
	MPI_Group_free(&two);
	MPI_Win_free(&win);
}

/* Rank 1 holds the lock of rank 0's window when rank 2 asks for it. */
static void locks(void)
{
	MPI_Win win;

	MPI_Win_create(out, sizeof(out), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	if (rank == 1) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
		MPI_Put(&a, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
		MPI_Win_flush(0, win);
		MPI_Send(&a, 1, MPI_INT, 2, 15, MPI_COMM_WORLD);
		late(1);
		CALL("lock", 'l', MPI_Win_unlock(0, win));
	} else if (rank == 2) {
		MPI_Recv(&b, 1, MPI_INT, 1, 15, MPI_COMM_WORLD, st);
		CALL("lock", 'w', MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
		MPI_Win_unlock(0, win);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 1) {
		MPI_Win_lock_all(0, win);
		MPI_Put(&a, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
		MPI_Win_flush_all(win);
		MPI_Send(&a, 1, MPI_INT, 2, 16, MPI_COMM_WORLD);
		late(1);
		CALL("lock all", 'l', MPI_Win_unlock_all(win));
	} else if (rank == 2) {
		MPI_Recv(&b, 1, MPI_INT, 1, 16, MPI_COMM_WORLD, st);
		CALL("lock all", 'w', MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
		MPI_Win_unlock(0, win);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_free(&win);
}

/* Rank 0 prints all notes: launchers mix the lines of several ranks. */
static void tell(void)
{
	static char text[MOST * 80];
	size_t length = 0;

	for (int i = 0; i < count; i++) {
		struct note *n = &notes[i];
		length += snprintf(text + length, sizeof(text) - length, "%s\t%d\t%d\t%c\t%d\t%ld\t%ld\n", n->pattern, n->round, rank, n->role, n->line,
				   n->before, n->after);
	}
	if (rank > 0) {
		MPI_Send(text, length, MPI_CHAR, 0, 20, MPI_COMM_WORLD);
		return;
	}
	fwrite(text, 1, length, stdout);
	for (int other = 1; other < 3; other++) {
		int n;
		MPI_Recv(text, sizeof(text), MPI_CHAR, other, 20, MPI_COMM_WORLD, st);
		MPI_Get_count(st, MPI_CHAR, &n);
		fwrite(text, 1, n, stdout);
	}
	fflush(stdout);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 5;
	if (argc > 2)
		ms = atol(argv[2]);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_split(MPI_COMM_WORLD, rank < 2, 0, &pair);
	for (round_now = 0; round_now < rounds; round_now++) {
		messages();
		collectives();
		memory();
		epochs();
		locks();
	}
	tell();
	MPI_Finalize();
	return 0;
}
