// constructs.cpp: OpenMP in the forms C++ gives it: templates, lambdas, member
// functions, exceptions and guards, and a longjmp.
//
//   constructs [REPS=1] [N=8]
//
// Checks itself. Exceptions never leave a region (OpenMP forbids it), but
// unwind through guards inside one and through functions that held one.
// LOCK: per repetition T acquisitions in guarded, T in jumping.
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <omp.h>
#include <stdexcept>
#include <vector>

namespace {

class Lock {
public:
	Lock() { omp_init_lock(&lock_); }
	~Lock() { omp_destroy_lock(&lock_); }
	Lock(const Lock &) = delete;
	Lock &operator=(const Lock &) = delete;
	void set() { omp_set_lock(&lock_); }
	void unset() { omp_unset_lock(&lock_); }

private:
	omp_lock_t lock_;
};

class Guard {
public:
	explicit Guard(Lock &lock) : lock_(lock) { lock_.set(); }
	~Guard() { lock_.unset(); }
	Guard(const Guard &) = delete;
	Guard &operator=(const Guard &) = delete;

private:
	Lock &lock_;
};

template <class T> __attribute__((noinline)) T sum(const std::vector<T> &v)
{
	T s = 0;
#pragma omp parallel for reduction(+ : s)
	for (unsigned long i = 0; i < v.size(); i++)
		s += v[i];
	return s;
}

struct Counter {
	int n;
	long seen = 0;

	explicit Counter(int size) : n(size) {}

	void run()
	{
#pragma omp parallel
		{
#pragma omp for schedule(dynamic)
			for (int i = 0; i < n; i++) {
#pragma omp atomic
				seen++;
			}
		}
	}
};

template <class F> void in_critical(F f)
{
#pragma omp critical(callback)
	f();
}

long lambdas()
{
	long calls = 0;
	auto region = [&] {
#pragma omp parallel
		{
			in_critical([&] { calls++; });
		}
	};
	region();
	return calls;
}

// noinline keeps the throw out of sight, so that it really unwinds.
__attribute__((noinline)) void fail(int thread)
{
	if (thread >= 0)
		throw std::runtime_error("expected");
}

// Each thread throws and catches inside the region; the guard's destructor
// releases the lock during unwinding.
long guarded()
{
	long caught = 0;
	Lock lock;
#pragma omp parallel
	{
		try {
			Guard guard(lock);
			fail(omp_get_thread_num());
		} catch (const std::exception &) {
#pragma omp atomic
			caught++;
		}
	}
	return caught;
}

// An exception leaves a function between its regions and passes the frame of
// a caller that has regions, too.
__attribute__((noinline)) void throws_between_regions(long &ran)
{
#pragma omp parallel
	{
#pragma omp atomic
		ran++;
	}
	fail(0);
#pragma omp parallel
	{
#pragma omp atomic
		ran++;
	}
}

__attribute__((noinline)) void passes_through(long &ran)
{
#pragma omp parallel
	{
#pragma omp atomic
		ran++;
	}
	throws_between_regions(ran);
}

long around()
{
	long ran = 0;
	try {
		passes_through(ran);
	} catch (const std::exception &) {
#pragma omp parallel
		{
#pragma omp atomic
			ran++;
		}
	}
	return ran;
}

__attribute__((noinline)) void third(Lock &lock, std::jmp_buf &back)
{
	lock.set();
	std::longjmp(back, 1);
}

__attribute__((noinline)) void second(Lock &lock, std::jmp_buf &back) { third(lock, back); }
__attribute__((noinline)) void first(Lock &lock, std::jmp_buf &back) { second(lock, back); }

// Each thread leaves three frames by longjmp, inside the region and holding a
// lock that it releases where it lands.
long jumping()
{
	long landed = 0;
	Lock lock;
#pragma omp parallel
	{
		std::jmp_buf back;
		if (setjmp(back) == 0) {
			first(lock, back);
		} else {
			landed++;
			lock.unset();
		}
	}
	return landed;
}

bool check(const char *name, long got, long want)
{
	if (got != want)
		std::printf("%s: %ld, want %ld\n", name, got, want);
	return got == want;
}

} // namespace

int main(int argc, char **argv)
{
	int reps = argc > 1 ? std::atoi(argv[1]) : 1;
	int n = argc > 2 ? std::atoi(argv[2]) : 8;
	omp_set_dynamic(0);
	long t = omp_get_max_threads();
	bool ok = true;

	for (int r = 0; r < reps; r++) {
		Counter counter(n);
		counter.run();
		ok &= check("member", counter.seen, n);
		ok &= check("sum<int>", sum(std::vector<int>(n, 1)), n);
		ok &= check("sum<double>", static_cast<long>(sum(std::vector<double>(n, 2))), 2 * n);
		ok &= check("lambdas", lambdas(), t);
		ok &= check("guarded", guarded(), t);
		ok &= check("around", around(), 3 * t);
		ok &= check("jumping", jumping(), t);
	}
	return ok ? 0 : 1;
}
