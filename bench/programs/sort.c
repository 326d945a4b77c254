// sort.c: quicksort of 5,000,000 numbers by tasks, then all solutions of 12
// queens by tasks; each creates tasks only where enough is left to do.
#include "app.h"
#include <stdlib.h>
#include <string.h>

enum { COUNT = 5000000, ALONE = 5000, QUEENS = 12, DEEP = 3, SOLUTIONS = 14200 };

static unsigned *given, *numbers;

static void setup(void)
{
	unsigned seed = 7;
	given = malloc(sizeof *given * COUNT);
	numbers = malloc(sizeof *numbers * COUNT);
	if (!given || !numbers)
		exit(1);
	for (int i = 0; i < COUNT; i++) {
		seed ^= seed << 13;
		seed ^= seed >> 17;
		seed ^= seed << 5;
		given[i] = seed;
	}
}

static void insertion(unsigned *a, long n)
{
	for (long i = 1; i < n; i++) {
		unsigned v = a[i];
		long j = i;
		for (; j > 0 && a[j - 1] > v; j--)
			a[j] = a[j - 1];
		a[j] = v;
	}
}

// divide moves the small ones to the front; what is between the two borders is
// at its place.
static void divide(unsigned *a, long n, long *front, long *back)
{
	unsigned x = a[0], y = a[n / 2], z = a[n - 1];
	unsigned pivot = x < y ? (y < z ? y : x < z ? z : x) : (x < z ? x : y < z ? z : y);
	long i = 0, j = n - 1;
	while (i <= j) {
		while (a[i] < pivot)
			i++;
		while (a[j] > pivot)
			j--;
		if (i <= j) {
			unsigned t = a[i];
			a[i++] = a[j];
			a[j--] = t;
		}
	}
	*front = j + 1;
	*back = i;
}

static void alone(unsigned *a, long n)
{
	while (n > 32) {
		long front, back;
		divide(a, n, &front, &back);
		alone(a, front);
		a += back;
		n -= back;
	}
	insertion(a, n);
}

static void quicksort(unsigned *a, long n)
{
	while (n > ALONE) {
		long front, back;
		divide(a, n, &front, &back);
#pragma omp task firstprivate(a, front)
		quicksort(a, front);
		a += back;
		n -= back;
	}
	alone(a, n);
}

static long queens(int row, unsigned columns, unsigned left, unsigned right)
{
	if (row == QUEENS)
		return 1;
	long found[QUEENS] = {0}, sum = 0;
	unsigned open = ((1u << QUEENS) - 1) & ~(columns | left | right);
	for (int k = 0; open; k++) {
		unsigned bit = open & -open;
		open ^= bit;
		if (row < DEEP) {
#pragma omp task shared(found) firstprivate(k, bit)
			found[k] = queens(row + 1, columns | bit, (left | bit) << 1, (right | bit) >> 1);
		} else {
			sum += queens(row + 1, columns | bit, (left | bit) << 1, (right | bit) >> 1);
		}
	}
	if (row < DEEP) {
#pragma omp taskwait
		for (int k = 0; k < QUEENS; k++)
			sum += found[k];
	}
	return sum;
}

// work returns the number of solutions; -1 if the numbers are not sorted.
static double work(void)
{
	long solutions = 0, wrong = 0;
	memcpy(numbers, given, sizeof *numbers * COUNT);
#pragma omp parallel
#pragma omp single
	{
#pragma omp taskgroup
		quicksort(numbers, COUNT);
		solutions = queens(0, 0, 0, 0);
	}
	unsigned sum = 0;
	for (int i = 0; i < COUNT; i++) {
		wrong += i > 0 && numbers[i] < numbers[i - 1];
		sum += numbers[i] - given[i];
	}
	return wrong || sum ? -1 : (double)solutions;
}

static int right(double solutions) { return solutions == SOLUTIONS; }
