// plain.c: no OpenMP at all. Compile without -fopenmp.
//
//   plain [SECONDS=0.1]
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv)
{
	double s = argc > 1 ? atof(argv[1]) : 0.1;
	struct timespec t = {(time_t)s, (long)((s - (double)(time_t)s) * 1e9)};
	nanosleep(&t, NULL);
	return 0;
}
