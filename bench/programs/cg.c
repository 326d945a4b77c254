// cg.c: conjugate gradients on a sparse matrix of the size of NAS CG, class A:
// 14,000 rows with about 130 entries each. One parallel region; loops with and
// without reductions; singles for the scalars.
#include "app.h"
#include <math.h>
#include <stdlib.h>

enum { N = 14000, HALF = 65, ITERATIONS = 250 };

static int (*column)[2 * HALF];
static double (*value)[2 * HALF], diagonal[N], want[N], b[N], x[N], r[N], p[N], q[N];

static void multiply(const double *v, double *out)
{
#pragma omp for
	for (int i = 0; i < N; i++) {
		double sum = diagonal[i] * v[i];
		for (int k = 0; k < 2 * HALF; k++)
			sum += value[i][k] * v[column[i][k]];
		out[i] = sum;
	}
}

// setup makes a symmetric matrix: row i has entries at i+d and i-d for HALF distances
// d. So the smallest eigenvalue is well above 0. It makes a right-hand side with a
// known solution.
static void setup(void)
{
	unsigned seed = 1;
	int distance[HALF];
	column = malloc(sizeof(int[2 * HALF]) * N);
	value = malloc(sizeof(double[2 * HALF]) * N);
	if (!column || !value)
		exit(1);
	for (int k = 0; k < HALF; k++) {
		seed = seed * 1103515245u + 12345u;
		distance[k] = 1 + (int)(seed >> 8) % (N / 2 - 1);
	}
	for (int i = 0; i < N; i++) {
		diagonal[i] = 2 * HALF * 0.01 * 1.05 + 0.5 * (i % 100) / 100.0;
		want[i] = sin(0.001 * i);
		for (int k = 0; k < HALF; k++) {
			column[i][2 * k] = (i + distance[k]) % N;
			column[i][2 * k + 1] = (i + N - distance[k]) % N;
			value[i][2 * k] = value[i][2 * k + 1] = -0.01;
		}
	}
#pragma omp parallel
	multiply(want, b);
}

// work returns how far the solution is from the known one, at most.
static double work(void)
{
	double rr = 0, pq = 0, next = 0, alpha = 0, beta = 0, error = 0;
#pragma omp parallel
	{
#pragma omp for reduction(+ : rr)
		for (int i = 0; i < N; i++) {
			x[i] = 0;
			r[i] = p[i] = b[i];
			rr += b[i] * b[i];
		}
		for (int k = 0; k < ITERATIONS; k++) {
#pragma omp single
			pq = next = 0;
			multiply(p, q);
#pragma omp for reduction(+ : pq)
			for (int i = 0; i < N; i++)
				pq += p[i] * q[i];
#pragma omp single
			alpha = rr > 0 ? rr / pq : 0;
#pragma omp for reduction(+ : next)
			for (int i = 0; i < N; i++) {
				x[i] += alpha * p[i];
				r[i] -= alpha * q[i];
				next += r[i] * r[i];
			}
#pragma omp single
			{
				beta = rr > 0 ? next / rr : 0;
				rr = next;
			}
#pragma omp for
			for (int i = 0; i < N; i++)
				p[i] = r[i] + beta * p[i];
		}
#pragma omp for reduction(max : error)
		for (int i = 0; i < N; i++)
			error = fmax(error, fabs(x[i] - want[i]));
	}
	return error;
}

static int right(double error) { return error < 1e-6; }
