// two.cpp: a static function of the same name as one of one.cpp, another body,
// and a region whose call is the last act of its function.
#include "helper.h"

static __attribute__((noinline)) void work(long n)
{
	n++;
#pragma omp parallel for schedule(dynamic) // @ PARALLEL_LOOP two
	for (int i = 0; i < 8; i++)
		if (i == 3)
			sum += n;
	n--;
#pragma omp parallel // @ PARALLEL two
	{
		add(n);
	}
}

void two(long n)
{
	work(n);
	apply<double>(1);
}

void tail(long n)
{
#pragma omp parallel firstprivate(n) // @ PARALLEL tail
	add(n);
}
