// waits.c: waits at barriers, which the program measures itself.
//
//   waits [THREADS=4] [ROUNDS=12] [MS=2]
//
// Each thread notes the time just before each barrier. From these times the program computes who
// waited how long, who came last, and in the case `critical` what the late thread did more than the
// others. It prints, with the line of the construct, tab-separated:
//
//   LINE CONSTRUCT THREAD wait NS COUNT     what the thread waited, at how many barriers
//   LINE CONSTRUCT THREAD last NS COUNT     what others waited for it, how often it came last
//   LINE CONSTRUCT THREAD delay NS 0        the part of that which is due to the construct
//   LINE CONSTRUCT THREAD contended NS COUNT  what the thread waited while others held the critical
//   LINE CONSTRUCT THREAD held NS COUNT       what others waited for it, and for how many it was longest
//   LINE CONSTRUCT THREAD notask NS COUNT     what it waited in a barrier for tasks to be created
//   LINE CONSTRUCT THREAD latetask NS COUNT   what others waited for the tasks that it created
//   LINE CONSTRUCT THREAD fortask NS COUNT    what it waited for tasks that others executed
//   LINE CONSTRUCT THREAD oftask NS COUNT     what others waited for the tasks that it executed
//
// REDUCTION is a loop with a reduction: libomp's has a second barrier, in which nobody waits long.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST_THREADS = 64, MOST_ROUNDS = 64 };

static int threads = 4, rounds = 12;
static long ms = 2;
static long came[MOST_ROUNDS][MOST_THREADS];
static long outside[MOST_ROUNDS][MOST_THREADS], inside[MOST_ROUNDS][MOST_THREADS];

static long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

__attribute__((noinline)) static void work(long ns)
{
	long end = now() + ns;
	struct timespec t = {end / 1000000000L, end % 1000000000L};
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL))
		;
}

/* Another thread is late in each round. */
static long share(int round, int thread) { return ms * 1000000L * (thread == round % threads ? 3 : 1); }

static int last_of(int round)
{
	int last = 0;
	for (int i = 1; i < threads; i++)
		if (came[round][i] > came[round][last])
			last = i;
	return last;
}

static void tell(int line, const char *construct)
{
	for (int i = 0; i < threads; i++) {
		long wait = 0, caused = 0, times = 0;
		for (int k = 0; k < rounds; k++) {
			int last = last_of(k);
			wait += came[k][last] - came[k][i];
			if (last != i)
				continue;
			times++;
			for (int j = 0; j < threads; j++)
				caused += came[k][last] - came[k][j];
		}
		printf("%d\t%s\t%d\twait\t%ld\t%d\n", line, construct, i, wait, rounds);
		printf("%d\t%s\t%d\tlast\t%ld\t%ld\n", line, construct, i, caused, times);
	}
}

/* Delay of the critical, by thread: the wait, shared out among what the late thread did more. */
static void tell_delay(int line, const char *construct)
{
	for (int i = 0; i < threads; i++) {
		double sum = 0;
		for (int k = 0; k < rounds; k++) {
			int last = last_of(k);
			for (int j = 0; j < threads && last == i; j++) {
				long wait = came[k][last] - came[k][j];
				long more = inside[k][last] - inside[k][j], rest = outside[k][last] - outside[k][j];
				long all = (more > 0 ? more : 0) + (rest > 0 ? rest : 0);
				if (more > 0)
					sum += wait < all ? (double)more * wait / all : more;
			}
		}
		printf("%d\t%s\t%d\tdelay\t%.0f\t0\n", line, construct, i, sum);
	}
}

__attribute__((noinline)) static void after(void) { __asm__ volatile("" ::: "memory"); }

static void explicit_barrier(void)
{
	int line = 0;
#pragma omp parallel
	for (int k = 0; k < rounds; k++) {
		int i = omp_get_thread_num();
		work(share(k, i));
		came[k][i] = now();
		line = __LINE__ + 1;
#pragma omp barrier
		after();
	}
	tell(line, "BARRIER");
}

static void loop(void)
{
	int line = __LINE__ + 5;
#pragma omp parallel
	for (int k = 0; k < rounds; k++) {
		int i = omp_get_thread_num();

#pragma omp for schedule(static)
		for (int n = 0; n < threads; n++) {
			work(share(k, i));
			came[k][i] = now();
		}
		after();
	}
	tell(line, "LOOP");
}

