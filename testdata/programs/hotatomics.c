// Time in atomic operations, by the program's own clock. Each thread alternates between
// operations of three kinds on shared variables (lines INT, DOUBLE, CAPTURE) and work
// of its own. The length of the work changes from round to round: rounds of equal length
// could fall in step with the samples. Prints the operations' percentages of the sum over
// the threads. The clock is that of the thread's processor time. Other programs take
// nothing of it, and nothing of the samples by task-clock.
// Argument: rounds (default 200).
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long count, last;
static double sum;
static volatile unsigned long sink;

static double spent(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 200;
	double t[4] = {0};

#pragma omp parallel
	{
		double own[4] = {0};
		unsigned long x = omp_get_thread_num();
		for (int r = 0; r < rounds; r++) {
			double a = spent();
			for (int i = 0; i < 20000; i++) {
#pragma omp atomic
				count += 1; // INT
			}
			double b = spent();
			for (int i = 0; i < 20000; i++) {
#pragma omp atomic
				sum += 0.5; // DOUBLE
			}
			double c = spent();
			for (int i = 0; i < 20000; i++) {
				long now;
#pragma omp atomic capture
				now = ++last; // CAPTURE
				x += now;
			}
			double d = spent();
			int turns = 200000 + (x >> 32) % 400000;
			for (int i = 0; i < turns; i++) {
				x = x * 2862933555777941757UL + 3037000493UL;
				__asm__("" : "+r"(x));
			}
			double e = spent();
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
