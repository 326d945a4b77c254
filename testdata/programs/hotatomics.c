// Time in atomic operations, as the program's own clock has it. Each thread
// alternates between operations of three kinds on shared variables (lines INT,
// DOUBLE, CAPTURE) and work of its own of about the same length, and prints the
// percentages of the operations in the sum over the threads. Argument: rounds
// (default 200).
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static long count, last;
static double sum;
static volatile unsigned long sink;

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 200;
	double t[4] = {0};

#pragma omp parallel
	{
		double own[4] = {0};
		unsigned long x = omp_get_thread_num();
		for (int r = 0; r < rounds; r++) {
			double a = omp_get_wtime();
			for (int i = 0; i < 20000; i++) {
#pragma omp atomic
				count += 1; // INT
			}
			double b = omp_get_wtime();
			for (int i = 0; i < 20000; i++) {
#pragma omp atomic
				sum += 0.5; // DOUBLE
			}
			double c = omp_get_wtime();
			for (int i = 0; i < 20000; i++) {
				long now;
#pragma omp atomic capture
				now = ++last; // CAPTURE
				x += now;
			}
			double d = omp_get_wtime();
			for (int i = 0; i < 400000; i++) {
				x = x * 2862933555777941757UL + 3037000493UL;
				__asm__("" : "+r"(x));
			}
			double e = omp_get_wtime();
			own[0] += b - a, own[1] += c - b, own[2] += d - c, own[3] += e - d;
		}
		sink += x;
#pragma omp critical
		for (int i = 0; i < 4; i++)
			t[i] += own[i];
	}
	double all = t[0] + t[1] + t[2] + t[3];
	printf("%.1f %.1f %.1f\n", 100 * t[0] / all, 100 * t[1] / all, 100 * t[2] / all);
	return 0;
}
