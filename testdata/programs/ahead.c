// ahead.c: lists what the tool has put into its cache of regions before main, then executes a
// single construct.
#include <stdlib.h>

int main(void)
{
	int n = system("ls \"$XDG_CACHE_HOME/ompp-attach/regions\"");

#pragma omp parallel
#pragma omp single
	n++;
	return n != 1;
}
