/* Executes one construct at a time, so that the hits of its probes can be counted.
 * Reads lines "CASE N" from standard input, executes CASE's construct N times,
 * and prints "done"; an unknown case prints "unknown". A team of two exists
 * beforehand. What is not counted comes with each N alike: N = 0 tells it. */
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile int sink, holding, asking, over;
static omp_lock_t lock;
static omp_nest_lock_t nest;

/* Keeps a region and what is in it two constructs. */
__attribute__((noinline)) static void work(void)
{
	sink++;
}

/* One thread of two executes BODY N times while the other one is busy. */
#define ONE(body) \
	{ \
		over = 0; \
		_Pragma("omp parallel num_threads(2)") \
		{ \
			if (omp_get_thread_num() == 0) { \
				for (int r = 0; r < n; r++) \
					body \
				over = 1; \
			} else \
				while (!over) \
					usleep(50); \
		} \
	}

/* Both threads execute BODY N times. */
#define BOTH(body) \
	{ \
		_Pragma("omp parallel num_threads(2)") \
		for (int r = 0; r < n; r++) { \
			work(); \
			body \
		} \
	}

/* Thread 1 says that it goes on to ask for what thread 0 holds. */
static void ask(void)
{
	while (!holding)
		sched_yield();
	asking = syscall(SYS_gettid);
}

/* How long thread 1 has had a core (ns). */
static long ran(void)
{
	char name[64];
	long ns = 0;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/self/task/%d/schedstat", asking);
	f = fopen(name, "r");
	if (f) {
		if (fscanf(f, "%ld", &ns) != 1)
			ns = 0;
		fclose(f);
	}
	return ns;
}

/* Until thread 1 sleeps, or has had a core for long enough to begin to wait by
 * spinning. On a busy machine it may get none for a while. */
static void until_waiting(void)
{
	char name[64], state = 0;
	long enough;

	holding = 1;
	while (!asking)
		sched_yield();
	snprintf(name, sizeof(name), "/proc/self/task/%d/stat", asking);
	enough = ran() + 50000000;
	for (int i = 0; i < 60000 && state != 'S' && ran() < enough; i++) {
		FILE *f = fopen(name, "r");

		usleep(1000);
		if (f) {
			if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
				state = 0;
			fclose(f);
		}
	}
}

/* Thread 0 holds what ENTER takes until thread 1 must be waiting for it. */
#define WAITING(enter, leave) \
	for (int r = 0; r < n; r++) { \
		holding = asking = 0; \
		_Pragma("omp parallel num_threads(2)") \
		{ \
			if (omp_get_thread_num() == 0) { \
				enter \
				until_waiting(); \
				leave \
			} else { \
				ask(); \
				enter \
				work(); \
				leave \
			} \
		} \
	}

static void region(int n) { for (int r = 0; r < n; r++) {
#pragma omp parallel num_threads(2)
	work();
} }
static void region1(int n) { for (int r = 0; r < n; r++) {
#pragma omp parallel num_threads(1)
	work();
} }
static void region0(int n) { for (int r = 0; r < n; r++) {
#pragma omp parallel if(sink < 0)
	work();
} }
static void barrier(int n) BOTH({
_Pragma("omp barrier")
})
static void critical(int n) ONE({
_Pragma("omp critical")
	work();
})
static void named(int n) ONE({
_Pragma("omp critical(name)")
	work();
})
static void locks(int n) ONE({
	omp_set_lock(&lock);
	work();
	omp_unset_lock(&lock);
})
static void tested(int n) ONE({
	if (omp_test_lock(&lock))
		omp_unset_lock(&lock);
})
static void nested(int n) ONE({
	omp_set_nest_lock(&nest);
	work();
	omp_unset_nest_lock(&nest);
})
static void enter(void) { omp_set_lock(&lock); }
static void leave(void) { omp_unset_lock(&lock); }
static void bodies(int first)
{
#pragma omp critical
	if (first)
		until_waiting();
	else
		work();
}
static void bodies2(int first)
{
#pragma omp critical(name)
	if (first)
		until_waiting();
	else
		work();
}
#define WAITS(call) \
	for (int r = 0; r < n; r++) { \
		holding = asking = 0; \
		_Pragma("omp parallel num_threads(2)") \
		if (omp_get_thread_num() == 0) \
			call(1); \
		else { \
			ask(); \
			call(0); \
		} \
	}
