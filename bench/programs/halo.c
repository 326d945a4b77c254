// halo.c: heat on a 1,200 x 1,200 plate in strips, one per rank, whose rows are
// shared by the rank's threads. Borders travel while the inner rows are computed;
// every tenth step all ranks agree on what has changed.
#define APP_OWN_MAIN
#include "app.h"
#include <math.h>
#include <mpi.h>
#include <stdlib.h>

enum { N = 1200, STEPS = 150, EVERY = 10 };

static int me, ranks, rows;
static double (*old)[N], (*new)[N];

static void setup(void)
{
	rows = N * (me + 1) / ranks - N * me / ranks;
	old = malloc(sizeof(double[N]) * (size_t)(rows + 2));
	new = malloc(sizeof(double[N]) * (size_t)(rows + 2));
	if (!old || !new)
		MPI_Abort(MPI_COMM_WORLD, 1);
}

static double relax(int from, int to)
{
	double change = 0;
#pragma omp parallel for reduction(+ : change)
	for (int i = from; i <= to; i++)
		for (int j = 0; j < N; j++) {
			double left = j > 0 ? old[i][j - 1] : old[i][N - 1], next = j < N - 1 ? old[i][j + 1] : old[i][0];
			new[i][j] = 0.2 * (old[i][j] + left + next + old[i - 1][j] + old[i + 1][j]);
			change += fabs(new[i][j] - old[i][j]);
		}
	return change;
}

// work lets a wave in a periodic plate decay and returns the last change.
static double work(void)
{
	int up = (me + ranks - 1) % ranks, down = (me + 1) % ranks, first = N * me / ranks;
	double all = 0, pi = acos(-1.0);
#pragma omp parallel for
	for (int i = 0; i < rows + 2; i++)
		for (int j = 0; j < N; j++)
			old[i][j] = sin(2 * pi * 30 * (first + i) / N) * sin(2 * pi * 30 * j / N);
	for (int step = 1; step <= STEPS; step++) {
		MPI_Request r[4];
		MPI_Irecv(old[0], N, MPI_DOUBLE, up, 1, MPI_COMM_WORLD, &r[0]);
		MPI_Irecv(old[rows + 1], N, MPI_DOUBLE, down, 2, MPI_COMM_WORLD, &r[1]);
		MPI_Isend(old[rows], N, MPI_DOUBLE, down, 1, MPI_COMM_WORLD, &r[2]);
		MPI_Isend(old[1], N, MPI_DOUBLE, up, 2, MPI_COMM_WORLD, &r[3]);
		double own = relax(2, rows - 1);
		MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
		own += relax(1, 1) + relax(rows, rows);
		if (step % EVERY == 0)
			MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		double(*t)[N] = old;
		old = new;
		new = t;
	}
	return all;
}

// right: each step multiplies the wave by the same known factor.
static int right(double change)
{
	double pi = acos(-1.0), f = 0.2 * (1 + 4 * cos(2 * pi * 30 / N)), sines = 0;
	for (int i = 0; i < N; i++)
		sines += fabs(sin(2 * pi * 30 * i / N));
	double want = pow(f, STEPS - 1) * (1 - f) * sines * sines;
	return fabs(change - want) < 1e-6 * want;
}

int main(int argc, char **argv)
{
	int level, go;
	char line[64];
	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	setup();
	MPI_Barrier(MPI_COMM_WORLD);
	if (me == 0) {
		printf("ready\n");
		fflush(stdout);
	}
	for (;;) {
		// Waiting ranks must not keep processors busy that others are measured on.
		MPI_Request told;
		int done = 0;
		go = me == 0 && fgets(line, sizeof line, stdin);
		MPI_Ibcast(&go, 1, MPI_INT, 0, MPI_COMM_WORLD, &told);
		for (; !done; MPI_Test(&told, &done, MPI_STATUS_IGNORE))
			if (me != 0)
				nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
		if (!go)
			break;
		MPI_Barrier(MPI_COMM_WORLD);
		double begin = app_now(), result = work();
		MPI_Barrier(MPI_COMM_WORLD);
		if (me == 0) {
			printf("%.6f %d\n", app_now() - begin, right(result));
			fflush(stdout);
		}
	}
	MPI_Finalize();
	return 0;
}
