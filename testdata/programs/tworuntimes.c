// tworuntimes.c: program without OpenMP that loads two libraries with OpenMP
// regions, as a Python with modules from different makers does. Compile
// without -fopenmp.
//
//   tworuntimes together|turns SECONDS LIBRARY LIBRARY
//
// together: each library computes in a thread of its own, at the same time.
// turns: they compute one after the other, a millisecond at a time.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double seconds;

static void *whole(void *spin)
{
	((void (*)(double))spin)(seconds);
	return 0;
}

int main(int argc, char **argv)
{
	void (*spin[2])(double);
	if (argc < 5)
		return 2;
	seconds = atof(argv[2]);
	for (int i = 0; i < 2; i++) {
		void *lib = dlopen(argv[3 + i], RTLD_NOW | RTLD_LOCAL);
		if (!lib) {
			printf("%s\n", dlerror());
			return 1;
		}
		spin[i] = (void (*)(double))dlsym(lib, "spin");
	}
	if (!strcmp(argv[1], "together")) {
		pthread_t t[2];
		for (int i = 0; i < 2; i++)
			pthread_create(&t[i], 0, whole, (void *)spin[i]);
		for (int i = 0; i < 2; i++)
			pthread_join(t[i], 0);
	} else {
		for (double t = 0; t < seconds; t += 0.002)
			for (int i = 0; i < 2; i++)
				spin[i](0.001);
	}
	return 0;
}
