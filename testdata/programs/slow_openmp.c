// Makes barriers and critical sections take 20 us longer than they do, by the clock. Compiled into a
// program, its definitions come before those of the runtime (libgomp or libomp).
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

static void spin(long ns)
{
	struct timespec a, b;

	clock_gettime(CLOCK_MONOTONIC, &a);
	do
		clock_gettime(CLOCK_MONOTONIC, &b);
	while ((b.tv_sec - a.tv_sec) * 1000000000L + b.tv_nsec - a.tv_nsec < ns);
}

void GOMP_barrier(void)
{
	static void (*real)(void);

	if (!real)
		real = dlsym(RTLD_NEXT, "GOMP_barrier");
	spin(20000);
	real();
}

void GOMP_critical_start(void)
{
	static void (*real)(void);

	if (!real)
		real = dlsym(RTLD_NEXT, "GOMP_critical_start");
	real();
	spin(20000); // in the section
}

void __kmpc_barrier(void *where, int thread)
{
	static void (*real)(void *, int);

	if (!real)
		real = dlsym(RTLD_NEXT, "__kmpc_barrier");
	spin(20000);
	real(where, thread);
}

void __kmpc_critical_with_hint(void *where, int thread, void *lock, unsigned hint)
{
	static void (*real)(void *, int, void *, unsigned);

	if (!real)
		real = dlsym(RTLD_NEXT, "__kmpc_critical_with_hint");
	real(where, thread, lock, hint);
	spin(20000);
}

void __kmpc_critical(void *where, int thread, void *lock)
{
	static void (*real)(void *, int, void *);

	if (!real)
		real = dlsym(RTLD_NEXT, "__kmpc_critical");
	real(where, thread, lock);
	spin(20000);
}
