// timed.c: waiting times that are known by construction.
//
//   timed CASE [THREADS=4] [D=20] [sleep|spin]     D in milliseconds
//   timed --expect CASE [THREADS] [D]
//
// Work is a sleep until an absolute deadline, so that wall times are right
// with more threads than cores; spin (a busy wait to the same deadline) needs
// a core per thread. --expect prints the table below as tab-separated lines
// "construct column thread ms"; thread is a number or SUM, and what is not
// printed is not determined. "PARALLEL>PARALLEL" is the inner region.
//
// T threads, thread i = 0..T-1, S = D/4. Startup and shutdown take no time.
// Every worksharing construct is followed by a call, because compilers drop
// the barrier of one that ends its region.
//
//   imbalance  PARALLEL       bodyT (i+1)D   exitBarT (T-1-i)D   execT TD
//   static     PARALLEL LOOP  as imbalance
//   loop       LOOP           as imbalance; PARALLEL bodyT TD, exitBarT 0
//   critical   CRITICAL       enterT i(D-S)  bodyT D             exitT 0
//              PARALLEL       bodyT (i+1)D   exitBarT (T-1-i)D
//   named      as critical, with a name
//   lock       LOCK           as critical
//   nestlock   NEST LOCK      as critical
//   ordered    ORDERED        enterT iD      bodyT D             exitT 0
//              LOOP           bodyT (i+1)D   exitBarT (T-1-i)D
//   barrier    BARRIER        execT (T-1-i)D
//              PARALLEL       bodyT TD+D     exitBarT 0
//   single     SINGLE         singleT D for i = 0; exitBarT D-S for i > 0
//   master     MASTER         execT D for i = 0
//              BARRIER        execT D for i > 0
//   sections   SECTIONS       execT RD, R = ceil(4/T); sectT SUM 4D;
//                             exitBarT SUM (TR-4)D
//   psections  PARALLEL SECTIONS, as sections
//   nested     PARALLEL       bodyT (i+2)D   exitBarT (T-1-i)D
//              its inner PARALLEL, over its T instances, threads j = 0, 1:
//                             bodyT T(j+1)D  exitBarT T(1-j)D    execT 2TD
//   tasks      TASKEXEC       execT SUM 2TD
//              BARRIER        execT 2D       taskT 2D
//   taskwait   TASKEXEC       execT 3D for i = 0, one thread, the inner task not counted twice
//              TASKWAIT       execT 0 (libomp executes them before it)
//   serial     PARALLEL       execT 4D, all of it bodyT; PROGRAM execT 6D
//
// critical, named, lock, nestlock: threads arrive S apart and enter in that
// order if waiters are served first come, first served. libgomp grants that
// only to sleeping waiters: run with OMP_WAIT_POLICY=passive, or compare SUM.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static long d_ns;
static int threads, spin;

static long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void work(long ns)
{
	long end = now() + ns;
	struct timespec t = {end / 1000000000L, end % 1000000000L};
	if (spin)
		while (now() < end)
			;
	else
		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL))
			;
}

__attribute__((noinline)) static void after(void) { __asm__ volatile("" ::: "memory"); }

static void imbalance(void)
{
#pragma omp parallel
	{
		work((omp_get_thread_num() + 1) * d_ns);
	}
}

static void static_loop(void)
{
#pragma omp parallel for schedule(static, 1)
	for (int i = 0; i < threads; i++)
		work((i + 1) * d_ns);
}

static void loop(void)
{
	int taken = 0;
#pragma omp parallel
	{
#pragma omp for schedule(dynamic, 1)
		for (int i = 0; i < threads; i++) {
			// No thread may take a second iteration: wait until all have one.
			__atomic_fetch_add(&taken, 1, __ATOMIC_SEQ_CST);
			while (__atomic_load_n(&taken, __ATOMIC_SEQ_CST) < threads)
				work(10000);
			work((omp_get_thread_num() + 1) * d_ns);
		}
		after();
	}
}

static void critical(void)
{
#pragma omp parallel
	{
		work(omp_get_thread_num() * d_ns / 4);
#pragma omp critical
		{
			work(d_ns);
		}
	}
}

static void named(void)
{
#pragma omp parallel
	{
		work(omp_get_thread_num() * d_ns / 4);
#pragma omp critical(ledger)
		{
			work(d_ns);
		}
	}
}