static void single(void)
{
	int line = __LINE__ + 7;
#pragma omp parallel
	for (int k = 0; k < rounds; k++) {
		int i = omp_get_thread_num();
		came[k][i] = now();
		after();

#pragma omp single
		{
			work(ms * 2000000L);
			came[k][i] = now();
		}
		after();
	}
	tell(line, "SINGLE");
}

static void region(void)
{
	int line = __LINE__ + 2;
	for (int k = 0; k < rounds; k++)
#pragma omp parallel
	{
		int i = omp_get_thread_num();
		work(share(k, i));
		came[k][i] = now();
	}
	tell(line, "PARALLEL");
}

static void critical(void)
{
	int line = 0, at = 0;
#pragma omp parallel
	for (int k = 0; k < rounds; k++) {
		int i = omp_get_thread_num();
		long t0 = now();
		work(ms * 1000000L);
		long t1 = now(), t2 = t1;
		inside[k][i] = 0;
		if (i == k % threads) {
			line = __LINE__ + 1;
#pragma omp critical
			work(ms * 2000000L);
			t2 = now();
			inside[k][i] = t2 - t1;
		}
		came[k][i] = now();
		outside[k][i] = came[k][i] - t0 - inside[k][i];
		at = __LINE__ + 1;
#pragma omp barrier
		after();
	}
	tell(at, "BARRIER");
	tell_delay(line, "CRITICAL");
}

/* All threads come to a critical, one after another. */
static void contention(void)
{
	int line = 0;
#pragma omp parallel
	for (int k = 0; k < rounds; k++) {
		int i = omp_get_thread_num();
		work(ms * 300000L * ((i + k) % threads));
		came[k][i] = now();
		line = __LINE__ + 1;
#pragma omp critical(contended)
		{
			inside[k][i] = now();
			work(ms * 1000000L);
			outside[k][i] = now();
		}
#pragma omp barrier
		after();
	}
	long waited[MOST_THREADS] = {0}, held[MOST_THREADS] = {0};
	int times[MOST_THREADS] = {0}, next[MOST_THREADS] = {0};
	for (int k = 0; k < rounds; k++)
		for (int i = 0; i < threads; i++) {
			long freed = 0, all = 0, longest = 0, part[MOST_THREADS] = {0};
			int most = -1;
			for (int j = 0; j < threads; j++) {
				long from = inside[k][j] > came[k][i] ? inside[k][j] : came[k][i];
				long to = outside[k][j] < inside[k][i] ? outside[k][j] : inside[k][i];
				if (j == i || from >= to)
					continue;
				all += part[j] = to - from;
				if (outside[k][j] > freed)
					freed = outside[k][j];
				if (part[j] > longest)
					longest = part[most = j];
			}
			if (most < 0)
				continue;
			long wait = freed - came[k][i];
			waited[i] += wait;
			times[i]++;
			next[most]++;
			for (int j = 0; j < threads; j++)
				held[j] += (double)wait * part[j] / all;
		}
	for (int i = 0; i < threads; i++) {
		printf("%d\tCRITICAL\t%d\tcontended\t%ld\t%d\n", line, i, waited[i], times[i]);
		printf("%d\tCRITICAL\t%d\theld\t%ld\t%d\n", line, i, held[i], next[i]);
	}
}

/* A thread creates tasks one by one, for which the others wait in a barrier. */
static void late_tasks(void)
{
	enum { TASKS = 24 };
	long made[TASKS], began[TASKS], ended[TASKS];
	int by[TASKS], line = 0, at = 0;
#pragma omp parallel
	{
		int i = omp_get_thread_num();
		for (int n = 0; n < TASKS && i == 0; n++) {
			work(ms * 500000L);
			made[n] = now();
			line = __LINE__ + 1;
#pragma omp task firstprivate(n) shared(began, ended, by)
			{
				began[n] = now();
				by[n] = omp_get_thread_num();
				work(ms * 300000L);
				ended[n] = now();
			}
		}
		came[0][i] = now();
		at = __LINE__ + 1;
#pragma omp barrier
		after();
	}
	long sum = 0;
	int all = 0;
	for (int i = 0; i < threads; i++) {
		long free = came[0][i], waited = 0;
		int times = 0;
		for (int n = 0; n < TASKS; n++) { /* they begin in the order in which they are made */
			if (by[n] != i || began[n] < came[0][i])
				continue;
			if (made[n] > free) {
				waited += made[n] - free;
				times++;
			}
			free = ended[n];
		}
		printf("%d\tBARRIER\t%d\tnotask\t%ld\t%d\n", at, i, waited, times);
		sum += waited;
		all += times;
	}
	printf("%d\tTASK\t0\tlatetask\t%ld\t%d\n", line, sum, all);
}

