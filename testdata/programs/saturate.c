// saturate.c: as many construct executions per second as the runtime can do.
//
//   saturate [MODE=critical] [N=100000] [THREADS=OMP_NUM_THREADS]
//   MODE: critical, named, lock, nestlock, testlock, atomic, barrier, region
//   saturate each SECONDS THREADS
//
// Prints the number of operations: THREADS*N, for region N, and for testlock
// the successful tests (each thread tests until N succeeded). With "each", one
// region after the other does nothing but criticals, locks, barriers, tasks, each
// for so long; the threads of a region do as many as they can. Then it prints
// lines "NAME THREAD EXECUTIONS".
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static long sum;
static omp_lock_t lock;
static omp_nest_lock_t nest_lock;

static void critical(long n)
{
#pragma omp parallel
	for (long i = 0; i < n; i++) {
#pragma omp critical
		sum++;
	}
}

static void named(long n)
{
#pragma omp parallel
	for (long i = 0; i < n; i++) {
#pragma omp critical(ledger)
		sum++;
	}
}

static void locks(long n)
{
#pragma omp parallel
	for (long i = 0; i < n; i++) {
		omp_set_lock(&lock);
		sum++;
		omp_unset_lock(&lock);
	}
}

static void nest_locks(long n)
{
#pragma omp parallel
	for (long i = 0; i < n; i++) {
		omp_set_nest_lock(&nest_lock);
		sum++;
		omp_unset_nest_lock(&nest_lock);
	}
}

static void test_locks(long n)
{
#pragma omp parallel
	for (long i = 0; i < n; i++) {
		while (!omp_test_lock(&lock))
			;
		sum++;
		omp_unset_lock(&lock);
	}
}

static void atomics(long n)
{
#pragma omp parallel
	for (long i = 0; i < n; i++) {
#pragma omp atomic
		sum++;
	}
}

static void barriers(long n)
{
#pragma omp parallel
	for (long i = 0; i < n; i++) {
#pragma omp atomic
		sum++;
#pragma omp barrier
	}
}

static void regions(long n)
{
	for (long i = 0; i < n; i++) {
#pragma omp parallel
		{
#pragma omp master
			sum++;
		}
	}
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

enum { BATCH = 100, MOST = 64 };

static void some_criticals(void)
{
	for (int i = 0; i < BATCH; i++) {
#pragma omp critical
		sum++;
	}
}

static void some_locks(void)
{
	for (int i = 0; i < BATCH; i++) {
		omp_set_lock(&lock);
		sum++;
		omp_unset_lock(&lock);
	}
}

static void some_barriers(void)
{
	for (int i = 0; i < BATCH; i++) {
#pragma omp barrier
	}
}

static void some_tasks(void)
{
	for (int i = 0; i < BATCH; i++) {
#pragma omp task
		{
#pragma omp atomic
			sum++;
		}
	}
#pragma omp taskwait
}

// each performs batches until the time is up. Where threads meet in the batch,
// the primary thread decides how many there are: in one of two places, so that
// it cannot change its mind before the others have read it.
static void each(const char *name, void (*batch)(void), int together, double seconds)
{
	static long done[MOST][8];
	int stop[2] = {0, 0};
	double end = now() + seconds;
	memset(done, 0, sizeof done);
	sum = 0;
#pragma omp parallel
	{
		int me = omp_get_thread_num(), over = 0;
		for (long k = 0; !over; k++) {
			if (together && me == 0)
				__atomic_store_n(&stop[k % 2], now() >= end, __ATOMIC_RELAXED);
			batch();
			done[me][0] += BATCH;
			over = together ? __atomic_load_n(&stop[k % 2], __ATOMIC_RELAXED) : now() >= end;
		}
	}
	for (int i = 0; i < omp_get_max_threads(); i++)
		printf("%s %d %ld\n", name, i, done[i][0]);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "critical";
	long n = argc > 2 ? atol(argv[2]) : 100000;
	static const struct {
		const char *name;
		void (*run)(long);
	} modes[] = {
		{"critical", critical}, {"named", named},           {"lock", locks},
		{"nestlock", nest_locks}, {"testlock", test_locks}, {"atomic", atomics},
		{"barrier", barriers},  {"region", regions},
	};
	omp_set_dynamic(0);
	if (argc > 3)
		omp_set_num_threads(atoi(argv[3]));
	omp_init_lock(&lock);
	omp_init_nest_lock(&nest_lock);
	if (!strcmp(mode, "each") && argc > 3 && omp_get_max_threads() <= MOST) {
		double seconds = atof(argv[2]);
		each("critical", some_criticals, 0, seconds);
		each("lock", some_locks, 0, seconds);
		each("barrier", some_barriers, 1, seconds);
		each("task", some_tasks, 0, seconds);
		return 0;
	}
	for (unsigned i = 0; i < sizeof modes / sizeof *modes; i++)
		if (!strcmp(mode, modes[i].name)) {
			modes[i].run(n);
			printf("%ld\n", sum);
			return sum != (modes[i].run == regions ? n : n * omp_get_max_threads());
		}
	printf("no mode %s\n", mode);
	return 2;
}
