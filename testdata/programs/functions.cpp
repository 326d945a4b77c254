// functions.cpp: functions that are called and left in every way.
//
//   functions [REPS=3] [DEPTH=2000]
//
// Each function counts its own executions in an atomic counter; the program
// prints one line `NAME COUNT` for each, and fails when a result is not as it
// must be. All are also called in parallel regions, by every thread.
#include <atomic>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <omp.h>
#include <pthread.h>
#include <stdexcept>
#include <sys/mman.h>
#include <ucontext.h>
#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif
#define COUNTED(name) static std::atomic<long> c_##name
#define HIT(name) c_##name.fetch_add(1, std::memory_order_relaxed)

COUNTED(descend); COUNTED(fib); COUNTED(even); COUNTED(odd); COUNTED(thrower); COUNTED(passer); COUNTED(catcher);
COUNTED(jumper); COUNTED(setter); COUNTED(chain1); COUNTED(chain2); COUNTED(chain3); COUNTED(choose); COUNTED(leaf);
COUNTED(early); COUNTED(on_stack); COUNTED(switcher); COUNTED(big); COUNTED(virtual_call); COUNTED(holder); COUNTED(entry); COUNTED(rethrow);
COUNTED(on_thread);

static volatile int sink;

// Compilers turn plain recursion into loops.
extern "C" long descend(int n);
extern "C" int fib(int n);
extern "C" void on_stack(int n);
static long (*volatile descend_again)(int) = descend;
static int (*volatile fib_again)(int) = fib;
static void (*volatile on_stack_again)(int) = on_stack;

extern "C" NOINLINE long descend(int n)
{
	HIT(descend);
	if (n == 0)
		return 1;
	return descend_again(n - 1) + 1;
}

extern "C" NOINLINE int fib(int n)
{
	HIT(fib);
	return n < 2 ? n : fib_again(n - 1) + fib_again(n - 2);
}

extern "C" int odd(int n);
extern "C" NOINLINE int even(int n) // tail calls with optimisation
{
	HIT(even);
	if (n == 0)
		return 1;
	return odd(n - 1);
}
extern "C" NOINLINE int odd(int n)
{
	HIT(odd);
	if (n == 0)
		return 0;
	return even(n - 1);
}

namespace ns {
struct Guard {
	int &n;
	~Guard() { n++; }
};
NOINLINE int thrower(int n)
{
	HIT(thrower);
	if (n >= 0)
		throw std::runtime_error("x");
	return n;
}
NOINLINE int passer(int n, int &guards)
{
	HIT(passer);
	Guard g{guards};
	int r = n > 0 ? passer(n - 1, guards) : thrower(n);
	sink = r;
	return r + 1;
}
NOINLINE int catcher(int n)
{
	HIT(catcher);
	int guards = 0;
	try {
		passer(n, guards);
	} catch (std::runtime_error &) {
		return guards;
	}
	return -1;
}
// Recursive, and catches what its own inner execution throws on.
NOINLINE int rethrow(int n)
{
	HIT(rethrow);
	try {
		if (n == 0)
			throw 1;
		return rethrow(n - 1);
	} catch (int i) {
		if (n < 3)
			throw i + 1;
		return i;
	}
}
struct Base {
	virtual ~Base() {}
	virtual int call(int) = 0;
};
struct Derived : Base {
	NOINLINE int call(int n) override
	{
		HIT(virtual_call);
		return n + 1;
	}
};
} // namespace ns

static thread_local jmp_buf back;
extern "C" NOINLINE int jumper(int n)
{
	HIT(jumper);
	if (n == 0)
		longjmp(back, 7);
	int r = jumper(n - 1);
	sink = r;
	return r + 1;
}
extern "C" NOINLINE int setter(int n)
{
	HIT(setter);
	int r = setjmp(back);
	if (r)
		return r;
	return jumper(n);
}

extern "C" NOINLINE int chain3(int n) { HIT(chain3); return n + sink; }
extern "C" NOINLINE int chain2(int n) { HIT(chain2); sink = n; return chain3(n + 1); }
extern "C" NOINLINE int chain1(int n) { HIT(chain1); sink = n; return chain2(n + 1); }

