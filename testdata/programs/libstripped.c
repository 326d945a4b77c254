// A library that is stripped as distributions do it: what it exports keeps its
// name, the rest has none. Nearly all the time goes to kernel. The region of
// direct is in an exported function; that of apply is not: solve calls it.
static volatile unsigned long sink;

// Each step depends on the last, and no compiler may make one of several.
static __attribute__((noinline)) unsigned long kernel(unsigned long x, long steps)
{
	for (long i = 0; i < steps; i++) {
		x = x * 2862933555777941757UL + 3037000493UL;
		__asm__("" : "+r"(x));
	}
	return x;
}

static __attribute__((noinline)) void apply(int rounds, long steps)
{
#pragma omp parallel
	{
		sink += kernel(1, 10);
#pragma omp for schedule(static)
		for (int r = 0; r < rounds; r++)
			sink += kernel(r, steps);
	}
}

void solve(int rounds, long steps)
{
	apply(rounds, steps);
	sink++;
}

void direct(int rounds, long steps)
{
#pragma omp parallel
	{
		sink += kernel(1, 10);
#pragma omp for schedule(static)
		for (int r = 0; r < rounds; r++)
			sink += kernel(r, steps);
	}
}
