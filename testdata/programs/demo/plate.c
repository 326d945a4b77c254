// plate.c: temperature of a heated plate, with the statistics of its hot spots.
//
//   plate [SIZE=160] [STEPS=160]
//
// Each time step solves the implicit heat equation (I + tau*L) u' = u + q on a
// SIZE x SIZE grid by conjugate gradients. Then it follows marker particles
// through the temperature field, and makes a histogram of the field. It estimates
// the field's roughness. Every other step writes a summary. Prints one line.
//
// The physics is right, the parallel code is as one meets it: a profile shows
// imbalance in roughness, a contended critical in histogram, a contended lock
// in drift, and in summarize too few sections and a single that all wait for.
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BINS = 32, CELLS = 64, SUMMARY_EVERY = 2, LAGS = 128, REACH = 120, SAMPLES = 4, MAX_ITERATIONS = 200 };

struct plate {
	int n; // points per side
	double tau;
	double *u, *source;                  // temperature, heating
	double *x, *r, *p, *ap;              // conjugate gradients
	double *rough;                       // surface quality, per row of varying cost
};

struct particle {
	double x, y, heat;
};

struct cell {
	omp_lock_t lock;
	double heat;
	long visits;
};

static double *vector(size_t n)
{
	double *v = calloc(n, sizeof *v);
	if (!v) {
		fprintf(stderr, "out of memory\n");
		exit(1);
	}
	return v;
}

static void plate_init(struct plate *g, int n)
{
	size_t size = (size_t)n * (size_t)n;
	g->n = n;
	g->tau = 2.0;
	g->u = vector(size);
	g->source = vector(size);
	g->x = vector(size);
	g->r = vector(size);
	g->p = vector(size);
	g->ap = vector(size);
	g->rough = vector((size_t)n);
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++) {
			double dx = (double)i / n - 0.3, dy = (double)j / n - 0.6;
			g->source[i * n + j] = exp(-60 * (dx * dx + dy * dy));
		}
}

static void plate_free(struct plate *g)
{
	free(g->u);
	free(g->source);
	free(g->x);
	free(g->r);
	free(g->p);
	free(g->ap);
	free(g->rough);
}

// Five-point stencil with a cold rim.
static double operator_at(const struct plate *g, const double *v, int i, int j)
{
	int n = g->n;
	double c = v[i * n + j];
	double sum = 4 * c;
	if (i > 0)
		sum -= v[(i - 1) * n + j];
	if (i < n - 1)
		sum -= v[(i + 1) * n + j];
	if (j > 0)
		sum -= v[i * n + j - 1];
	if (j < n - 1)
		sum -= v[i * n + j + 1];
	return c + g->tau * sum;
}

// solve advances u by one step and returns the number of iterations.
static int solve(struct plate *g)
{
	int n = g->n, size = n * n, iterations = 0, done = 0;
	double rr = 0, pap = 0, rr_new = 0;

#pragma omp parallel
	{
		// Start from the old temperature.
#pragma omp for reduction(+ : rr)
		for (int i = 0; i < n; i++)
			for (int j = 0; j < n; j++) {
				int k = i * n + j;
				g->x[k] = g->u[k];
				g->r[k] = g->u[k] + g->source[k] - operator_at(g, g->u, i, j);
				g->p[k] = g->r[k];
				rr += g->r[k] * g->r[k];
			}

		while (!done) {
#pragma omp for reduction(+ : pap)
			for (int i = 0; i < n; i++)
				for (int j = 0; j < n; j++) {
					int k = i * n + j;
					g->ap[k] = operator_at(g, g->p, i, j);
					pap += g->p[k] * g->ap[k];
				}

			double alpha = rr / pap;
#pragma omp for reduction(+ : rr_new)
			for (int k = 0; k < size; k++) {
				g->x[k] += alpha * g->p[k];
				g->r[k] -= alpha * g->ap[k];
				rr_new += g->r[k] * g->r[k];
			}

			double beta = rr_new / rr;
#pragma omp for
			for (int k = 0; k < size; k++)
				g->p[k] = g->r[k] + beta * g->p[k];

#pragma omp single
			{
				rr = rr_new;
				pap = 0;
				rr_new = 0;
				iterations++;
				done = rr < 1e-12 * size || iterations >= MAX_ITERATIONS;
			}
		}
#pragma omp for
		for (int k = 0; k < size; k++)
			g->u[k] = g->x[k];
	}
	return iterations;
}

// roughness estimates the surface of every row. The work grows with the row
// number, and the default schedule gives each thread a contiguous block.
static void roughness(struct plate *g)
{
	int n = g->n;
#pragma omp parallel for
	for (int i = 0; i < n; i++) {
		double sum = 0;
		for (int k = 0; k <= i; k += 2)
			for (int j = 0; j < n; j++)
				sum += fabs(sin(g->u[i * n + j] - g->u[k * n + j]));
		g->rough[i] = sum / ((double)(i / 2 + 1) * n);
	}
}

// histogram counts temperatures into bins, finer where the plate is cold. The
// bins are shared, so the threads enter their rows one after the other.
static void histogram(const struct plate *g, long *bins, double top)
{
	int n = g->n;
#pragma omp parallel for schedule(dynamic, 1)
	for (int i = 0; i < n; i++) {
#pragma omp critical(bins)
		{
			for (int m = 0; m < SAMPLES * n; m++) {
				int j = m / SAMPLES, right = j < n - 1 ? j + 1 : j;
				double t = (double)(m % SAMPLES) / SAMPLES;
				double u = (1 - t) * g->u[i * n + j] + t * g->u[i * n + right];
				int b = (int)(BINS * log1p(u > 0 ? u : 0) / log1p(top));
				bins[b < BINS ? b : BINS - 1]++;
			}
		}
	}
}

