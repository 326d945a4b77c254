// coroutine.c: threads of a team go on on other stacks.
//
//   coroutine [ROUNDS=20]
//
// Each of 3 threads switches to a stack that lies above its own, and takes a lock
// there. It comes back and takes the lock again, goes there once more, and so on.
// The kernel forgets return probes that are pending on the lower stack. The round
// ends in a return from the region's body.
// Prints `done N`, N = 3 * 3 * ROUNDS, the times that the lock was taken; fails
// if a worker's other stack is not above its own.
// Counts: PARALLEL ROUNDS, per thread LOCK 3 * ROUNDS.
#define _GNU_SOURCE
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { TEAM = 3, STACK = 1 << 20 };

static ucontext_t own[TEAM], other[TEAM];
static char *stacks;
static omp_lock_t lock;
static long hits;
static int below;

__attribute__((noinline)) static void take(void)
{
	omp_set_lock(&lock);
	hits++;
	omp_unset_lock(&lock);
}

static void coroutine(int i)
{
	take();
	swapcontext(&other[i], &own[i]);
	take();
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 20;
	// Before the team exists: what is mapped later comes to lie below.
	stacks = mmap(NULL, TEAM * STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (stacks == MAP_FAILED)
		return 2;
	omp_set_dynamic(0);
	omp_init_lock(&lock);
	for (int r = 0; r < rounds; r++) {
#pragma omp parallel num_threads(TEAM)
		{
			int i = omp_get_thread_num();
			if (i > 0 && (char *)&i > stacks) {
#pragma omp atomic write
				below = 1;
			}
			getcontext(&other[i]);
			other[i].uc_stack.ss_sp = stacks + i * STACK;
			other[i].uc_stack.ss_size = STACK;
			other[i].uc_link = &own[i];
			makecontext(&other[i], (void (*)(void))coroutine, 1, i);
			swapcontext(&own[i], &other[i]);
			take();
			swapcontext(&own[i], &other[i]);
		}
	}
	omp_destroy_lock(&lock);
	printf("done %ld\n", hits);
	return below || hits != 3L * TEAM * rounds;
}
