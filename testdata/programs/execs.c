// execs.c: a process tree that forks, vforks and execs itself.
//
//   execs chain N    runs 1 region, then replaces itself N times by itself
//   execs child N    forks a child that does `chain N`, and waits for it
//   execs vfork      runs 1 region, then vforks a child that only exits, and prints
//                    how many ms that took
//   execs leave S    runs 1 region, forks a child that execs `sleep S`,
//                    prints its pid, and ends first
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void region(void)
{
	int sum = 0;
#pragma omp parallel
	{
#pragma omp critical
		sum++;
	}
	if (sum != omp_get_max_threads())
		exit(1);
}

static int chain(char *self, int n)
{
	char left[16];

	region();
	if (n == 0)
		return 0;
	snprintf(left, sizeof left, "%d", n - 1);
	execl(self, self, "chain", left, (char *)NULL);
	return 127;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
	char *what = argc > 1 ? argv[1] : "";
	int n = argc > 2 ? atoi(argv[2]) : 0, status = 0;

	if (!strcmp(what, "chain"))
		return chain(argv[0], n);
	if (!strcmp(what, "child")) {
		if (fork() == 0)
			_exit(chain(argv[0], n));
		wait(&status);
		return status != 0;
	}
	region();
	if (!strcmp(what, "vfork")) {
		double began = now();
		pid_t pid = vfork();
		if (pid == 0)
			_exit(0);
		printf("%.3f\n", now() - began);
		return waitpid(pid, &status, 0) != pid || status != 0;
	}
	if (!strcmp(what, "leave")) {
		pid_t pid = fork();
		if (pid == 0) {
			char seconds[16];
			snprintf(seconds, sizeof seconds, "%d", n);
			/* whoever reads our output must not wait for it */
			if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
				_exit(1);
			execl("/bin/sleep", "sleep", seconds, (char *)NULL);
			_exit(127);
		}
		printf("%d\n", pid);
		return 0;
	}
	return 2;
}
