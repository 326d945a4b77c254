// Functions of tasks whose last act is a call of a function whose last act is a
// taskwait: the compiler makes jumps of both.
#include <stdio.h>
#include <stdlib.h>
static volatile long sum;
__attribute__((noinline)) static void leaf(long n) { sum += n; }
__attribute__((noinline)) static void merge(long n)
{
	if (n < 2) {
		leaf(n);
		return;
	}
#pragma omp task
	merge(n / 2);
#pragma omp task
	merge(n - n / 2);
#pragma omp taskwait // MERGE
}
__attribute__((noinline)) static void sort(long n)
{
	if (n < 4) {
		leaf(n);
		return;
	}
#pragma omp task
	sort(n / 2);
#pragma omp task
	sort(n - n / 2);
#pragma omp taskwait // SORT
	merge(n);
}
int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 64;
#pragma omp parallel
#pragma omp single
	sort(n);
	return sum == 0;
}
