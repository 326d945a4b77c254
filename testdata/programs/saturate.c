// saturate.c: as many construct executions per second as the runtime can do.
//
//   saturate [MODE=critical] [N=100000] [THREADS=OMP_NUM_THREADS]
//   MODE: critical, named, lock, nestlock, testlock, atomic, barrier, region
//
// Prints the number of operations: THREADS*N, for region N, and for testlock
// the successful tests (each thread tests until N succeeded).
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	for (unsigned i = 0; i < sizeof modes / sizeof *modes; i++)
		if (!strcmp(mode, modes[i].name)) {
			modes[i].run(n);
			printf("%ld\n", sum);
			return sum != (modes[i].run == regions ? n : n * omp_get_max_threads());
		}
	printf("no mode %s\n", mode);
	return 2;
}
