// mpi_robbed.c: rank 1 computes on a core that a child named `rival` shares; the other ranks have
// another core, and wait for rank 1 at a barrier.
//
//   mpi_robbed [ROUNDS=10] [MS=20]
//
// Rank 1 prints the child's process number and the processor time that the child got. It prints how
// long rank 1 itself was ready to run without a core, as the kernel says (ns).
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void pin(int core)
{
	cpu_set_t s;

	CPU_ZERO(&s);
	CPU_SET(core, &s);
	sched_setaffinity(0, sizeof(s), &s);
}

static void compute(long ms)
{
	struct timespec t;
	long end;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	end = t.tv_sec * 1000000000L + t.tv_nsec + ms * 1000000L;
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	while (t.tv_sec * 1000000000L + t.tv_nsec < end);
}

static pid_t start_rival(void)
{
	pid_t parent = getpid(), pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	prctl(PR_SET_NAME, "rival");
	for (;;)
		;
}

static long ready(void)
{
	long ran = 0, waited = -1;
	FILE *f = fopen("/proc/thread-self/schedstat", "r");

	if (f && fscanf(f, "%ld %ld", &ran, &waited) != 2)
		waited = -1;
	if (f)
		fclose(f);
	return waited;
}

int main(int argc, char **argv)
{
	int rank, rounds = argc > 1 ? atoi(argv[1]) : 10;
	long ms = argc > 2 ? atol(argv[2]) : 20;
	pid_t rival = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	pin(rank != 1);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 1) /* with rank 1's core */
		rival = start_rival();
	for (int i = 0; i < rounds; i++) {
		if (rank == 1)
			compute(ms);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	if (rival) {
		struct rusage u;

		kill(rival, SIGKILL);
		waitpid(rival, 0, 0);
		getrusage(RUSAGE_CHILDREN, &u);
		printf("%d %ld %ld\n", (int)rival, (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000L +
		       (u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000L, ready());
	}
	MPI_Finalize();
	return 0;
}
