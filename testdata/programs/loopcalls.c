// loopcalls.c: static loops whose calls of libomp are in a program and in a
// library that the program loads later. For clang.
//
//   loopcalls REPS [LIBRARY [ITERATIONS=100]]
//
// REPS times a parallel for, and a region with two loops; then the same again
// after LIBRARY was loaded, if it is not -. LIBRARY is this file as a shared object, with
// -DLIBRARY; its constructor executes a parallel for and a region with a loop.
// With -DPOINTERS the constructor also calls libomp through pointers, which it
// gets by name: a region with a loop.
// N = REPS, L = 1 if there is a library, P = 1 with pointers:
// PARALLEL LOOP 2 N + L, LOOP 4 N + L + P executions per thread.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static int a[100];

static void loops(int n)
{
#pragma omp parallel for
	for (int i = 0; i < n; i++)
		a[i] += i;
#pragma omp parallel
	{
#pragma omp for nowait
		for (int i = 0; i < n; i++)
			a[i] += 2;
#ifndef LIBRARY
#pragma omp for
		for (int i = 0; i < n; i++)
			a[i] += 3;
#endif
	}
}

#ifdef LIBRARY
#ifdef POINTERS
static struct ident { int reserved, flags, more[2]; const char *text; } loop = {0, 0x202, {0, 0}, ";loopcalls.c;pointers;1;1;;"};

typedef void begin(struct ident *, int, int, int *, int *, int *, int *, int, int);
typedef void end(struct ident *, int);
typedef int number(struct ident *);

static void pointers(int n)
{
	begin *init = (begin *)dlsym(RTLD_DEFAULT, "__kmpc_for_static_init_4");
	end *fini = (end *)dlsym(RTLD_DEFAULT, "__kmpc_for_static_fini");
	number *own = (number *)dlsym(RTLD_DEFAULT, "__kmpc_global_thread_num");
#pragma omp parallel
	{
		int lower = 0, upper = n - 1, stride = 1, last = 0, thread = own(&loop);
		init(&loop, thread, 34, &last, &lower, &upper, &stride, 1, 1);
		for (int i = lower; i <= upper && i < n; i++)
			a[i] += 4;
		fini(&loop, thread);
	}
}
#else
static void pointers(int n) {}
#endif

__attribute__((constructor)) static void start(void)
{
	loops(100);
	pointers(100);
}
#else
int main(int argc, char **argv)
{
	int reps = argc > 1 ? atoi(argv[1]) : 1, n = argc > 3 ? atoi(argv[3]) : 100;
	for (int i = 0; i < reps; i++)
		loops(n);
	if (argc > 2 && *argv[2] != '-' && !dlopen(argv[2], RTLD_NOW)) {
		puts(dlerror());
		return 1;
	}
	for (int i = 0; i < reps; i++)
		loops(n);
	return 0;
}
#endif
