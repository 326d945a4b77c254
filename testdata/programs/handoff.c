// handoff.c: a lock that one thread sets and another one unsets. OpenMP forbids
// that, the runtimes do it.
//
//   handoff [ROUNDS=5]
//
// Teams of 2. Prints nothing.
// Counts: PARALLEL 2 * ROUNDS; thread 0: LOCK ROUNDS; both threads: CRITICAL
// held ROUNDS while thread 0 has the lock, CRITICAL free ROUNDS after thread 1
// has released it, CRITICAL later ROUNDS in regions of their own.
#include <omp.h>
#include <stdlib.h>

static long held, after, later;

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 5;
	omp_lock_t lock;
	omp_set_dynamic(0);
	omp_init_lock(&lock);
	for (int r = 0; r < rounds; r++) {
#pragma omp parallel num_threads(2)
		{
			if (omp_get_thread_num() == 0)
				omp_set_lock(&lock);
#pragma omp critical(held)
			held++;
#pragma omp barrier
			if (omp_get_thread_num() == 1)
				omp_unset_lock(&lock);
#pragma omp barrier
#pragma omp critical(free)
			after++;
		}
#pragma omp parallel num_threads(2)
		{
#pragma omp critical(later)
			later++;
		}
	}
	omp_destroy_lock(&lock);
	return held != 2 * rounds || after != 2 * rounds || later != 2 * rounds;
}
