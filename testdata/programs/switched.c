// switched.c: measuring is switched off and on by functions of a library, on while the other threads
// of a team wait in a barrier. A loop comes right behind that barrier. For GCC.
//
//   switched REPS [LIBRARY]
//
// LIBRARY is this file as a shared object with -DLIBRARY: loaded after the first region, or else
// preloaded. The first region has a loop. In each of REPS a region begins while nothing is measured,
// and a loop comes behind its barrier. So per thread LOOP REPS + 1.
#include "ompp.h"
#ifdef LIBRARY
void off(void) { ompp_off(); }
void on(void) { ompp_on(); }
#else
#define _GNU_SOURCE
#include <dlfcn.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int a[100];

int main(int argc, char **argv)
{
#pragma omp parallel
	{
#pragma omp for
		for (int i = 0; i < 100; i++)
			a[i]++;
	}
	if (argc > 2 && !dlopen(argv[2], RTLD_NOW | RTLD_GLOBAL))
		return 1;
	void (*goOff)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "off");
	void (*goOn)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "on");
	for (int r = atoi(argv[1]); r > 0; r--) {
		goOff();
#pragma omp parallel
		{
			if (omp_get_thread_num() == 0) {
				usleep(20000);
				goOn();
			}
#pragma omp barrier
#pragma omp for
			for (int i = 0; i < 100; i++)
				a[i]++;
		}
	}
	printf("%d\n", a[7]);
	return 0;
}
#endif
