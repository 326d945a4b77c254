// strips.c: heat in a plate of two materials, by MPI and OpenMP.
//
//   mpirun -n R strips [SIZE=240] [STEPS=500]
//
// The plate is cut into strips, one per rank, and a strip's rows are shared by
// the rank's threads. In each time step neighbours exchange their border rows,
// all points get the mean of those around them, and all ranks agree on how much
// has changed. Now and then each thread sends rank 0 a summary of its rows.
// Prints one line.
//
// The physics is right, the parallel code is as one meets it. One material's
// conductivity follows from its temperature by an iteration. All of that material
// lies in the lower left of the plate. So neither strips nor the threads' shares
// of them are equal work, and everybody waits for the last one.
#include <math.h>
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUMMARY_EVERY = 10, ITERATIONS = 60, UP = 1, DOWN = 2, SUMMARY = 3 };

struct strip {
	int n, first, rows; // points per row; first own row in the plate, and how many
	int up, down;       // ranks with the strips above and below, or MPI_PROC_NULL
	double *old, *new;  // rows + 2: the first and last are the neighbours'
};

struct summary {
	double sum, hottest;
};

static int is_alloy(const struct strip *s, int row, int column)
{
	double x = (double)column / s->n, y = (double)row / s->n;
	return x < 0.6 && y > 0.55 && y < 0.9;
}

// conductivity solves k = 1 + exp(-k * t) / 2.
static double conductivity(double t)
{
	double k = 1;
	for (int i = 0; i < ITERATIONS; i++)
		k = 1 + exp(-k * t) / 2;
	return k;
}

static void exchange_borders(struct strip *s)
{
	int n = s->n;
	double *own_first = s->old + n, *own_last = s->old + (size_t)s->rows * n, *below = own_last + n;
	MPI_Sendrecv(own_first, n, MPI_DOUBLE, s->up, UP, below, n, MPI_DOUBLE, s->down, UP, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Sendrecv(own_last, n, MPI_DOUBLE, s->down, DOWN, s->old, n, MPI_DOUBLE, s->up, DOWN, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// relax makes one step and returns by how much the strip has changed.
static double relax(struct strip *s)
{
	int n = s->n;
	double change = 0;
#pragma omp parallel for reduction(+ : change)
	for (int i = 1; i <= s->rows; i++) {
		const double *row = s->old + (size_t)i * n;
		for (int j = 1; j < n - 1; j++) {
			double mean = (row[j - 1] + row[j + 1] + row[j - n] + row[j + n]) / 4;
			double k = is_alloy(s, s->first + i - 1, j) ? conductivity(row[j]) : 1;
			double t = row[j] + 0.6 * k * (mean - row[j]);
			change += fabs(t - row[j]);
			s->new[(size_t)i * n + j] = t;
		}
	}
	return change;
}

// report_rows sends what each thread knows of its rows to rank 0.
static void report_rows(const struct strip *s)
{
	int n = s->n;
#pragma omp parallel
	{
		struct summary mine = {0, 0};
#pragma omp for
		for (int i = 1; i <= s->rows; i++)
			for (int j = 0; j < n; j++) {
				double t = s->new[(size_t)i * n + j];
				mine.sum += t;
				mine.hottest = fmax(mine.hottest, t);
			}
#pragma omp critical(mail)
		MPI_Send(&mine, sizeof mine, MPI_BYTE, 0, SUMMARY, MPI_COMM_WORLD);
	}
}

static struct summary receive_rows(int ranks, int threads)
{
	struct summary all = {0, 0};
	for (int i = 0; i < (ranks - 1) * threads; i++) {
		struct summary one;
		MPI_Recv(&one, sizeof one, MPI_BYTE, MPI_ANY_SOURCE, SUMMARY, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		all.sum += one.sum;
		all.hottest = fmax(all.hottest, one.hottest);
	}
	return all;
}

int main(int argc, char **argv)
{
	int level, me, ranks, n = argc > 1 ? atoi(argv[1]) : 240, steps = argc > 2 ? atoi(argv[2]) : 500;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (level < MPI_THREAD_SERIALIZED || n < ranks || steps < 1) {
		fprintf(stderr, "strips: MPI without threads, or more ranks than rows\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	struct strip s = {.n = n, .first = n * me / ranks, .up = me > 0 ? me - 1 : MPI_PROC_NULL, .down = me + 1 < ranks ? me + 1 : MPI_PROC_NULL};
	s.rows = n * (me + 1) / ranks - s.first;
	s.old = calloc((size_t)(s.rows + 2) * n, sizeof *s.old);
	s.new = calloc((size_t)(s.rows + 2) * n, sizeof *s.new);
	if (!s.old || !s.new)
		MPI_Abort(MPI_COMM_WORLD, 1);
	for (int i = 0; i < s.rows + 2; i++) // the left rim is hot
		s.old[(size_t)i * n] = s.new[(size_t)i * n] = 100;

	double change = 0;
	struct summary all = {0, 0};
	for (int step = 1; step <= steps; step++) {
		exchange_borders(&s);
		double own = relax(&s);
		MPI_Allreduce(&own, &change, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		if (step % SUMMARY_EVERY == 0) {
			if (me > 0)
				report_rows(&s);
			else
				all = receive_rows(ranks, omp_get_max_threads());
		}
		double *t = s.old;
		s.old = s.new;
		s.new = t;
	}
	if (me == 0)
		printf("%d ranks, %d steps: change %.4f, elsewhere mean %.4f and hottest %.1f\n", ranks, steps, change,
		       ranks > 1 ? all.sum / ((double)(n - s.rows) * n) : 0, all.hottest);
	free(s.old);
	free(s.new);
	MPI_Finalize();
	return 0;
}
