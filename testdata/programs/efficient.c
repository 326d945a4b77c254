// efficient.c: a hybrid program that tells where its time went.
//
//   efficient DIR [MS=150]     2 ranks of 2 threads
//
// All work is sleep, so that the machine may be small and busy. Each rank writes DIR/RANK: lines
// "name ns" by its own clock, taken around the sleeps and calls themselves:
//
//   wall       from main's first line to its last, without MPI_Init and MPI_Finalize
//   work0 ..1  of thread 0 and 1 in parallel regions      serial   outside of them
//   parallel   thread 0 in parallel regions               mpi      in MPI outside of them
//   inside     in MPI inside of them
//
// In units of MS: serial work 4. A region with work 2 and 4 (imbalance 2). A region in which each
// thread works 2 in a critical section, one after the other (synchronisation 2, imbalance 2).
// Rank 0 works 3 more: rank 1 and its worker wait for that in MPI_Barrier. A region in which
// thread 0 of rank 1 waits 2 in MPI_Barrier for rank 0, and thread 1 works 3.
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static long unit = 150;
static long working[2];
static int me;

static long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

// work sleeps and returns how long that took.
static long work(int units)
{
	long begin = now();
	struct timespec t = {units * unit / 1000, units * unit % 1000 * 1000000};
	nanosleep(&t, NULL);
	return now() - begin;
}

static long barrier(void)
{
	long begin = now();
	MPI_Barrier(MPI_COMM_WORLD);
	return now() - begin;
}

static long uneven(void)
{
	long begin = now();
#pragma omp parallel num_threads(2)
	working[omp_get_thread_num()] += work(omp_get_thread_num() ? 4 : 2);
	return now() - begin;
}

static long exclusive(void)
{
	long begin = now();
#pragma omp parallel num_threads(2)
	{
#pragma omp critical
		working[omp_get_thread_num()] += work(2);
	}
	return now() - begin;
}

static long inside(long *mpi)
{
	long begin = now();
#pragma omp parallel num_threads(2)
	{
		if (omp_get_thread_num() == 1) {
			working[1] += work(3);
		} else {
			if (me == 0)
				working[0] += work(2);
			*mpi = barrier();
		}
	}
	return now() - begin;
}

int main(int argc, char **argv)
{
	long begin = now(), away, t, serial, parallel, mpi, in;
	int level;
	if (argc < 2)
		return 2;
	if (argc > 2)
		unit = atol(argv[2]);
	t = now();
	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	away = now() - t;
	serial = work(4);
	parallel = uneven();
	parallel += exclusive();
	if (me == 0)
		serial += work(3);
	mpi = barrier();
	parallel += inside(&in);
	t = now();
	MPI_Finalize();
	away += now() - t;

	char name[4096];
	snprintf(name, sizeof name, "%s/%d", argv[1], me);
	FILE *f = fopen(name, "w");
	if (!f)
		return 1;
	fprintf(f, "wall %ld\nwork0 %ld\nwork1 %ld\nserial %ld\nparallel %ld\nmpi %ld\ninside %ld\n", now() - begin - away, working[0],
		working[1], serial, parallel, mpi, in);
	_exit(fclose(f) != 0); // what the MPI library does at exit is not on this clock
}