static unsigned scramble(unsigned x)
{
	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	return x;
}

// drift moves the particles up the temperature gradient and collects their
// heat per cell. Particles gather at the hot spot, and so do the lockers.
static void drift(const struct plate *g, struct particle *part, int count, struct cell *cells)
{
	int n = g->n;
#pragma omp parallel
	{
#pragma omp for schedule(guided)
		for (int k = 0; k < count; k++) {
			struct particle *q = &part[k];
			int i = (int)q->x, j = (int)q->y;
			if (i < 1)
				i = 1;
			if (i > n - 2)
				i = n - 2;
			if (j < 1)
				j = 1;
			if (j > n - 2)
				j = n - 2;
			double gx = g->u[(i + 1) * n + j] - g->u[(i - 1) * n + j];
			double gy = g->u[i * n + j + 1] - g->u[i * n + j - 1];
			double length = sqrt(gx * gx + gy * gy) + 1e-9;
			q->x = i + 0.5 + gx / length;
			q->y = j + 0.5 + gy / length;
			q->heat += g->u[i * n + j];

			int c = (i * 8 / n) * 8 + j * 8 / n;
			omp_set_lock(&cells[c].lock);
			cells[c].visits++;
			for (int m = 0; m < REACH; m++) {
				double d = (double)m / REACH;
				cells[c].heat += g->u[i * n + j] * exp(-d * d) / REACH;
			}
			omp_unset_lock(&cells[c].lock);
		}
	}
}

struct summary {
	double mean, hottest, edge, rough, correlation[LAGS];
	char text[256];
	long written;
	unsigned checksum;
};

// summarize has two statistics for the whole team to share, and lets one
// thread write the plate down while the others wait.
static void summarize(const struct plate *g, struct summary *s, int step)
{
	int n = g->n, size = n * n;
#pragma omp parallel
	{
#pragma omp sections
		{
#pragma omp section
			{
				for (int lag = 0; lag < LAGS; lag++) {
					double sum = 0;
					for (int k = 0; k + lag < size; k++)
						sum += g->u[k] * g->u[k + lag];
					s->correlation[lag] = sum / size;
				}
			}
#pragma omp section
			{
				double sum = 0;
				s->hottest = s->edge = 0;
				for (int k = 0; k < size; k++) {
					sum += g->u[k];
					if (g->u[k] > s->hottest)
						s->hottest = g->u[k];
				}
				for (int j = 0; j < n; j++)
					s->edge += g->u[j] / n;
				s->mean = sum / size;
			}
		}
#pragma omp single
		{
			s->rough = 0;
			for (int i = 0; i < n; i++)
				s->rough += g->rough[i] / n;
			for (int k = 0; k < size; k++)
				s->written += snprintf(s->text, sizeof s->text, "%d %d %.6f\n",
						       step, k, g->u[k]);
		}
#pragma omp master
		{
			const unsigned char *byte = (const unsigned char *)g->u;
			s->checksum = 2166136261u;
			for (size_t k = 0; k < (size_t)size * sizeof *g->u; k++)
				s->checksum = (s->checksum ^ byte[k]) * 16777619u;
		}
#pragma omp barrier
#pragma omp single nowait
		snprintf(s->text, sizeof s->text, "step %d: mean %.4f", step, s->mean);
	}
}

static int inconsistent(long visits, long want, long binned, long size)
{
	return visits != want || binned != size;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 160;
	int steps = argc > 2 ? atoi(argv[2]) : 160;
	int count = 2000;
	struct plate g;
	struct cell cells[CELLS];
	struct summary summary = {0};
	long iterations = 0, bins[BINS];

	if (n < 8 || n > 4096 || steps < 1)
		return 2;
	plate_init(&g, n);
	struct particle *part = calloc((size_t)count, sizeof *part);
	if (!part)
		return 1;
	unsigned seed = 42;
	for (int k = 0; k < count; k++) {
		seed = scramble(seed);
		part[k].x = seed % (unsigned)n;
		seed = scramble(seed);
		part[k].y = seed % (unsigned)n;
	}
	for (int c = 0; c < CELLS; c++) {
		cells[c].heat = 0;
		cells[c].visits = 0;
		omp_init_lock(&cells[c].lock);
	}

	for (int step = 1; step <= steps; step++) {
		iterations += solve(&g);
		drift(&g, part, count, cells);
		memset(bins, 0, sizeof bins);
		histogram(&g, bins, 1.0 * step);
		roughness(&g);
		if (step % SUMMARY_EVERY == 0 || step == steps)
			summarize(&g, &summary, step);
	}

	long visits = 0, binned = 0;
	for (int c = 0; c < CELLS; c++) {
		visits += cells[c].visits;
		omp_destroy_lock(&cells[c].lock);
	}
	for (int b = 0; b < BINS; b++)
		binned += bins[b];
	printf("%s, hottest %.4f, edge %.4f, correlation %.4f, roughness %.4f, %ld iterations\n",
	       summary.text, summary.hottest, summary.edge,
	       summary.correlation[1] / summary.correlation[0], summary.rough, iterations);
	free(part);
	plate_free(&g);
	return inconsistent(visits, (long)count * steps, binned, (long)SAMPLES * n * n);
}
