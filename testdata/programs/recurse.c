// recurse.c: constructs under deep recursion.
//
//   recurse [all|critical|lock|regions|teams|branching] [DEPTH=500]
//
// Checks itself. With T = OMP_NUM_THREADS and D = DEPTH:
//   critical   one region of T; CRITICAL T*D, left before going deeper
//   lock       one region of T; NEST LOCK T*D, all held at once by one thread
//   regions    PARALLEL 1 + T*(D-1): D deep, only the outermost has a team
//   teams      PARALLEL 1 + 2 + 4: teams of 2 to depth 3, 8 threads at the leaves
//   branching  one region of T; each thread 2^L - 1 serialized regions,
//              L = min(D, 10), at most L nested at a time
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long hits;

__attribute__((noinline)) static void hit(void)
{
	__atomic_fetch_add(&hits, 1, __ATOMIC_RELAXED);
}

__attribute__((noinline)) static void critical(int depth)
{
	if (depth == 0)
		return;
#pragma omp critical
	{
		hit();
	}
	critical(depth - 1);
	hit(); // no tail call: the frames must stay
}

static omp_nest_lock_t nest_lock;

__attribute__((noinline)) static void lock(int depth)
{
	if (depth == 0)
		return;
	omp_set_nest_lock(&nest_lock);
	hit();
	lock(depth - 1);
	omp_unset_nest_lock(&nest_lock);
}

__attribute__((noinline)) static void regions(int depth)
{
	if (depth == 0)
		return;
#pragma omp parallel
	{
		hit();
		regions(depth - 1);
	}
}

__attribute__((noinline)) static void teams(int depth)
{
#pragma omp parallel num_threads(2)
	{
		hit();
		if (depth > 1)
			teams(depth - 1);
	}
}

__attribute__((noinline)) static void branching(int levels)
{
#pragma omp parallel
	{
		hit();
		if (levels > 1) {
			branching(levels - 1);
			branching(levels - 1);
		}
	}
}

static int failed;

static void check(const char *name, long want)
{
	if (hits != want) {
		printf("%s: %ld, want %ld\n", name, hits, want);
		failed = 1;
	}
	hits = 0;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "all";
	int depth = argc > 2 ? atoi(argv[2]) : 500;
	int all = !strcmp(mode, "all");
	long t = omp_get_max_threads();
	omp_set_dynamic(0);
	omp_set_max_active_levels(1);

	if (all || !strcmp(mode, "critical")) {
#pragma omp parallel
		critical(depth);
		check("critical", 2 * t * depth);
	}
	if (all || !strcmp(mode, "lock")) {
		omp_init_nest_lock(&nest_lock);
#pragma omp parallel
		lock(depth);
		omp_destroy_nest_lock(&nest_lock);
		check("lock", t * depth);
	}
	if (all || !strcmp(mode, "regions")) {
		regions(depth);
		check("regions", depth > 0 ? t * depth : 0);
	}
	if (all || !strcmp(mode, "branching")) {
		int levels = depth < 10 ? depth : 10;
#pragma omp parallel
		branching(levels);
		check("branching", t * ((1L << levels) - 1));
	}
	if (all || !strcmp(mode, "teams")) {
		omp_set_max_active_levels(3);
		teams(3);
		check("teams", 2 + 4 + 8);
	}
	return failed;
}
