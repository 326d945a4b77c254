// levelstorm.c: two libraries and a program that calls a function of one of them in a storm, and of
// the other one now and then.
//
//   cc -DCHEAP -shared -fPIC -o libcheap.so levelstorm.c
//   cc -DDEAR -shared -fPIC -o libdear.so levelstorm.c -L. -lcheap
//   cc -o levelstorm levelstorm.c -L. -ldear -lcheap
//
//   levelstorm CALLS
//
// CALLS calls of dear_tick, of which each 60,000,000th calls cheap_step; beside each of these, one of
// cheap_other, one of dear_rare and one of the program's own function now_and_then.
#include <stdio.h>
#include <stdlib.h>

#if defined(CHEAP)

long cheap_step(long x) { return x * 3 + 1; }
long cheap_other(long x) { return x ^ 5; }

#elif defined(DEAR)

long cheap_step(long x);
long dear_tick(long n) { return n % 60000000 ? n ^ 1 : cheap_step(n) + 1; }
long dear_rare(long n) { return n + 7; }

#else

long cheap_other(long x);
long dear_tick(long n);
long dear_rare(long n);

__attribute__((noinline)) long now_and_then(long x)
{
	__asm__ volatile("" ::: "memory");
	return x - 1;
}

int main(int argc, char **argv)
{
	long calls = argc > 1 ? atol(argv[1]) : 1000000, sum = 0;
	for (long i = 0; i < calls; i++) {
		sum += dear_tick(i);
		if (i % 60000000 == 0)
			sum += cheap_other(i) + dear_rare(i) + now_and_then(i);
	}
	return sum == 42;
}

#endif
