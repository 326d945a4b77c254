// A dynamic loop in which the first thread tells how far it has come and each draws
// random numbers of its own, as many programs do: the thread's number decides
// there, and in the reduction's exchange, and no static loop is meant.
#include <omp.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	const long n = 1000 * argc;
	double sum = 0;
#pragma omp parallel reduction(+ : sum)
	{
		int thread = omp_get_thread_num(), threads = omp_get_num_threads();
		unsigned seed = (unsigned)argc * (thread + 1);
#pragma omp for schedule(dynamic)
		for (long i = 0; i < n; i++) {
			if (argc > 1 && thread == 0)
				printf("%.0lf%%\n", i / ((double)n / (double)threads) / (double)threads * 100.0);
			do
				seed = seed * 1103515245 + 12345;
			while ((seed >> 8) % 7 > 0);
			sum += (seed >> 8) % threads;
		}
		if (thread == 0)
			puts("");
	}
	printf("%g\n", sum);
	return 0;
}
