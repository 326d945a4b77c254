// align.c: constructs of one kind after one another, each executed another
// number of times, so that a profile shows whether counts are at the right
// lines. The comment behind a directive is how often each thread executes it.
//
//   align
#include <omp.h>
#include <stdio.h>

enum { ROUNDS = 12, N = 8 };
static long total;

__attribute__((noinline)) static void hit(void) { __atomic_fetch_add(&total, 1, __ATOMIC_RELAXED); }

static inline void inlined(int r)
{
	if (r < 9)
#pragma omp for schedule(dynamic) // 9
		for (int i = 0; i < N; i++)
			hit();
	if (r < 10)
#pragma omp critical(inlined) // 10
		hit();
}

static void loops(void)
{
#pragma omp parallel // 1
	for (int r = 0; r < ROUNDS; r++) {
		if (r < 1)
#pragma omp for schedule(dynamic) // 1
			for (int i = 0; i < N; i++)
				hit();
		if (r < 2)
#pragma omp for schedule(dynamic) nowait // 2
			for (int i = 0; i < N; i++)
				total += i == N;
		if (r < 3)
#pragma omp for schedule(guided) // 3
			for (int i = 0; i < N; i++)
				hit();
		if (r < 4)
#pragma omp for schedule(guided) nowait // 4
			for (int i = 0; i < N; i++)
				hit();
		if (r < 5)
#pragma omp for schedule(dynamic) // 5
			for (int i = 0; i < N; i++)
				hit();
		inlined(r);
		if (r < 6)
#pragma omp for schedule(runtime) // 6
			for (int i = 0; i < N; i++)
				hit();
		if (r < 7)
#pragma omp for schedule(dynamic) // 7
			for (int i = 0; i < N; i++)
				hit();
	}
}

static void others(void)
{
#pragma omp parallel // 1
	for (int r = 0; r < ROUNDS; r++) {
		if (r < 1)
#pragma omp single // 1
			hit();
		if (r < 2)
#pragma omp single nowait // 2
			hit();
		if (r < 3)
#pragma omp single // 3
			total++;
		if (r < 4)
#pragma omp sections // 4
		{
			hit();
#pragma omp section
			hit();
		}
		if (r < 5)
#pragma omp sections nowait // 5
		{
			hit();
#pragma omp section
			total++;
		}
		if (r < 6)
#pragma omp sections // 6
		{
			total++;
		}
		if (r < 7)
#pragma omp critical // 7
			total++;
		if (r < 8)
#pragma omp critical // 8
			hit();
		if (r < 9) {
#pragma omp barrier // 9
			hit();
		}
		if (r < 10)
#pragma omp single nowait // 10
			total++;
		if (r < 11) {
#pragma omp barrier // 11
		}
	}
}

// Singles of which the first ends where the next one's call stands.
static void pairs(void)
{
#pragma omp parallel // 1
	for (int r = 0; r < ROUNDS; r++) {
		if (r < 4) {
#pragma omp single nowait // 4
			{
			}
#pragma omp single // 4
			total++;
#pragma omp single // 4
			total += 2;
		}
		if (r < 6) {
#pragma omp single // 6
			total++;
#pragma omp single nowait // 6
			{
			}
#pragma omp single nowait // 6
			{
			}
#pragma omp single nowait // 6
			hit();
#pragma omp single // 6
			total++;
		}
	}
}

int main(void)
{
	omp_set_dynamic(0);
	loops();
	others();
	pairs();
	printf("%ld\n", total);
	return 0;
}
