// forks.c: a process tree in which only some processes use OpenMP.
//
//   forks [PROGRAM ARG...]
//
// The parent forks a child that runs 3 regions, a child that uses no OpenMP,
// and a child that executes PROGRAM if given; then it runs 2 regions itself
// and waits. In every region each thread passes one critical. The parent uses
// no OpenMP before forking: a team's threads do not survive a fork.
// Exits with the number of children that failed.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int regions(int n)
{
	long sum = 0;
	for (int i = 0; i < n; i++) {
#pragma omp parallel
		{
#pragma omp critical
			sum++;
		}
	}
	return sum == (long)n * omp_get_max_threads();
}

int main(int argc, char **argv)
{
	int children = 0, failed = 0;

	children++;
	if (fork() == 0)
		exit(!regions(3));

	children++;
	if (fork() == 0) {
		struct timespec t = {0, 10000000};
		nanosleep(&t, NULL);
		_exit(0);
	}

	if (argc > 1) {
		children++;
		if (fork() == 0) {
			execvp(argv[1], argv + 1);
			perror(argv[1]);
			_exit(127);
		}
	}

	int own = regions(2);
	while (children-- > 0) {
		int status;
		if (wait(&status) < 0 || !WIFEXITED(status) || WEXITSTATUS(status))
			failed++;
	}
	return failed + !own;
}
