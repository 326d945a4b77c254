/* includedloop.c: the directive of a loop is in an included file, and that of another loop in a
 * macro. Before each stands a directive that is not compiled. */
#include <stdio.h>

#define LOOP _Pragma("omp parallel for schedule(static)")

static double a[1000];

void scale(void)
{
#ifdef ON_A_DEVICE
#pragma omp target teams distribute parallel for
	for (int i = 0; i < 1000; i++)
		a[i] *= 3;
#endif
	LOOP
	for (int i = 0; i < 1000; i++)
		a[i] *= 2;
}

int main(void)
{
#ifdef ON_A_DEVICE
#pragma omp target teams distribute parallel for
	for (int i = 0; i < 1000; i++)
		a[i] = i;
#endif
#include "includedloop.h"
	for (int i = 0; i < 1000; i++)
		a[i] += i;
	scale();
	printf("%g\n", a[999]);
	return 0;
}