/* A task that another thread executes: the thread that creates it goes on when it has begun. */
enum { OTHERS = 13 };
static long began[OTHERS], ended[OTHERS];
static int executor[OTHERS], task_line;

__attribute__((noinline)) static void task_of_another(int n)
{
	task_line = __LINE__ + 1;
#pragma omp task firstprivate(n)
	{
		executor[n] = omp_get_thread_num();
		__atomic_store_n(&began[n], now(), __ATOMIC_SEQ_CST);
		work(ms * 2000000L);
		ended[n] = now();
	}
	while (!__atomic_load_n(&began[n], __ATOMIC_SEQ_CST))
		work(20000);
	work(ms * 300000L);
}

/* A thread waits for tasks that others execute: in a taskwait, at the end of a taskgroup, and in a
 * barrier, where the others wait for the last task, too. */
static void tasks_of_others(void)
{
	enum { EACH = OTHERS / 2, LAST = OTHERS - 1 };
	long asked[OTHERS], waited[3][MOST_THREADS] = {{0}}, of[MOST_THREADS] = {0};
	int at[3], times[3][MOST_THREADS] = {{0}}, of_times[MOST_THREADS] = {0};
#pragma omp parallel
	{
		int i = omp_get_thread_num();
		for (int n = 0; n < EACH && i == 0; n++) {
			task_of_another(n);
			asked[n] = now();
			at[0] = __LINE__ + 1;
#pragma omp taskwait
			after();
		}
		for (int n = EACH; n < LAST && i == 0; n++) {
			at[1] = __LINE__ + 1;
#pragma omp taskgroup
			{
				task_of_another(n);
				asked[n] = now();
			}
		}
		if (i == 0) {
			task_of_another(LAST);
			asked[LAST] = now();
		}
		at[2] = __LINE__ + 1;
#pragma omp barrier
		after();
	}
	for (int n = 0; n < OTHERS; n++)
		for (int i = 0, by = executor[n], kind = n / EACH; i < threads; i++) {
			long free = asked[n] > began[n] ? asked[n] : began[n];
			if (i == by || (i != 0 && n != LAST))
				continue;
			waited[kind][i] += ended[n] - free;
			times[kind][i]++;
			of[by] += ended[n] - free;
			of_times[by]++;
		}
	static const char *names[] = {"TASKWAIT", "TASKGROUP", "BARRIER"};
	for (int i = 0; i < threads; i++) {
		for (int kind = 0; kind < 3; kind++)
			printf("%d\t%s\t%d\tfortask\t%ld\t%d\n", at[kind], names[kind], i, waited[kind][i], times[kind][i]);
		printf("%d\tTASKEXEC\t%d\toftask\t%ld\t%d\n", task_line, i, of[i], of_times[i]);
	}
}

static double reduction(void)
{
	double sum = 0;
	int line = __LINE__ + 5;
#pragma omp parallel
	for (int k = 0; k < rounds; k++) {
		int i = omp_get_thread_num();

#pragma omp for schedule(static) reduction(+ : sum)
		for (int n = 0; n < threads; n++) {
			work(share(k, i));
			sum += n;
			came[k][i] = now();
		}
		after();
	}
	tell(line, "REDUCTION");
	return sum;
}

int main(int argc, char **argv)
{
	if (argc > 1)
		threads = atoi(argv[1]);
	if (argc > 2)
		rounds = atoi(argv[2]);
	if (argc > 3)
		ms = atol(argv[3]);
	if (threads < 2 || threads > MOST_THREADS || rounds < 1 || rounds > MOST_ROUNDS)
		return 2;
	omp_set_dynamic(0);
	omp_set_num_threads(threads);
	explicit_barrier();
	loop();
	single();
	region();
	critical();
	contention();
	late_tasks();
	tasks_of_others();
	return reduction() < 0;
}
