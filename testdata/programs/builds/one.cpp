// one.cpp: a static function of the same name as one of two.cpp.
#include "helper.h"

static long twice(long n) { return 2 * n; }

static __attribute__((noinline)) void work(long n)
{
#pragma omp parallel // @ PARALLEL one
	{
		add(twice(n));
#pragma omp barrier // @ BARRIER one
		sum = sum;
	}
}

void one(long n)
{
	work(n);
	apply<int>(1);
}