static void lock(void)
{
	omp_lock_t l;
	omp_init_lock(&l);
#pragma omp parallel
	{
		work(omp_get_thread_num() * d_ns / 4);
		omp_set_lock(&l);
		work(d_ns);
		omp_unset_lock(&l);
	}
	omp_destroy_lock(&l);
}

static void nestlock(void)
{
	omp_nest_lock_t l;
	omp_init_nest_lock(&l);
#pragma omp parallel
	{
		work(omp_get_thread_num() * d_ns / 4);
		omp_set_nest_lock(&l);
		work(d_ns);
		omp_unset_nest_lock(&l);
	}
	omp_destroy_nest_lock(&l);
}

static void ordered(void)
{
#pragma omp parallel
	{
#pragma omp for ordered schedule(static, 1)
		for (int i = 0; i < threads; i++) {
#pragma omp ordered
			{
				work(d_ns);
			}
		}
		after();
	}
}

static void tasks(void)
{
#pragma omp parallel
	{
#pragma omp master
		for (int i = 0; i < 2 * threads; i++) {
#pragma omp task
			work(d_ns);
		}
#pragma omp barrier
		work(d_ns);
	}
}

static void taskwait(void)
{
#pragma omp parallel num_threads(1)
	{
#pragma omp task
		{
			work(d_ns);
#pragma omp task
			work(d_ns);
#pragma omp taskwait
			work(d_ns);
		}
#pragma omp taskwait
		work(0);
	}
}

static void barrier(void)
{
#pragma omp parallel
	{
		work((omp_get_thread_num() + 1) * d_ns);
#pragma omp barrier
		work(d_ns);
	}
}

static void single(void)
{
#pragma omp parallel
	{
		if (omp_get_thread_num() > 0)
			work(d_ns / 4); // so that thread 0 comes first
#pragma omp single
		{
			work(d_ns);
		}
		after();
	}
}

static void master(void)
{
#pragma omp parallel
	{
#pragma omp master
		{
			work(d_ns);
		}
#pragma omp barrier
		after();
	}
}

static void sections(void)
{
#pragma omp parallel
	{
#pragma omp sections
		{
#pragma omp section
			work(d_ns);
#pragma omp section
			work(d_ns);
#pragma omp section
			work(d_ns);
#pragma omp section
			work(d_ns);
		}
		after();
	}
}

static void psections(void)
{
#pragma omp parallel sections
	{
#pragma omp section
		work(d_ns);
#pragma omp section
		work(d_ns);
#pragma omp section
		work(d_ns);
#pragma omp section
		work(d_ns);
	}
}

static void nested(void)
{
	omp_set_max_active_levels(2);
#pragma omp parallel
	{
		work(omp_get_thread_num() * d_ns);
#pragma omp parallel num_threads(2)
		{
			work((omp_get_thread_num() + 1) * d_ns);
		}
		after();
	}
}

static void serial(void)
{
	work(d_ns);
#pragma omp parallel
	{
		work(4 * d_ns); // libomp starts its threads in here, which takes milliseconds
	}
	work(d_ns);
}

// Expectations, in units of D.

static void sum_is(const char *construct, const char *column, double v)
{
	printf("%s\t%s\tSUM\t%.3f\n", construct, column, v * (double)d_ns / 1e6);
}

// each prints first + i*step for every thread, and the sum.
static void each(const char *construct, const char *column, double first, double step)
{
	for (int i = 0; i < threads; i++)
		printf("%s\t%s\t%d\t%.3f\n", construct, column, i,
		       (first + i * step) * (double)d_ns / 1e6);
	sum_is(construct, column, threads * first + step * threads * (threads - 1) / 2);
}

static void primary(const char *construct, const char *column, double first, double others)
{
	for (int i = 0; i < threads; i++)
		printf("%s\t%s\t%d\t%.3f\n", construct, column, i,
		       (i ? others : first) * (double)d_ns / 1e6);
	sum_is(construct, column, first + (threads - 1) * others);
}

static void staircase(const char *construct)
{
	each(construct, "execT", threads, 0);
	each(construct, "bodyT", 1, 1);
	each(construct, "exitBarT", threads - 1, -1);
}

static void balanced(double body)
{
	each("PARALLEL", "bodyT", body, 0);
	each("PARALLEL", "exitBarT", 0, 0);
}

static void x_imbalance(void) { staircase("PARALLEL"); }
static void x_static(void) { staircase("PARALLEL LOOP"); }
static void x_loop(void) { staircase("LOOP"), balanced(threads); }

