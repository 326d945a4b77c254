// A hydrodynamics code in small, with the shape of LULESH: 30 parallel regions in a time step, most of
// them a single loop, four with two or three loops and a barrier each. 30 N regions, 4 N barriers.
//   hydro STEPS ELEMENTS
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static double *a, *b, *c;
static int n;

static void forces(void)
{
#pragma omp parallel for
	for (int i = 0; i < n; i++)
		a[i] = a[i] * 0.5 + b[i] * 0.25;
#pragma omp parallel for
	for (int i = 0; i < n; i++)
		b[i] = b[i] * 0.5 + c[i] * 0.25;
#pragma omp parallel for
	for (int i = 0; i < n; i++)
		c[i] = c[i] * 0.5 + a[i] * 0.25;
#pragma omp parallel for
	for (int i = 0; i < n; i++)
		a[i] = a[i] * 0.5 + c[i] * 0.125;
#pragma omp parallel for
	for (int i = 0; i < n; i++)
		b[i] = b[i] * 0.5 + a[i] * 0.125;
#pragma omp parallel for
	for (int i = 0; i < n; i++)
		c[i] = c[i] * 0.5 + b[i] * 0.125;
#pragma omp parallel for
	for (int i = 0; i < n; i++)
		a[i] = a[i] * 0.5 + b[i] * 0.5;
}

static void positions(void)
{
#pragma omp parallel for
	for (int i = 0; i < n; i++)
		a[i] = a[i] * 0.5 + b[i] * 0.1;
#pragma omp parallel for
	for (int i = 0; i < n; i++)
		b[i] = b[i] * 0.5 + c[i] * 0.2;
#pragma omp parallel for
	for (int i = 0; i < n; i++)
		c[i] = c[i] * 0.5 + a[i] * 0.3;
#pragma omp parallel for
	for (int i = 0; i < n; i++)
		a[i] = a[i] * 0.5 + c[i] * 0.4;
#pragma omp parallel for
	for (int i = 0; i < n; i++)
		b[i] = b[i] * 0.5 + a[i] * 0.1;
#pragma omp parallel for
	for (int i = 0; i < n; i++)
		c[i] = c[i] * 0.5 + b[i] * 0.2;
}

static void elements(void)
{
#pragma omp parallel for
	for (int i = 0; i < n; i++)
		a[i] = a[i] * 0.5 + b[i] * 0.3;
#pragma omp parallel for
	for (int i = 0; i < n; i++)
		b[i] = b[i] * 0.5 + c[i] * 0.4;
#pragma omp parallel for
	for (int i = 0; i < n; i++)
		c[i] = c[i] * 0.5 + a[i] * 0.1;
#pragma omp parallel for
	for (int i = 0; i < n; i++)
		a[i] = a[i] * 0.5 + c[i] * 0.2;
#pragma omp parallel for
	for (int i = 0; i < n; i++)
		b[i] = b[i] * 0.5 + a[i] * 0.3;
#pragma omp parallel for
	for (int i = 0; i < n; i++)
		c[i] = c[i] * 0.5 + b[i] * 0.4;
#pragma omp parallel for
	for (int i = 0; i < n; i++)
		a[i] = a[i] * 0.5 + c[i] * 0.2;
}

static void materials(void)
{
#pragma omp parallel for
	for (int i = 0; i < n; i++)
		a[i] = a[i] * 0.5 + b[i] * 0.15;
#pragma omp parallel for
	for (int i = 0; i < n; i++)
		b[i] = b[i] * 0.5 + c[i] * 0.15;
#pragma omp parallel for
	for (int i = 0; i < n; i++)
		c[i] = c[i] * 0.5 + a[i] * 0.15;
#pragma omp parallel for
	for (int i = 0; i < n; i++)
		a[i] = a[i] * 0.5 + c[i] * 0.15;
#pragma omp parallel for
	for (int i = 0; i < n; i++)
		b[i] = b[i] * 0.5 + a[i] * 0.15;
#pragma omp parallel for
	for (int i = 0; i < n; i++)
		c[i] = c[i] * 0.5 + b[i] * 0.15;
}

// boundary has loops that need not wait for each other, and a barrier behind the last but one.
static void boundary(double *to, double *from, double *other)
{
#pragma omp parallel
	{
#pragma omp for nowait
		for (int i = 0; i < n; i++)
			to[i] += 1e-3;
#pragma omp for
		for (int i = 0; i < n; i++)
			other[i] *= 0.75;
#pragma omp for nowait
		for (int i = 0; i < n; i++)
			from[i] = from[i] * 0.5 + other[n - 1 - i] * 0.25;
	}
}

static double courant(void)
{
	double least = 1e30;
#pragma omp parallel
	{
		double mine = 1e30;
#pragma omp for
		for (int i = 0; i < n; i++)
			c[i] = c[i] * 0.5 + a[i] * 0.25 + 1e-3;
#pragma omp for nowait
		for (int i = 0; i < n; i++)
			if (c[n - 1 - i] < mine)
				mine = c[n - 1 - i];
		if (omp_get_thread_num() == 0)
			least = mine;
	}
	return least;
}

int main(int argc, char **argv)
{
	int steps = argc > 1 ? atoi(argv[1]) : 100;
	double least = 0;

	n = argc > 2 ? atoi(argv[2]) : 2000;
	a = calloc(n, sizeof(*a));
	b = calloc(n, sizeof(*b));
	c = calloc(n, sizeof(*c));
	if (!a || !b || !c)
		return 1;
	double start = omp_get_wtime();
	for (int s = 0; s < steps; s++) {
		forces();
		boundary(a, b, c);
		positions();
		boundary(b, c, a);
		elements();
		boundary(c, a, b);
		materials();
		least += courant();
	}
	printf("%.3f s, %d regions, least %g\n", omp_get_wtime() - start, 30 * steps, least);
	return 0;
}
