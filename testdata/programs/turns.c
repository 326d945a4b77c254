// turns.c: threads that contend for a critical with next to nothing in it.
//
//   turns [SECONDS=1]
//
// The line marked INSIDE is all that is executed between the critical's two
// calls, and it is what the first of them returns to.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static volatile long turns; // volatile: nothing of it is moved out of the critical

int main(int argc, char **argv)
{
	double end = omp_get_wtime() + (argc > 1 ? atof(argv[1]) : 1);

#pragma omp parallel
	while (omp_get_wtime() < end) {
		for (int i = 0; i < 1000; i++) {
#pragma omp critical(turn)
			{
				turns++; // INSIDE
			}
		}
	}
	printf("%ld turns\n", turns);
	return 0;
}
