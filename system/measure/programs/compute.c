// How fast threads compute and move data, with the user's compiler and its options.
//
//	compute ERROR LEAST SAMPLES SECONDS TARGET CACHE MEMORY
//
// CACHE is the bytes of one core's own cache, MEMORY the bytes of an array that no cache holds.
//
//	ompp-attach: compute KERNEL THREADS SAMPLES...
//	ompp-attach: fact NAME VALUE
#include "sample.h"
#include <omp.h>

enum { CHAINS = 32, STEPS = 4096 };

static int threads;
static long cached, uncached; // doubles per thread and array
static double *a, *b, *c;

// multiply_add is 2 CHAINS STEPS operations on values that stay in registers.
static __attribute__((noinline)) double multiply_add(double x, double y)
{
	double chain[CHAINS], sum = 0;

	for (int i = 0; i < CHAINS; i++)
		chain[i] = i;
	for (int j = 0; j < STEPS; j++)
		for (int i = 0; i < CHAINS; i++)
			chain[i] = chain[i] * x + y;
	for (int i = 0; i < CHAINS; i++)
		sum += chain[i];
	return sum;
}

static __attribute__((noinline)) void triad(double *a, const double *b, const double *c, double x, long n)
{
	for (long i = 0; i < n; i++)
		a[i] = b[i] + x * c[i];
}

// Each kernel is executed n times by each thread. It returns what one thread did in one time:
// operations, or bytes.
static volatile double sink, factor = 0.999;

static double flops(int n)
{
#pragma omp parallel
	{
		double sum = 0;

		for (int i = 0; i < n; i++)
			sum += multiply_add(factor, 1 - factor);
#pragma omp critical
		sink = sink + sum;
	}
	return 2.0 * CHAINS * STEPS;
}

static double triads(long length, int n)
{
#pragma omp parallel
	{
		long own = omp_get_thread_num() * uncached;

		for (int i = 0; i < n; i++)
			triad(a + own, b + own, c + own, factor, length);
	}
	// As STREAM counts: a line that is written and was not read is two.
	return 3.0 * sizeof *a * length;
}

static double triads_cached(int n)
{
	return triads(cached, n);
}

static double triads_memory(int n)
{
	return triads(uncached, n);
}

static const struct {
	const char *name;
	double (*run)(int n);
} kernels[] = {{"multiply-add", flops}, {"triad-cache", triads_cached}, {"triad-memory", triads_memory}};

// rate is what all threads do per second.
static double rate(int k, int n)
{
	double t = now(), work = kernels[k].run(n);

	return work * n * threads / (now() - t) * 1e9;
}

static void measure(int k)
{
	double began = now();
	int inner = 1, n = 0, longer = 1;

	rate(k, 1);
	while (longer && inner < 1 << 24) {
		for (int i = 0; i < 3 && longer; i++) { // others may have had the processor during one
			double t = now();

			rate(k, inner);
			longer = now() - t < rule.target;
			if (longer)
				break;
		}
		inner *= 1 + longer;
	}
	do
		sample[n++] = rate(k, inner);
	while (!enough(n, began));
	printf("ompp-attach: compute %s %d", kernels[k].name, threads);
	write_samples(n);
}

// write_runtime writes which OpenMP runtime this is: the mapped file with its name.
static void write_runtime(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[1000];

	printf("ompp-attach: fact openmp_standard %d\n", _OPENMP);
	while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
		char *path = strchr(line, '/');

		if (path != NULL && strstr(line, "r-xp") != NULL &&
			(strstr(path, "/libgomp") || strstr(path, "/libomp") || strstr(path, "/libiomp")))
			printf("ompp-attach: fact openmp_path %s", path);
	}
	if (maps != NULL)
		fclose(maps);
}

int main(int argc, char **argv)
{
	long total;

	if (argc != 8)
		return 2;
	rule_of(argv);
#pragma omp parallel
#pragma omp single
	threads = omp_get_num_threads();
	cached = atol(argv[6]) / 4 / sizeof *a;
	uncached = atol(argv[7]) / threads / sizeof *a;
	if (uncached < cached)
		uncached = cached;
	total = uncached * threads;
	a = malloc(total * sizeof *a);
	b = malloc(total * sizeof *a);
	c = malloc(total * sizeof *a);
	if (a == NULL || b == NULL || c == NULL)
		return 3;
#pragma omp parallel
	{
		long own = omp_get_thread_num() * uncached;

		for (long i = own; i < own + uncached; i++) { // each thread its own part, for NUMA
			a[i] = 0;
			b[i] = 1;
			c[i] = 2;
		}
	}
	write_runtime();
	for (int k = 0; k < (int)(sizeof kernels / sizeof *kernels); k++)
		measure(k);
	return 0;
}
