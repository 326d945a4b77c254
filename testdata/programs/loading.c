// loading.c: loads libraries while a region is under way.
//
//   loading [TIMES=10]
//
// One PARALLEL region of 2 threads; the primary loads and unloads a library
// TIMES times, the other one works until it is done. A barrier ends it.
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const some[] = {"libresolv.so.2", "libthread_db.so.1", "libanl.so.1", "libBrokenLocale.so.1"};
static atomic_int over;
static volatile double sink;

int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 10, loaded = 0;

#pragma omp parallel num_threads(2)
	{
#pragma omp master
		{
			for (int i = 0; i < times; i++) {
				void *lib = dlopen(some[i % 4], RTLD_NOW);
				if (lib) {
					loaded++;
					dlclose(lib);
				}
			}
			over = 1;
		}
		while (!over)
			sink += 1;
#pragma omp barrier
	}
	if (loaded == 0) {
		printf("no library was found\n");
		return 1;
	}
	return 0;
}
