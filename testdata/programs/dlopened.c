// dlopened.c: program without OpenMP that loads, calls and unloads a library
// with OpenMP regions, again and again. Compile without -fopenmp.
//
//   dlopened LIBRARY [REPS=3] [N=5] [MS=0]
//
// LIBRARY is libregions.c as a shared object. Per repetition N regions. Before
// that, the program computes for MS milliseconds of processor time.
// Prints the number of criticals passed, REPS*N*OMP_NUM_THREADS.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv)
{
	int reps = argc > 2 ? atoi(argv[2]) : 3;
	int n = argc > 3 ? atoi(argv[3]) : 5;
	int ms = argc > 4 ? atoi(argv[4]) : 0;
	long sum = 0;
	while (clock() / (CLOCKS_PER_SEC / 1000) < ms)
		;
	if (argc < 2)
		return 2;
	for (int r = 0; r < reps; r++) {
		void *lib = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
		if (!lib) {
			printf("%s\n", dlerror());
			return 1;
		}
		long (*regions)(int) = (long (*)(int))dlsym(lib, "regions");
		void (*end)(void) = (void (*)(void))dlsym(lib, "regions_end");
		sum += regions(n);
		end();
		dlclose(lib);
	}
	printf("%ld\n", sum);
	return 0;
}
