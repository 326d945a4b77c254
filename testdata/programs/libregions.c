// libregions.c: shared object with OpenMP regions, for dlopened.c.
//
// regions(N) runs N regions in which every thread passes one critical, and
// returns how many passed. regions_end ends the team's threads: they must not
// sleep in a runtime that dlclose unmaps.
#include <omp.h>

long regions(int n)
{
	long sum = 0;
	for (int i = 0; i < n; i++) {
#pragma omp parallel
		{
#pragma omp critical(plugin)
			{
				sum++;
			}
		}
	}
	return sum;
}

void regions_end(void) { omp_pause_resource_all(omp_pause_hard); }
