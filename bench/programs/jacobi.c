// jacobi.c: Laplace's equation on a square of 1,000 x 1,000 points by Jacobi's
// method: two parallel loops per sweep, one of them with a reduction.
#include "app.h"
#include <math.h>
#include <stdlib.h>

enum { N = 1000, SWEEPS = 200 };

static double (*old)[N], (*new)[N];

static void setup(void)
{
	old = malloc(sizeof(double[N]) * N);
	new = malloc(sizeof(double[N]) * N);
	if (!old || !new)
		exit(1);
}

// exact is a solution: linear functions are harmonic.
static double exact(int i, int j) { return 1 + 0.25 * i / N + 0.5 * j / N; }

// disturbed starts near it, by a wave that the method damps by a known factor.
static double disturbed(int i, int j)
{
	double pi = acos(-1.0), w = 20;
	return exact(i, j) + sin(pi * w * i / (N - 1)) * sin(pi * w * j / (N - 1));
}

// work returns the sum of what the last sweep changed.
static double work(void)
{
	double change = 0;
#pragma omp parallel for
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			old[i][j] = new[i][j] = disturbed(i, j);
	for (int sweep = 0; sweep < SWEEPS; sweep++) {
		change = 0;
#pragma omp parallel for reduction(+ : change)
		for (int i = 1; i < N - 1; i++)
			for (int j = 1; j < N - 1; j++) {
				new[i][j] = 0.25 * (old[i - 1][j] + old[i + 1][j] + old[i][j - 1] + old[i][j + 1]);
				change += fabs(new[i][j] - old[i][j]);
			}
#pragma omp parallel for
		for (int i = 1; i < N - 1; i++)
			for (int j = 1; j < N - 1; j++)
				old[i][j] = new[i][j];
	}
	return change;
}

// right: each sweep multiplies the wave by the cosine of its step, and the sum
// of its absolute values is that of the sines, squared.
static int right(double change)
{
	double pi = acos(-1.0), c = cos(pi * 20 / (N - 1)), sines = 0;
	for (int i = 1; i < N - 1; i++)
		sines += fabs(sin(pi * 20 * i / (N - 1)));
	double want = pow(c, SWEEPS - 1) * (1 - c) * sines * sines;
	return fabs(change - want) < 1e-6 * want;
}
