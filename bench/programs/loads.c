// loads.c: an OpenMP program that loads libraries, one after the other, and
// prints how many microseconds each dlopen took.
//
//   loads LIBRARY...
#include <dlfcn.h>
#include <omp.h>
#include <stdio.h>
#include <time.h>

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

int main(int argc, char **argv)
{
	volatile int threads = 0;

#pragma omp parallel
	{
#pragma omp critical
		threads++;
	}
	for (int i = 1; i < argc; i++) {
		double begin = now();
		if (!dlopen(argv[i], RTLD_NOW)) {
			fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
		printf("%.1f\n", now() - begin);
	}
	return threads < 1;
}
