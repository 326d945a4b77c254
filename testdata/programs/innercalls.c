// innercalls.c: a library whose functions call each other, and a program that calls one of them.
//
//   cc -DINNER -shared -fPIC -o libinner.so innercalls.c
//   cc -o innercalls innercalls.c -L. -linner
//
//   innercalls N M
//
// The program calls inner_outer N times, which calls inner_leaf and inner_twice M times each.
// inner_twice calls inner_leaf again. The program calls inner_leaf and inner_twice once, too.
#include <stdlib.h>

long inner_leaf(long x);
long inner_twice(long x);
long inner_outer(long m);

#if defined(INNER)

long inner_leaf(long x) { return x * 3 + 1; }
long inner_twice(long x) { return inner_leaf(x) + 1; }

long inner_outer(long m)
{
	long sum = 0;
	for (long i = 0; i < m; i++) {
		sum += inner_leaf(i);
		sum += inner_twice(i);
	}
	return sum;
}

#else

int main(int argc, char **argv)
{
	long n = atol(argv[1]), m = atol(argv[2]), sum = inner_leaf(n) + inner_twice(m);
	for (long i = 0; i < n; i++)
		sum += inner_outer(m);
	return sum == 42;
}

#endif
