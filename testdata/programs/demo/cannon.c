// cannon.c: C = A x B by Cannon's algorithm, with MPI and OpenMP.
//
//   mpirun -n P cannon [N=720] [REPEATS=3]
//
// The case of Adhianto and Chapman (2007). P ranks, a square number, form a grid; each has a block of
// N/sqrt(P) rows and columns of each matrix. In each of sqrt(P) steps, a rank's threads multiply
// its blocks. Then blocks of A go to the rank on the left, and blocks of B to the rank above.
// Checks itself and prints one line.
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEFTWARDS = 1, UPWARDS = 2, SAMPLES = 50 };

struct grid {
	int side, row, column;
	int left, right, above, below; // ranks
};

static double a_at(long i, long j) { return (double)((i * 3 + j * 5) % 11) - 5; }
static double b_at(long i, long j) { return (double)((i * 7 + j * 2) % 13) - 6; }

// multiply adds the product of two blocks of n x n values to c.
static void multiply(int n, const double *a, const double *b, double *c)
{
#pragma omp parallel for
	for (int i = 0; i < n; i++)
		for (int k = 0; k < n; k++) {
			double x = a[(size_t)i * n + k];
			for (int j = 0; j < n; j++)
				c[(size_t)i * n + j] += x * b[(size_t)k * n + j];
		}
}

// rotate sends a block to one rank and receives another one's. Of two neighbours, one receives first
// somewhere in the ring, so that blocking sends go on.
static void rotate(double **block, double **other, int n, int to, int from, int position, int tag)
{
	if (position % 2 == 0) {
		MPI_Send(*block, n * n, MPI_DOUBLE, to, tag, MPI_COMM_WORLD);
		MPI_Recv(*other, n * n, MPI_DOUBLE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else {
		MPI_Recv(*other, n * n, MPI_DOUBLE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Send(*block, n * n, MPI_DOUBLE, to, tag, MPI_COMM_WORLD);
	}
	double *received = *other;
	*other = *block;
	*block = received;
}

static void fill(const struct grid *g, int n, double *a, double *b)
{
	int shift = (g->row + g->column) % g->side; // which blocks a rank begins with
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++) {
			a[(size_t)i * n + j] = a_at((long)g->row * n + i, (long)shift * n + j);
			b[(size_t)i * n + j] = b_at((long)shift * n + i, (long)g->column * n + j);
		}
}

// wrong counts values of the block of C that are not the product's, of some.
static int wrong(const struct grid *g, int n, int repeats, const double *c)
{
	int bad = 0;
	for (int s = 0; s < SAMPLES; s++) {
		int i = s * 31 % n, j = s * 17 % n;
		double sum = 0;
		for (long k = 0; k < (long)n * g->side; k++)
			sum += a_at((long)g->row * n + i, k) * b_at(k, (long)g->column * n + j);
		bad += c[(size_t)i * n + j] != sum * repeats; // whole numbers: exact
	}
	return bad;
}

int main(int argc, char **argv)
{
	int level, me, ranks, size = argc > 1 ? atoi(argv[1]) : 720, repeats = argc > 2 ? atoi(argv[2]) : 3;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	struct grid g = {.side = (int)lround(sqrt(ranks))};
	if (level < MPI_THREAD_FUNNELED || g.side * g.side != ranks || size < ranks || size % g.side != 0 || repeats < 1) {
		if (me == 0)
			fprintf(stderr, "cannon: give a square number of ranks, whose root divides the size\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	g.row = me / g.side;
	g.column = me % g.side;
	g.left = g.row * g.side + (g.column + g.side - 1) % g.side;
	g.right = g.row * g.side + (g.column + 1) % g.side;
	g.above = (g.row + g.side - 1) % g.side * g.side + g.column;
	g.below = (g.row + 1) % g.side * g.side + g.column;

	int n = size / g.side;
	size_t bytes = (size_t)n * n * sizeof(double);
	double *a = malloc(bytes), *b = malloc(bytes), *c = calloc(1, bytes), *other = malloc(bytes);
	if (!a || !b || !c || !other)
		MPI_Abort(MPI_COMM_WORLD, 1);
	fill(&g, n, a, b);
	for (int step = 0; step < repeats * g.side; step++) {
		multiply(n, a, b, c);
		if (ranks > 1) {
			rotate(&a, &other, n, g.left, g.right, g.column, LEFTWARDS);
			rotate(&b, &other, n, g.above, g.below, g.row, UPWARDS);
		}
	}
	int bad = wrong(&g, n, repeats, c), all = 0;
	MPI_Reduce(&bad, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	if (me == 0)
		printf("%d ranks, %d x %d, %d times: %d of %d values are wrong\n", ranks, size, size, repeats, all, SAMPLES * ranks);
	free(a);
	free(b);
	free(c);
	free(other);
	MPI_Finalize();
	return me == 0 && all > 0;
}
