/* Ranks of a job, for the tests of launching: what they are told on the command
 * line is how they end.
 *
 *   ranks count N      N parallel regions, times rank + 1
 *   ranks until SECS [FILE]  parallel regions for a time, or until the file is there,
 *                      counting SIGUSR1 and SIGTERM; says when SIGUSR1 has come
 *   ranks abort STATUS the last rank calls MPI_Abort, the others wait for ever
 *   ranks signal N     the last rank is killed by a signal, the others wait
 *   ranks early STATUS DIR  end before MPI_Init, when two ranks have a file in DIR
 *   ranks lines        rank 0 reads its input
 *   ranks criticals N  prints the CPU time per critical, ns */
#include <dirent.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t usr1, term;

/* How often threads have passed a region's end; tests read it in memory. */
static volatile long passed;

static void on_signal(int s)
{
	if (s == SIGUSR1)
		usr1++;
	else
		term++;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

static long region(void)
{
	long threads = 0;

#pragma omp parallel reduction(+ : threads)
	threads++;
	return threads;
}

/* meet returns when two processes have a file in dir. */
static void meet(const char *dir)
{
	char name[4096];
	int files = 0;

	snprintf(name, sizeof name, "%s/XXXXXX", dir);
	if (mkstemp(name) < 0)
		exit(125);
	while (files < 2) {
		DIR *d = opendir(dir);

		for (files = -2; readdir(d); files++) /* less . and .. */
			;
		closedir(d);
		usleep(1000);
	}
}

static double cpu(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_utime.tv_sec + u.ru_stime.tv_sec + 1e-6 * (u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static double criticals(long n)
{
	static long sum;
	double begin = cpu();

#pragma omp parallel
	for (long i = 0; i < n; i++) {
#pragma omp critical
		sum++;
	}
	return 1e9 * (cpu() - begin) / sum;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	double arg = argc > 2 ? atof(argv[2]) : 0;
	int rank, size;

	if (!strcmp(mode, "early")) {
		meet(argv[3]); /* a launcher that sees one rank's end kills ranks that it has not begun */
		return (int)arg;
	}
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	region();
	if (!strcmp(mode, "count")) {
		for (long i = 1; i < (long)arg * (rank + 1); i++)
			region();
		printf("rank %d of %d\n", rank, size);
	} else if (!strcmp(mode, "until")) {
		double end = now() + arg;
		const char *over = argc > 3 ? argv[3] : "";
		int told = 0;

		signal(SIGUSR1, on_signal);
		signal(SIGTERM, on_signal);
		printf("ready\n");
		fflush(stdout);
		while (now() < end && !term && access(over, F_OK)) {
			passed += region();
			if (usr1 && !told++) {
				printf("signalled\n");
				fflush(stdout);
			}
			usleep(1000);
		}
		printf("rank %d: %d SIGUSR1, %d SIGTERM\n", rank, (int)usr1, (int)term);
	} else if (!strcmp(mode, "abort") || !strcmp(mode, "signal")) {
		usleep(200000);
		if (rank == size - 1 && !strcmp(mode, "abort"))
			MPI_Abort(MPI_COMM_WORLD, (int)arg);
		if (rank == size - 1) {
			signal((int)arg, SIG_DFL);
			raise((int)arg);
		}
		for (;;)
			pause();
	} else if (!strcmp(mode, "lines")) {
		char line[100];

		while (rank == 0 && fgets(line, sizeof(line), stdin))
			printf("read %s", line);
	}
	if (!strcmp(mode, "criticals"))
		printf("%.0f\n", criticals((long)arg));
	fflush(stdout);
	MPI_Finalize();
	return 0;
}
