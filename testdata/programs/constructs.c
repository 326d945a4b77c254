// constructs.c: every OpenMP construct the tool measures, once per repetition.
//
//   constructs [REPS=1] [N=8]
//
// Checks itself: each function returns how often its marked statements ran,
// and the table at the end says how often that must be for a team of T
// threads and loops of N iterations. Nothing depends on timing, so all counts
// over all threads are the same in every run (who wins a single is not).
// Per repetition: CRITICAL 2T unnamed, T named; BARRIER 2T explicit;
// LOCK 2T + 1 (T of them by omp_test_lock, which fails another T times);
// NEST LOCK 3T (T of them by omp_test_nest_lock).
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static int n = 8;
static long hits;

// hit is no OpenMP atomic: the program's own bookkeeping must not be measured.
__attribute__((noinline)) static void hit(void)
{
	__atomic_fetch_add(&hits, 1, __ATOMIC_RELAXED);
}

static void c_parallel(void)
{
#pragma omp parallel
	{
		hit();
	}
}

static void c_parallel_for(void)
{
#pragma omp parallel for
	for (int i = 0; i < n; i++)
		hit();
}

static void c_parallel_for_dynamic(void)
{
#pragma omp parallel for schedule(dynamic, 1)
	for (int i = 0; i < n; i++)
		hit();
}

static void c_parallel_for_simd(void)
{
	static int a[1024];
	int length = n < 1024 ? n : 1024;
#pragma omp parallel for simd
	for (int i = 0; i < length; i++)
		a[i] = 2 * i;
	hits += length > 0 && a[length - 1] == 2 * (length - 1);
}

static void c_for_static(void)
{
#pragma omp parallel
	{
#pragma omp for
		for (int i = 0; i < n; i++)
			hit();
		hit();
#pragma omp for schedule(static, 2)
		for (int i = 0; i < n; i++)
			hit();
		hit();
	}
}

static void c_for_dynamic(void)
{
#pragma omp parallel
	{
#pragma omp for schedule(dynamic, 2)
		for (int i = 0; i < n; i++)
			hit();
		hit();
	}
}

static void c_for_guided(void)
{
#pragma omp parallel
	{
#pragma omp for schedule(guided)
		for (int i = 0; i < n; i++)
			hit();
		hit();
	}
}

static void c_for_runtime(void)
{
#pragma omp parallel
	{
#pragma omp for schedule(runtime)
		for (int i = 0; i < n; i++)
			hit();
		hit();
	}
}

static void c_for_nowait(void)
{
#pragma omp parallel
	{
#pragma omp for nowait
		for (int i = 0; i < n; i++)
			hit();
#pragma omp for schedule(dynamic) nowait
		for (int i = 0; i < n; i++)
			hit();
		hit();
	}
}

static void c_for_collapse_unsigned(void)
{
	unsigned long long m = (unsigned long long)n;
#pragma omp parallel
	{
#pragma omp for collapse(2) schedule(dynamic)
		for (unsigned long long i = 0; i < m; i++)
			for (int j = 0; j < 2; j++)
				hit();
	}
}

static void c_for_ordered(void)
{
	int next = 0, wrong = 0;
#pragma omp parallel
	{
#pragma omp for ordered schedule(dynamic)
		for (int i = 0; i < n; i++) {
#pragma omp ordered
			{
				wrong += i != next++;
				hit();
			}
		}
	}
	if (wrong)
		hit();
}

static void c_for_doacross(void)
{
#pragma omp parallel
	{
#pragma omp for ordered(1)
		for (int i = 0; i < n; i++) {
#pragma omp ordered depend(sink : i - 1)
			hit();
#pragma omp ordered depend(source)
		}
	}
}

static void c_sections(void)
{
#pragma omp parallel
	{
#pragma omp sections
		{
#pragma omp section
			{
				hit();
			}
#pragma omp section
			{
				hit();
			}
#pragma omp section
			{
				hit();
			}
		}
		hit();
#pragma omp sections nowait
		{
#pragma omp section
			hit();
#pragma omp section
			hit();
		}
	}
}

static void c_parallel_sections(void)
{
#pragma omp parallel sections
	{
#pragma omp section
		hit();
#pragma omp section
		hit();
	}
}

static void c_single(void)
{
#pragma omp parallel
	{
#pragma omp single
		{
			hit();
		}
		hit();
#pragma omp single nowait
		{
			hit();
		}
	}
}

static void c_single_copyprivate(void)
{
	int x = 0;
#pragma omp parallel firstprivate(x)
	{
#pragma omp single copyprivate(x)
		{
			x = 5;
			hit();
		}
		if (x == 5)
			hit();
	}
}

static void c_master(void)
{
#pragma omp parallel
	{
#pragma omp master
		{
			hit();
		}
	}
}

// Clang 14 knows masked only with -fopenmp-version=51.
#if !defined(__clang__) || _OPENMP >= 202011
#define HAVE_MASKED 1
static void c_masked(void)
{
#pragma omp parallel
	{
#pragma omp masked
		{
			hit();
		}
	}
}
#endif

static void c_critical(void)
{
#pragma omp parallel
	{
#pragma omp critical
		{
			hit();
		}
#pragma omp critical(ledger)
		{
			hit();
		}
#pragma omp critical
		{
			hit();
		}
	}
}

static void c_barrier(void)
{
#pragma omp parallel
	{
		hit();
#pragma omp barrier
		hit();
#pragma omp barrier
		hit();
	}
}

static void c_flush(void)
{
#pragma omp parallel
	{
		hit();
#pragma omp flush
		hit();
	}
}

