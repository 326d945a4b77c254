// helper.h: what every part of the program "builds" gets a copy of.
extern long sum;

static inline void add(long n)
{
#pragma omp critical(helper) // @ CRITICAL one+two+tail
	sum += n;
}

template <typename T> T apply(T n)
{
	T all = 0;
#pragma omp parallel // @ PARALLEL int+double
	{
#pragma omp critical(templates) // @ CRITICAL int+double
		all += n;
	}
	return all;
}

void one(long n);
void two(long n);
void tail(long n);
