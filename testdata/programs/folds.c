// folds.c: criticals and locks that nest, overlap and are left in all ways.
//
//   folds [N=200] [TIME=0] [END]
//
// A team of 2, in each of whose threads, N times: a critical, in every 8th of
// them another one; two locks hand over hand; a lock that is tested with and
// without success; a nest lock set twice; an ordered block. Then, once, a lock
// held over a barrier, and one that is unset after a longjmp out of its stretch.
// Before that a thread of its own sets a lock N times and ends, after it the
// first thread does. Then for TIME seconds both threads of a team pass criticals
// and locks. END is how the program ends: return, _exit, or
// kill (SIGKILL to itself).
// LOCK of a thread: 3*N + 2 (tests without success are none), and what comes
// before and after.
#include <omp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEAM = 2 };

static long n = 200, outer, inner, turns;
static omp_lock_t alone, shared;

static void set_and_unset(omp_lock_t *l)
{
	for (long i = 0; i < n; i++) {
		omp_set_lock(l);
		omp_unset_lock(l);
	}
}

static void *thread(void *lock)
{
	set_and_unset(lock);
	return NULL;
}

static void criticals(void)
{
	for (long i = 0; i < n; i++) {
#pragma omp critical(outer)
		{
			outer++;
			if (i % 8 == 0) {
#pragma omp critical(inner)
				inner++;
			}
		}
	}
}

static void hand_over_hand(void)
{
	omp_lock_t a, b;

	omp_init_lock(&a);
	omp_init_lock(&b);
	for (long i = 0; i < n; i++) {
		omp_set_lock(&a);
		omp_set_lock(&b);
		omp_unset_lock(&a);
		omp_unset_lock(&b);
	}
	omp_destroy_lock(&a);
	omp_destroy_lock(&b);
}

static long tests(void)
{
	omp_lock_t l;
	long got = 0;

	omp_init_lock(&l);
	for (long i = 0; i < n; i++) {
		if (omp_test_lock(&l)) {
			got++;
			omp_unset_lock(&l);
		}
	}
	omp_set_lock(&l);
	for (long i = 0; i < n; i++)
		got += omp_test_lock(&l);
	omp_unset_lock(&l);
	omp_destroy_lock(&l);
	return got;
}

static void nested(void)
{
	omp_nest_lock_t l;

	omp_init_nest_lock(&l);
	for (long i = 0; i < n; i++) {
		omp_set_nest_lock(&l);
		omp_set_nest_lock(&l);
		omp_unset_nest_lock(&l);
		omp_unset_nest_lock(&l);
	}
	omp_destroy_nest_lock(&l);
}

static void jump(omp_lock_t *l)
{
	jmp_buf there;

	if (!setjmp(there)) {
		omp_set_lock(l);
		longjmp(there, 1);
	}
	omp_unset_lock(l);
}

static void storm(double seconds)
{
	double end = omp_get_wtime() + seconds;

#pragma omp parallel num_threads(TEAM)
	while (omp_get_wtime() < end) {
		for (int i = 0; i < 1000; i++) {
#pragma omp critical(storm)
			turns++;
			omp_set_lock(&shared);
			omp_unset_lock(&shared);
		}
	}
}

int main(int argc, char **argv)
{
	long got = 0;
	pthread_t t;

	n = argc > 1 ? atol(argv[1]) : n;
	omp_init_lock(&alone);
	omp_init_lock(&shared);
	if (pthread_create(&t, NULL, thread, &alone) || pthread_join(t, NULL))
		return 1;
#pragma omp parallel num_threads(TEAM) reduction(+ : got)
	{
		omp_lock_t own;

		omp_init_lock(&own);
		criticals();
		hand_over_hand();
		got += tests();
		nested();
#pragma omp for ordered schedule(static)
		for (long i = 0; i < TEAM * n; i++) {
#pragma omp ordered
			turns++;
		}
		omp_set_lock(&own);
#pragma omp barrier
		omp_unset_lock(&own);
		jump(&own);
		omp_destroy_lock(&own);
	}
	if (argc > 2)
		storm(atof(argv[2]));
	set_and_unset(&alone);
	if (outer != TEAM * n || got != TEAM * n) {
		fprintf(stderr, "folds: %ld, %ld\n", outer, got);
		return 1;
	}
	if (argc > 3 && !strcmp(argv[3], "_exit"))
		_exit(0);
	if (argc > 3 && !strcmp(argv[3], "kill"))
		kill(getpid(), SIGKILL);
	return 0;
}