static void critical_waits(int n) { WAITS(bodies) }
static void named_waits(int n) { WAITS(bodies2) }
static void locks_wait(int n) { WAITING(enter();, leave();) }

static void loop(int n) BOTH({
_Pragma("omp for schedule(static)")
	for (int i = 0; i < 2; i++)
		work();
})
static void loop_nowait(int n) BOTH({
_Pragma("omp for schedule(static) nowait")
	for (int i = 0; i < 2; i++)
		work();
})
static void combined(int n) { for (int r = 0; r < n; r++) {
#pragma omp parallel for num_threads(2) schedule(static)
	for (int i = 0; i < 2; i++)
		work();
} }
static void dynamic(int n) BOTH({
_Pragma("omp for schedule(dynamic, 1)")
	for (int i = 0; i < 2; i++)
		work();
})
static void nowait(int n) BOTH({
_Pragma("omp for schedule(dynamic, 1) nowait")
	for (int i = 0; i < 2; i++)
		work();
})
static void chunks(int n)
{
#pragma omp parallel num_threads(2)
	{
		work();
#pragma omp for schedule(dynamic, 1)
		for (int i = 0; i < n; i++)
			work();
	}
}
static void ordered(int n)
{
#pragma omp parallel num_threads(2)
	{
		work();
#pragma omp for ordered schedule(static, 1)
		for (int i = 0; i < n; i++)
#pragma omp ordered
			work();
	}
}
static void sections(int n) BOTH({
_Pragma("omp sections")
	{
_Pragma("omp section")
		work();
_Pragma("omp section")
		work();
	}
})
static void single(int n) BOTH({
_Pragma("omp single")
	work();
})
static void single_nowait(int n) BOTH({
_Pragma("omp single nowait")
	work();
})
static void copyprivate(int n)
{
#pragma omp parallel num_threads(2)
	for (int r = 0; r < n; r++) {
		int v;
		work();
#pragma omp single copyprivate(v)
		v = sink;
		sink = v;
	}
}
static void master(int n) BOTH({
_Pragma("omp master")
	work();
})
static void flush(int n) ONE({
_Pragma("omp flush")
})
static long double ld;
static void atomic(int n) ONE({
_Pragma("omp atomic")
	ld += 1;
})
static void task(int n) ONE({
_Pragma("omp task")
	work();
_Pragma("omp taskwait")
})
static void taskif0(int n) ONE({
_Pragma("omp task if(sink < 0)")
	work();
})
static void taskwait(int n) ONE({
_Pragma("omp taskwait")
})
static void taskgroup(int n) ONE({
_Pragma("omp taskgroup")
	work();
})
static void taskyield(int n) ONE({
_Pragma("omp taskyield")
})
static void taskloop(int n) ONE({
_Pragma("omp taskloop num_tasks(2)")
	for (int i = 0; i < 2; i++)
		work();
})

static const struct {
	const char *name;
	void (*run)(int);
} cases[] = {
#define CASE(f) {#f, f}
	CASE(region), CASE(region1), CASE(region0), CASE(barrier), CASE(critical), CASE(critical_waits), CASE(named),
	CASE(named_waits), CASE(locks), CASE(locks_wait), CASE(tested), CASE(nested), CASE(loop), CASE(loop_nowait), CASE(combined), CASE(dynamic),
	CASE(nowait),
	CASE(chunks), CASE(ordered), CASE(sections), CASE(single), CASE(single_nowait), CASE(copyprivate), CASE(master),
	CASE(flush), CASE(atomic), CASE(task), CASE(taskif0), CASE(taskwait), CASE(taskgroup),
	CASE(taskyield), CASE(taskloop),
};

int main(void)
{
	char name[32];
	int n;

	omp_set_dynamic(0);
	omp_init_lock(&lock);
	omp_init_nest_lock(&nest);
	region(2);
	puts("ready");
	fflush(stdout);
	while (scanf("%31s %d", name, &n) == 2) {
		const char *answer = "unknown";
		for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++)
			if (!strcmp(cases[i].name, name)) {
				cases[i].run(n);
				answer = "done";
			}
		puts(answer);
		fflush(stdout);
	}
	return 0;
}
