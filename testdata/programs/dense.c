// dense.c: storms, in which an operation takes nanoseconds and a probe of it a
// microsecond. It counts by itself, and prints, what it executes.
//
//   dense KIND SIZE
//
// ua: many parallel regions one after the other, each with a lock site of its own,
// like NPB's ua. fib, uts, nqueens, health: trees of tasks, like those of the
// Barcelona OpenMP Tasks Suite. contended: all threads take one lock all of the time.
// critical: the same with a critical. loop: one long region with a lock now and then.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX = 64, LOCKS = 512 };
static struct { long tasks, waits, locks, criticals, found; char pad[88]; } counts[MAX];
#define MINE counts[omp_get_thread_num()]
static omp_lock_t locks[LOCKS];
static double field[LOCKS];

static int fib(int n)
{
	int x, y;
	if (n < 2)
		return n;
	MINE.tasks += 2;
#pragma omp task shared(x) firstprivate(n)
	x = fib(n - 1);
#pragma omp task shared(y) firstprivate(n)
	y = fib(n - 2);
	MINE.waits++;
#pragma omp taskwait
	return x + y;
}

// A tree whose nodes have six children or none, by a hash of their place.
static long uts(unsigned long state, int depth)
{
	long sub[6] = {0}, sum = 1;
	state ^= state >> 33;
	state *= 0xff51afd7ed558ccdUL;
	state ^= state >> 29;
	state *= 0xc4ceb9fe1a85ec53UL;
	state ^= state >> 32;
	if (depth > 0 && state % 1000 < 166)
		for (int i = 0; i < 6; i++) {
			MINE.tasks++;
#pragma omp task shared(sub) firstprivate(i, state, depth)
			sub[i] = uts(state + i + 1, depth - 1);
		}
	MINE.waits++;
#pragma omp taskwait
	for (int i = 0; i < 6; i++)
		sum += sub[i];
	return sum;
}

static int safe(int row, const char *at)
{
	for (int i = 0; i < row; i++)
		if (at[i] == at[row] || at[i] - at[row] == row - i || at[row] - at[i] == row - i)
			return 0;
	return 1;
}

static void nqueens(int n, int row, const char *at)
{
	if (row == n) {
		MINE.found++;
		return;
	}
	for (int i = 0; i < n; i++) {
		MINE.tasks++;
#pragma omp task untied firstprivate(i)
		{
			char b[24];
			memcpy(b, at, row);
			b[row] = i;
			if (safe(row, b))
				nqueens(n, row + 1, b);
		}
	}
	MINE.waits++;
#pragma omp taskwait
}

// Villages of four below each other; in each step every one of them is a task, and
// some patients are handed on under the lock of the one above.
static void village(int level, int number)
{
	if (level > 0)
		for (int i = 0; i < 4; i++) {
			MINE.tasks++;
#pragma omp task untied firstprivate(level, number, i)
			village(level - 1, 4 * number + i);
		}
	unsigned x = number * 2654435761u;
	for (int i = 0; i < 20; i++)
		x = x * 1664525u + 1013904223u;
	if (x % 3 == 0) {
		MINE.locks++;
		omp_set_lock(&locks[number / 4 % LOCKS]);
		field[number / 4 % LOCKS]++;
		omp_unset_lock(&locks[number / 4 % LOCKS]);
	}
	MINE.waits++;
#pragma omp taskwait
}

#define SITE(S) \
	static void site##S(long n) \
	{ \
		_Pragma("omp parallel for") \
		for (long i = 0; i < n; i++) { \
			int at = (i * 7 + S) % LOCKS; \
			omp_set_lock(&locks[at]); \
			field[at] += i; \
			omp_unset_lock(&locks[at]); \
			MINE.locks++; \
		} \
	}
// Each on a line of its own, which tells them apart.
SITE(0)
SITE(1)
SITE(2)
SITE(3)
SITE(4)
SITE(5)
SITE(6)
SITE(7)
SITE(8)
SITE(9)
SITE(10)
SITE(11)

static void ua(int steps)
{
	static void (*const sites[])(long) = {site0, site1, site2, site3, site4, site5, site6, site7, site8, site9, site10, site11};
	for (int s = 0; s < steps; s++)
		for (int k = 0; k < 12; k++)
			sites[k](3000 << k % 6);
}

static void contended(long n)
{
#pragma omp parallel
	for (long i = 0; i < n; i++) {
		omp_set_lock(&locks[0]);
		field[0]++;
		omp_unset_lock(&locks[0]);
		MINE.locks++;
	}
}

static void critical(long n)
{
#pragma omp parallel
	for (long i = 0; i < n; i++) {
#pragma omp critical
		field[0]++;
		MINE.criticals++;
	}
}

static void loop(long n)
{
#pragma omp parallel
	for (long i = 0; i < n; i++) {
		unsigned long x = i;
		for (int j = 0; j < 20000; j++) {
			x = x * 3 + 1;
			__asm__ volatile("" : "+r"(x));
		}
		omp_set_lock(&locks[omp_get_thread_num()]);
		omp_unset_lock(&locks[omp_get_thread_num()]);
		MINE.locks++;
	}
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	const char *kind = argv[1];
	long size = atol(argv[2]);
	for (int i = 0; i < LOCKS; i++)
		omp_init_lock(&locks[i]);
	double begin = now();
	if (!strcmp(kind, "ua"))
		ua(size);
	else if (!strcmp(kind, "contended"))
		contended(size);
	else if (!strcmp(kind, "critical"))
		critical(size);
	else if (!strcmp(kind, "loop"))
		loop(size);
	else {
#pragma omp parallel
#pragma omp single
		if (!strcmp(kind, "fib"))
			fib(size);
		else if (!strcmp(kind, "nqueens"))
			nqueens(size, 0, "");
		else if (!strcmp(kind, "uts"))
			for (int i = 0; i < size; i++)
				uts(1000 + i, 100);
		else if (!strcmp(kind, "health"))
			for (int i = 0; i < size; i++)
				village(6, 0);
	}
	double time = now() - begin;
	long tasks = 0, waits = 0, taken = 0, criticals = 0;
	for (int i = 0; i < MAX; i++) {
		tasks += counts[i].tasks;
		waits += counts[i].waits;
		taken += counts[i].locks;
		criticals += counts[i].criticals;
	}
	printf("task %ld\ntaskwait %ld\nlock %ld\ncritical %ld\nseconds %.6f\n", tasks, waits, taken, criticals, time);
	return 0;
}
