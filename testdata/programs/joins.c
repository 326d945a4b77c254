// joins.c: regions of libomp that begin and end in all ways that need no task. These are teams of
// several threads and of one, serialised regions, nested ones, leagues, cancelled regions, and
// several initial threads. For clang.
//
//   OMP_CANCELLATION=true joins REPS      checks itself
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static long hits;

static void hit(void)
{
#pragma omp atomic
	hits++;
}

// 2 threads, each of which forks a team of 2 and one of 1: 2 + 4 + 2.
__attribute__((noinline)) static void nested(void)
{
#pragma omp parallel num_threads(2)
	{
		hit();
#pragma omp parallel num_threads(2)
		hit();
#pragma omp parallel num_threads(1)
		hit();
	}
}

// A serialised region around a team of 1, one of 2, and another serialised one: 1 + 1 + 2 + 1 + 1.
__attribute__((noinline)) static void serialised(void)
{
#pragma omp parallel if (0)
	{
		hit();
#pragma omp parallel num_threads(1)
		hit();
#pragma omp parallel num_threads(2)
		hit();
#pragma omp parallel if (0)
		{
			hit();
#pragma omp parallel num_threads(1)
			hit();
		}
	}
}

// Teams of 1 in serialised regions, in quick succession: 30 * (1 + 1).
__attribute__((noinline)) static void ones(void)
{
	for (int i = 0; i < 30; i++) {
#pragma omp parallel if (0)
		{
			hit();
#pragma omp parallel num_threads(1)
			hit();
		}
	}
}

// Nesting is off in the team of 2: 2 + 2.
__attribute__((noinline)) static void flat(void)
{
	omp_set_max_active_levels(1);
#pragma omp parallel num_threads(2)
	{
		hit();
#pragma omp parallel num_threads(2)
		hit();
	}
	omp_set_max_active_levels(4);
}

// Leagues of 2 teams of 2 threads, and of 2 teams of 1 thread: 4 + 2.
__attribute__((noinline)) static void leagues(void)
{
#pragma omp teams num_teams(2) thread_limit(2)
	{
#pragma omp parallel num_threads(2)
		hit();
	}
#pragma omp teams num_teams(2) thread_limit(1)
	hit();
}

// 2 threads, of which one cancels the region; the other one waits for that: 2. A thread that came
// by its cancellation point too early would miss the barrier at which clang makes the others wait.
__attribute__((noinline)) static void cancelled(void)
{
#pragma omp parallel num_threads(2)
	{
		hit();
		if (omp_get_thread_num() == 0) {
#pragma omp cancel parallel
		}
		while (omp_get_cancellation()) {
#pragma omp cancellation point parallel
		}
	}
}

// The same function forks by a loop and a reduction: 2 + 2.
__attribute__((noinline)) static void loops(void)
{
	long sum = 0;
#pragma omp parallel for num_threads(2) reduction(+ : sum)
	for (int i = 0; i < 2; i++) {
		hit();
		sum += i;
	}
#pragma omp parallel num_threads(2)
	{
#pragma omp barrier
#pragma omp for schedule(static)
		for (int i = 0; i < 2; i++)
			hit();
	}
}

static void *initial(void *arg)
{
	int reps = *(int *)arg;

	omp_set_dynamic(0);
	omp_set_max_active_levels(4);
	for (int r = 0; r < reps; r++)
		loops();
	return NULL;
}

int main(int argc, char **argv)
{
	int reps = argc > 1 ? atoi(argv[1]) : 10;
	pthread_t other;

	omp_set_dynamic(0);
	omp_set_max_active_levels(4);
	for (int r = 0; r < reps; r++) {
		nested();
		serialised();
		ones();
		flat();
		cancelled();
		leagues();
		loops();
	}
	if (pthread_create(&other, NULL, initial, &reps))
		return 2;
	initial(&reps);
	pthread_join(other, NULL);
	long want = (8 + 6 + 60 + 4 + 2 + 6 + 4 + 2 * 4) * (long)reps;
	printf("hits %ld, want %ld\n", hits, want);
	return hits != want;
}