static void c_atomic(void)
{
	long add = 0, capture = 0, got;
	double real = 0;
	long double wide = 0; // too wide for an instruction: a runtime call in GCC
#pragma omp parallel private(got)
	{
#pragma omp atomic
		add++;
#pragma omp atomic
		real += 1.5;
#pragma omp atomic
		wide += 1.5L;
#pragma omp atomic capture
		got = capture++;
		if (got >= 0)
			hit();
	}
	hits += add + capture + (long)(real / 1.5) + (long)(wide / 1.5L);
}

static void c_lock(void)
{
	static omp_lock_t lock, held;
	omp_init_lock(&lock);
	omp_init_lock(&held);
	omp_set_lock(&held);
#pragma omp parallel
	{
		omp_lock_t own; // uncontended, so that the test always succeeds
		omp_init_lock(&own);
		omp_set_lock(&lock);
		hit();
		omp_unset_lock(&lock);
		if (omp_test_lock(&own)) {
			hit();
			omp_unset_lock(&own);
		}
		omp_destroy_lock(&own);
		if (!omp_test_lock(&held))
			hit();
	}
	omp_unset_lock(&held);
	omp_destroy_lock(&held);
	omp_destroy_lock(&lock);
}

static void c_nest_lock(void)
{
	static omp_nest_lock_t lock;
	omp_init_nest_lock(&lock);
#pragma omp parallel
	{
		omp_set_nest_lock(&lock);
		omp_set_nest_lock(&lock);
		hits += omp_test_nest_lock(&lock); // depth 3
		omp_unset_nest_lock(&lock);
		omp_unset_nest_lock(&lock);
		omp_unset_nest_lock(&lock);
	}
	omp_destroy_nest_lock(&lock);
}

static void c_reduction(void)
{
	long sum = 0, product = 1;
#pragma omp parallel
	{
#pragma omp for reduction(+ : sum) reduction(* : product)
		for (int i = 0; i < n; i++) {
			sum += 1;
			product *= 1;
		}
#pragma omp for reduction(+ : sum)
		for (int i = 0; i < n; i++)
			sum += 1;
	}
#pragma omp parallel for reduction(+ : sum)
	for (int i = 0; i < n; i++)
		sum += product;
	hits += sum;
}

static void c_nested(void)
{
#pragma omp parallel num_threads(2)
	{
		hit();
#pragma omp parallel num_threads(2)
		{
			hit();
		}
		hit();
	}
}

static void c_serialized(void)
{
#pragma omp parallel num_threads(1)
	{
		hit();
#pragma omp for
		for (int i = 0; i < n; i++)
			hit();
	}
#pragma omp parallel if (0)
	{
		hit();
	}
}

__attribute__((noinline)) static void orphan(void)
{
#pragma omp for schedule(dynamic)
	for (int i = 0; i < n; i++)
		hit();
}

static void c_orphaned(void)
{
	orphan(); // outside any region: a team of one
#pragma omp parallel
	{
		orphan();
	}
}

static void c_changing_team(void)
{
	for (int size = 1; size <= 4; size++) {
#pragma omp parallel num_threads(size)
		{
			hit();
		}
#pragma omp parallel num_threads(5 - size)
		{
			hit();
		}
	}
}

int main(int argc, char **argv)
{
	int reps = argc > 1 ? atoi(argv[1]) : 1;
	n = argc > 2 ? atoi(argv[2]) : 8;
	omp_set_dynamic(0);
	omp_set_max_active_levels(2);
	long t = omp_get_max_threads();

	const struct {
		const char *name;
		void (*run)(void);
		long hits;
	} table[] = {
		{"parallel", c_parallel, t},
		{"parallel for", c_parallel_for, n},
		{"parallel for dynamic", c_parallel_for_dynamic, n},
		{"parallel for simd", c_parallel_for_simd, 1},
		{"for static", c_for_static, 2 * n + 2 * t},
		{"for dynamic", c_for_dynamic, n + t},
		{"for guided", c_for_guided, n + t},
		{"for runtime", c_for_runtime, n + t},
		{"for nowait", c_for_nowait, 2 * n + t},
		{"for collapse unsigned", c_for_collapse_unsigned, 2 * n},
		{"for ordered", c_for_ordered, n},
		{"for doacross", c_for_doacross, n},
		{"sections", c_sections, 5 + t},
		{"parallel sections", c_parallel_sections, 2},
		{"single", c_single, 2 + t},
		{"single copyprivate", c_single_copyprivate, 1 + t},
		{"master", c_master, 1},
#ifdef HAVE_MASKED
		{"masked", c_masked, 1},
#endif
		{"critical", c_critical, 3 * t},
		{"barrier", c_barrier, 3 * t},
		{"flush", c_flush, 2 * t},
		{"atomic", c_atomic, 5 * t},
		{"lock", c_lock, 3 * t},
		{"nest lock", c_nest_lock, 3 * t},
		{"reduction", c_reduction, 3 * n},
		{"nested", c_nested, 2 + 4 + 2},
		{"serialized", c_serialized, 2 + n},
		{"orphaned", c_orphaned, 2 * n},
		{"changing team", c_changing_team, 2 * (1 + 2 + 3 + 4)},
	};
	for (int r = 0; r < reps; r++)
		for (unsigned i = 0; i < sizeof table / sizeof *table; i++) {
			hits = 0;
			table[i].run();
			if (hits != table[i].hits) {
				printf("%s: %ld, want %ld\n", table[i].name, hits, table[i].hits);
				return 1;
			}
		}
	return 0;
}
