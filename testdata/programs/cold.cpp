// Constructs without a call that are not where the source has them. The compiler
// moves them into .cold parts of an outlined and of an ordinary function, and into
// lambda expressions within a region. No arguments. One of 10 iterations throws.
// GCC 12 at -O2 and -O3 puts the catch blocks into .cold parts.

#include <omp.h>

#include <stdexcept>

static int odd, thrown, alone, called;
static volatile int limit = 7;

// fails throws for one value, out of line: the compiler cannot tell for which.
__attribute__((noinline)) static void fails(int i)
{
	if (i == limit)
		throw std::runtime_error("seven");
}

__attribute__((noinline)) static void orphaned(int i)
{
	try {
		fails(i);
	} catch (std::exception &) {
#pragma omp atomic
		alone += 100;
	}
}

int main()
{
	int threads = 0;
#pragma omp parallel for
	for (int i = 0; i < 10; i++) {
		try {
#pragma omp critical(err)
			odd += i % 2;
			fails(i);
		} catch (std::exception &) {
#pragma omp atomic
			thrown += 100;
		}
		orphaned(i);
	}
#pragma omp parallel
	{
		auto count = [](int by) __attribute__((noinline)) {
#pragma omp atomic
			called += by;
		};
		count(limit);
#pragma omp single
		threads = omp_get_num_threads();
	}
	return odd == 5 && thrown == 100 && alone == 100 && called == 7 * threads ? 0 : 1;
}
