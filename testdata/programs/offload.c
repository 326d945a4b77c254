// offload.c: target regions and data movement, each REPS times, for clang with
// -fopenmp-targets=x86_64-pc-linux-gnu: the device is the host itself.
#include <stdio.h>
#include <stdlib.h>

static int a[64];

int main(int argc, char **argv)
{
	int reps = argc > 1 ? atoi(argv[1]) : 1, sum = 0;
	for (int r = 0; r < reps; r++) {
#pragma omp target map(tofrom : sum)
		sum++;
#pragma omp target data map(tofrom : a)
		{
#pragma omp target teams distribute parallel for num_teams(2) thread_limit(2)
			for (int i = 0; i < 64; i++)
				a[i]++;
#pragma omp target update from(a)
		}
#pragma omp target enter data map(to : a)
#pragma omp target exit data map(from : a)
	}
	return sum == reps && a[3] == reps ? 0 : 1;
}
