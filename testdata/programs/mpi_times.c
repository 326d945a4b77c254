// mpi_times.c: how long calls take, known by construction. Threads sleep instead
// of working, so that the machine may be small and busy.
//
//   mpi_times late [MS=200]        rank 0 sends MS after rank 1 wants to receive
//   mpi_times barrier [MS=200]     rank 0 comes MS later than all others
//   mpi_times wait [MS=200]        as late, but nonblocking: Irecv, then Wait
//   mpi_times toy [MS=200] [REPS=3]
//       Fig. 9 of Fürlinger and Moore: a loop, then an all-to-all by the master
//       thread. On odd ranks the last thread works MS longer than the others,
//       which wait for it in the loop's barrier; on even ranks nobody does, the
//       rank waits as long in MPI_Alltoall, and its other threads for that.
//   mpi_times ring BEGUN END       each millisecond an exchange of 80 bytes and a broadcast of 4, by
//       a datatype and a communicator older than whoever attaches; prints the number of rounds.
//       After each ten rounds rank 0 adds a byte to the file BEGUN. A file END ends all.
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static MPI_Comm W = MPI_COMM_WORLD;
static int me, np;
static double a[100], b[1000];

static void sleep_ms(double ms)
{
	struct timespec t = {(time_t)(ms / 1000), (long)(1e6 * (ms - 1000.0 * (int)(ms / 1000)))};
	nanosleep(&t, NULL);
}

static void late(double ms)
{
	MPI_Barrier(W);
	if (me == 0) {
		sleep_ms(ms);
		MPI_Send(a, 10, MPI_DOUBLE, 1, 1, W);
	} else if (me == 1) {
		MPI_Recv(b, 10, MPI_DOUBLE, 0, 1, W, MPI_STATUS_IGNORE);
	}
}

static void barrier(double ms)
{
	MPI_Barrier(W);
	if (me == 0)
		sleep_ms(ms);
	MPI_Barrier(W);
}

static void wait_for(double ms)
{
	MPI_Request q;
	MPI_Barrier(W);
	if (me == 0) {
		sleep_ms(ms);
		MPI_Send(a, 10, MPI_DOUBLE, 1, 1, W);
	} else if (me == 1) {
		MPI_Irecv(b, 10, MPI_DOUBLE, 0, 1, W, &q);
		MPI_Wait(&q, MPI_STATUS_IGNORE);
	}
}

static void toy(double ms, int reps)
{
	MPI_Barrier(W);
#pragma omp parallel
	for (int i = 0; i < reps; i++) {
		int team = omp_get_num_threads();
#pragma omp for
		for (int k = 0; k < team; k++)
			sleep_ms(k == team - 1 && me % 2 == 1 ? 50 + ms : 50);
#pragma omp master
		MPI_Alltoall(a, 10, MPI_DOUBLE, b, 10, MPI_DOUBLE, W);
#pragma omp barrier
	}
}

static void ring(const char *begun, const char *end)
{
	int next = (me + 1) % np, prev = (me + np - 1) % np, rounds = 0, go = 1;
	MPI_Comm c;
	MPI_Datatype t;
	MPI_Comm_dup(W, &c);
	MPI_Type_vector(10, 1, 2, MPI_DOUBLE, &t);
	MPI_Type_commit(&t);
	while (go) {
		MPI_Sendrecv(a, 1, t, next, 1, b, 1, t, prev, 1, c, MPI_STATUS_IGNORE);
		if (me == 0 && rounds % 10 == 9) {
			FILE *f = fopen(begun, "a");
			fputc('.', f);
			fclose(f);
		}
		go = !fopen(end, "r");
		MPI_Bcast(&go, 1, MPI_INT, 0, c);
		sleep_ms(1);
		rounds++;
	}
	MPI_Type_free(&t);
	MPI_Comm_free(&c);
	if (me == 0)
		printf("%d\n", rounds);
}

int main(int argc, char **argv)
{
	int level;
	double ms = argc > 2 ? atof(argv[2]) : 200;
	if (argc < 2)
		return 2;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
	MPI_Comm_rank(W, &me);
	MPI_Comm_size(W, &np);
	if (!strcmp(argv[1], "late"))
		late(ms);
	else if (!strcmp(argv[1], "barrier"))
		barrier(ms);
	else if (!strcmp(argv[1], "wait"))
		wait_for(ms);
	else if (!strcmp(argv[1], "toy"))
		toy(ms, argc > 3 ? atoi(argv[3]) : 3);
	else if (!strcmp(argv[1], "ring") && argc == 4)
		ring(argv[2], argv[3]);
	MPI_Finalize();
	return 0;
}
