// Waits whose making is known by construction: what threads do at a barrier, and why the last one
// is late. `sched_waits CASE [N]` runs N rounds of one case:
//   even     all threads compute for different times: the others wait, spinning or asleep
//   asleep   thread 0 sleeps before the barrier
//   compute  thread 0 computes before the barrier
//   crowded  all threads share one core, and a child named `rival` computes on it too
//   robbed   thread 0 computes on a core that a child named `rival` shares; the others have another
//   lock     thread 0 sleeps in a critical section, for which the others wait
// It prints one line of JSON for each thread: what the thread's own clocks say of it.
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { most = 16, ms = 1000000 };

struct clocks {
	long long wall, cpu, ready;
	long voluntary, forced;
};

static long long now(clockid_t c)
{
	struct timespec t;

	clock_gettime(c, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static struct clocks read_clocks(void)
{
	struct clocks c = {now(CLOCK_MONOTONIC), now(CLOCK_THREAD_CPUTIME_ID)};
	struct rusage u;
	char name[64];
	FILE *f;

	getrusage(RUSAGE_THREAD, &u);
	c.voluntary = u.ru_nvcsw;
	c.forced = u.ru_nivcsw;
	snprintf(name, sizeof(name), "/proc/self/task/%ld/schedstat", (long)syscall(SYS_gettid));
	f = fopen(name, "r");
	if (f) {
		long long ran;

		if (fscanf(f, "%lld %lld", &ran, &c.ready) != 2)
			c.ready = -1;
		fclose(f);
	}
	return c;
}

static void compute(long long ns)
{
	long long end = now(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (now(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

static void doze(long long ns)
{
	struct timespec t = {ns / 1000000000, ns % 1000000000};

	while (nanosleep(&t, &t))
		;
}

static void pin(int core)
{
	cpu_set_t s;

	CPU_ZERO(&s);
	CPU_SET(core, &s);
	sched_setaffinity(0, sizeof(s), &s);
}

static pid_t start_rival(int core)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "rival");
	pin(core);
	for (;;)
		;
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "even";
	int rounds = argc > 2 ? atoi(argv[2]) : 20, threads = omp_get_max_threads();
	struct clocks began[most], ended[most];
	long long waited[most] = {0};
	int crowded = !strcmp(kind, "crowded"), robbed = !strcmp(kind, "robbed"), lock = !strcmp(kind, "lock");
	pid_t rival = 0;

	if (threads > most)
		return 2;
	if (crowded || robbed)
		rival = start_rival(0);
#pragma omp parallel
	{
		int me = omp_get_thread_num();

		if (crowded || robbed)
			pin(robbed && me ? 1 : 0);
#pragma omp barrier
		began[me] = read_clocks();
		for (int i = 0; i < rounds; i++) {
			long long at;

			if (lock) {
				if (me)
					doze(2 * ms);
#pragma omp critical(held)
				{
					if (!me)
						doze(20 * ms);
				}
			} else if (crowded || !strcmp(kind, "even")) {
				compute((crowded ? 8 : 4) * (me + 1) * ms);
			} else if (!me) {
				if (!strcmp(kind, "asleep"))
					doze(20 * ms);
				else
					compute(20 * ms);
			}
			at = now(CLOCK_MONOTONIC);
#pragma omp barrier /* @waits */
			waited[me] += now(CLOCK_MONOTONIC) - at;
		}
		ended[me] = read_clocks();
	}
	for (int i = 0; i < threads; i++)
		printf("{\"thread\": %d, \"wall\": %lld, \"cpu\": %lld, \"ready\": %lld, \"voluntary\": %ld, \"forced\": %ld, "
		       "\"waited\": %lld, \"rival\": %d}\n", i, ended[i].wall - began[i].wall, ended[i].cpu - began[i].cpu,
		       ended[i].ready - began[i].ready, ended[i].voluntary - began[i].voluntary,
		       ended[i].forced - began[i].forced, waited[i], (int)rival);
	if (rival) {
		kill(rival, SIGKILL);
		waitpid(rival, 0, 0);
	}
	return 0;
}
