/* weakomp.c: calls OpenMP's runtime only if another file has brought it along.
 * Compile without -fopenmp.
 *
 *   weakomp LIBRARY
 *
 * Calls step five times, and then loads LIBRARY, which is libregions.c as a
 * shared object. */
#include <dlfcn.h>

extern void GOMP_barrier(void) __attribute__((weak));

static volatile int n;

void __attribute__((noinline)) step(int k) { n += k; }

int main(int argc, char **argv)
{
	for (int k = 0; k < 5; k++)
		step(k);
	if (GOMP_barrier)
		GOMP_barrier();
	void *lib = argc > 1 ? dlopen(argv[1], RTLD_NOW) : 0;
	if (!lib)
		return 1;
	long (*regions)(int) = (long (*)(int))dlsym(lib, "regions");
	return regions(1) != 2;
}