static void x_mutex(const char *construct)
{
	each(construct, "execT", 1, 0.75);
	each(construct, "enterT", 0, 0.75);
	each(construct, "bodyT", 1, 0);
	each(construct, "exitT", 0, 0);
	staircase("PARALLEL");
}

static void x_critical(void) { x_mutex("CRITICAL"); }
static void x_lock(void) { x_mutex("LOCK"); }
static void x_nestlock(void) { x_mutex("NEST LOCK"); }

static void x_ordered(void)
{
	each("ORDERED", "execT", 1, 1);
	each("ORDERED", "enterT", 0, 1);
	each("ORDERED", "bodyT", 1, 0);
	each("ORDERED", "exitT", 0, 0);
	staircase("LOOP");
	balanced(threads);
}

static void x_tasks(void)
{
	sum_is("TASKEXEC", "execT", 2 * threads);
	each("BARRIER", "execT", 2, 0);
	each("BARRIER", "taskT", 2, 0);
	balanced(3);
}

static void x_taskwait(void)
{
	primary("TASKEXEC", "execT", 3, 0);
	primary("TASKWAIT", "execT", 0, 0);
}

static void x_barrier(void)
{
	each("BARRIER", "execT", threads - 1, -1);
	balanced(threads + 1);
}

static void x_single(void)
{
	primary("SINGLE", "execT", 1, 0.75);
	primary("SINGLE", "singleT", 1, 0);
	primary("SINGLE", "exitBarT", 0, 0.75);
	balanced(1);
}

static void x_master(void)
{
	primary("MASTER", "execT", 1, 0);
	primary("BARRIER", "execT", 0, 1);
	balanced(1);
}

static void x_some_sections(const char *construct)
{
	int rounds = (4 + threads - 1) / threads;
	each(construct, "execT", rounds, 0);
	if (4 % threads == 0)
		each(construct, "sectT", rounds, 0), each(construct, "exitBarT", 0, 0);
	else
		sum_is(construct, "sectT", 4), sum_is(construct, "exitBarT", threads * rounds - 4);
}

static void x_sections(void)
{
	x_some_sections("SECTIONS");
	balanced((4 + threads - 1) / threads);
}

static void x_psections(void) { x_some_sections("PARALLEL SECTIONS"); }

static void x_nested(void)
{
	each("PARALLEL", "execT", threads + 1, 0);
	each("PARALLEL", "bodyT", 2, 1);
	each("PARALLEL", "exitBarT", threads - 1, -1);
	double outer = threads;
	threads = 2;
	each("PARALLEL>PARALLEL", "execT", 2 * outer, 0);
	each("PARALLEL>PARALLEL", "bodyT", outer, outer);
	each("PARALLEL>PARALLEL", "exitBarT", outer, -outer);
}

static void x_serial(void)
{
	each("PARALLEL", "execT", 4, 0);
	balanced(4);
	printf("PROGRAM\texecT\t0\t%.3f\n", 6 * (double)d_ns / 1e6);
}

static const struct {
	const char *name;
	void (*run)(void), (*expect)(void);
} cases[] = {
	{"imbalance", imbalance, x_imbalance}, {"static", static_loop, x_static},
	{"loop", loop, x_loop},                {"critical", critical, x_critical},
	{"named", named, x_critical},          {"lock", lock, x_lock},
	{"nestlock", nestlock, x_nestlock},    {"ordered", ordered, x_ordered},
	{"barrier", barrier, x_barrier},       {"single", single, x_single},
	{"master", master, x_master},          {"sections", sections, x_sections},
	{"psections", psections, x_psections}, {"nested", nested, x_nested},
	{"serial", serial, x_serial},          {"tasks", tasks, x_tasks},
	{"taskwait", taskwait, x_taskwait},
};

int main(int argc, char **argv)
{
	int expect = argc > 1 && !strcmp(argv[1], "--expect");
	char **arg = argv + expect;
	argc -= expect;
	const char *name = argc > 1 ? arg[1] : "imbalance";
	threads = argc > 2 ? atoi(arg[2]) : 4;
	d_ns = (argc > 3 ? atol(arg[3]) : 20) * 1000000;
	spin = argc > 4 && !strcmp(arg[4], "spin");

	for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
		if (!strcmp(name, cases[i].name)) {
			if (expect) {
				cases[i].expect();
				return 0;
			}
			omp_set_dynamic(0);
			omp_set_num_threads(threads);
			cases[i].run();
			return 0;
		}
	printf("no case %s\n", name);
	return 2;
}
