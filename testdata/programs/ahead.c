// ahead.c: lists the tables of regions that are in the tool's cache when main begins, then executes
// a single construct that ends with a barrier.
#include <stdlib.h>

int main(void)
{
	int n = system("ls \"$XDG_CACHE_HOME/ompp-attach/regions\""), passed = 0;

#pragma omp parallel
	{
#pragma omp single
		n++;
#pragma omp critical
		passed++;
	}
	return n != 1 || !passed;
}
