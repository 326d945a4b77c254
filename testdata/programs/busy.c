/* Threads that touch known numbers of pages, and are busy for known times.
 *
 *	busy                  three parallel regions
 *	busy SECONDS          only keeps a core busy
 *	busy SECONDS THREADS  one region, in which each thread is busy */
#define _GNU_SOURCE
#include <omp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static double now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

/* Time on a processor. */
static void busy(double seconds)
{
	double end = now(CLOCK_THREAD_CPUTIME_ID) + seconds;

	while (now(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

static void touch(long pages)
{
	long i, size = sysconf(_SC_PAGESIZE);
	char *p = mmap(0, pages * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(p, pages * size, MADV_NOHUGEPAGE);
	for (i = 0; i < pages; i++)
		p[i * size] = 1;
}

int main(int argc, char **argv)
{
	if (argc > 2) {
#pragma omp parallel num_threads(atoi(argv[2]))
		busy(atof(argv[1]));
		return 0;
	}
	if (argc > 1) {
		busy(atof(argv[1]));
		return 0;
	}
#pragma omp parallel num_threads(2) /* 1: 1000 pages (thread + 1) */
	touch(1000 * (omp_get_thread_num() + 1));
#pragma omp parallel num_threads(2) /* 2: one sleeps, one is busy */
	{
		if (omp_get_thread_num() == 0)
			usleep(200000);
		else
			busy(0.15);
#pragma omp critical /* 3: 50 ms each */
		busy(0.05);
	}
#pragma omp parallel num_threads(3) /* 4: one thread more than before: 100 ms each */
	busy(0.1);
	return 0;
}