extern "C" NOINLINE int choose(int n) // a jump table
{
	HIT(choose);
	switch (n) {
	case 0: return sink + 1;
	case 1: sink = 3; return 7;
	case 2: return chain3(n);
	case 3: sink = n; break;
	case 4: return sink * 5;
	case 5: return sink + 9;
	case 6: return sink - 1;
	case 7: sink += 2; return 8;
	}
	return n;
}

extern "C" NOINLINE int leaf(int n) { HIT(leaf); return n; }

extern "C" NOINLINE int early(int n)
{
	HIT(early);
	if (n % 3 == 0)
		return 0;
	for (int i = 0; i < n; i++) {
		sink = i;
		if (i == 5)
			return leaf(i);
	}
	return n;
}

extern "C" NOINLINE int big(int n) // its return lies far from its entry
{
	HIT(big);
	volatile char room[300000];
	room[n] = 1;
	room[299999 - n] = leaf(n);
	return room[n];
}

extern "C" NOINLINE int holder(omp_lock_t *l) // a lock is set when it is left
{
	HIT(holder);
	omp_set_lock(l);
	throw 1;
}

static thread_local ucontext_t own, other;
extern "C" NOINLINE void on_stack(int n)
{
	HIT(on_stack);
	leaf(n);
	swapcontext(&other, &own);
	leaf(n);
	if (n > 0)
		on_stack_again(n - 1); // a jump through a register, with optimisation
}
extern "C" void NOINLINE entry(int n) { HIT(entry); on_stack(n); }
extern "C" NOINLINE int switcher(int rounds)
{
	HIT(switcher);
	static thread_local char *stack;
	const size_t size = 1 << 18;
	if (!stack)
		stack = (char *)mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	getcontext(&other);
	other.uc_stack.ss_sp = stack;
	other.uc_stack.ss_size = size;
	other.uc_link = &own;
	makecontext(&other, (void (*)())entry, 1, rounds);
	for (int i = 0; i <= rounds + 1; i++) {
		swapcontext(&own, &other);
		leaf(i);
	}
	return 0;
}

static int bad;
static void must(bool ok) { if (!ok) bad = 1; }

static void all(int depth)
{
	omp_lock_t l;
	omp_init_lock(&l);
	must(descend(depth) == depth + 1);
	must(fib(12) == 144);
	must(even(10) == 1 && odd(9) == 1);
	must(ns::catcher(3) == 4);
	must(ns::catcher(0) == 1);
	must(ns::rethrow(5) == 4);
	must(setter(4) == 7);
	chain1(1);
	for (int i = 0; i < 12; i++)
		choose(i);
	for (int i = 0; i < 10; i++)
		early(i);
	must(big(3) == 1 || sink);
	ns::Derived d;
	ns::Base *volatile b = &d;
	must(b->call(1) == 2);
	try {
		holder(&l);
	} catch (int) {
	}
	omp_unset_lock(&l);
	switcher(3);
	omp_destroy_lock(&l);
}

extern "C" NOINLINE void *on_thread(void *depth)
{
	HIT(on_thread);
	all(*(int *)depth);
	return nullptr;
}

int main(int argc, char **argv)
{
	int reps = argc > 1 ? atoi(argv[1]) : 3, depth = argc > 2 ? atoi(argv[2]) : 2000;
	for (int r = 0; r < reps; r++) {
		all(depth);
#pragma omp parallel
		{
			all(depth / 10);
#pragma omp critical
			must(ns::catcher(2) == 3);
		}
		pthread_t t;
		pthread_create(&t, nullptr, on_thread, &depth);
		pthread_join(t, nullptr);
	}
#define SHOW(name) printf(#name " %ld\n", c_##name.load())
	SHOW(descend); SHOW(fib); SHOW(even); SHOW(odd); SHOW(thrower); SHOW(passer); SHOW(catcher);
	SHOW(jumper); SHOW(setter); SHOW(chain1); SHOW(chain2); SHOW(chain3); SHOW(choose); SHOW(leaf);
	SHOW(early); SHOW(on_stack); SHOW(switcher); SHOW(big); SHOW(holder); SHOW(entry); SHOW(rethrow); SHOW(on_thread);
	printf("call %ld\n", c_virtual_call.load());
	return bad;
}
