// frames.c: calls through frames of all shapes, each of which notes where it
// returns to.
#include <alloca.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include "capture.h"

#define SHAPE __attribute__((noinline, noclone))

static uint64_t returns[1000];
static int depth, most = 40;
volatile int zero;

static void note(void *ret) { returns[depth++] = (uint64_t)ret; }
#define NOTE() note(__builtin_return_address(0))

void innermost(int, ...);
CAPTURE(innermost);

__attribute__((used)) void innermost_seen(void) {
	NOTE();
	tell_registers();
	for (int i = depth - 1; i >= 0; i--)
		printf("ret %#lx\n", returns[i]);
	wait_to_be_seen();
}

static long next(long a, long b);

SHAPE static long small(long a, long b) {
	NOTE();
	return next(a, b) + 1;
}

SHAPE static long large(long a, long b) {
	char buffer[5000];
	NOTE();
	memset(buffer, (int)a, sizeof buffer);
	long r = next(a, buffer[b & 1023]);
	return r + buffer[a & 1023];
}

SHAPE static long variable(long a, long b) {
	NOTE();
	char *p = alloca(100 + 16 * (a & 7));
	memset(p, 1, 100);
	return next(a, b) + p[zero];
}

SHAPE static long realigned(long a, long b) {
	__attribute__((aligned(64))) volatile long v[16];
	NOTE();
	v[a & 15] = b;
	return next(a, v[a & 15]) + v[b & 15];
}

SHAPE static long realigned_variable(long a, long b) {
	__attribute__((aligned(64))) volatile long v[16];
	NOTE();
	char *p = alloca(100 + 16 * (a & 7));
	v[a & 15] = p[0] = 1;
	return next(a, b) + v[b & 15] + p[zero];
}

SHAPE static long many(long a, long b, long c, long d, long e, long f, long g, long h, long i) {
	NOTE();
	long r = next(a + b + c, d + e + f);
	return r + a * b + c * d + e * f + g * h + i;
}

SHAPE static long pushes(long a, long b) {
	NOTE();
	return many(a, b, a, b, a, b, a, b, a) + many(b, a, b, a, b, a, b, a, zero);
}

static int compare(const void *x, const void *y);

SHAPE static long library(long a, long b) {
	long v[2] = {b, a};
	NOTE();
	qsort(v, 2, sizeof *v, compare);
	return v[0];
}

static int done;

SHAPE static int compare(const void *x, const void *y) {
	if (!done) {
		NOTE();
		zero = next(*(const long *)x, *(const long *)y) & zero;
	}
	return x < y;
}

static void handler(int sig) {
	NOTE();
	zero = next(sig, 1) & zero; // no tail call: it would have no frame
}

SHAPE static long interrupted(long a, long b) {
	NOTE();
	raise(SIGUSR1);
	return a + b;
}

SHAPE static long next(long a, long b) {
	if (done)
		return a;
	NOTE();
	long r;
	if (depth >= most) {
		innermost(zero);
		done = 1;
		return a;
	}
	switch (depth / 2 % 8) {
	case 0: r = small(a + 1, b); break;
	case 1: r = large(a + 1, b); break;
	case 2: r = variable(a + 1, b); break;
	case 3: r = realigned(a + 1, b); break;
	case 4: r = pushes(a + 1, b); break;
	case 5: r = realigned_variable(a + 1, b); break;
	case 6: r = library(a + 1, b); break;
	default: r = interrupted(a + 1, b);
	}
	return r + zero;
}

int main(void) {
	// On a stack of its own, so that the stack pointer leaps.
	stack_t other = {.ss_sp = malloc(1 << 20), .ss_size = 1 << 20};
	sigaltstack(&other, NULL);
	struct sigaction act = {.sa_handler = handler, .sa_flags = SA_ONSTACK | SA_NODEFER};
	sigaction(SIGUSR1, &act, NULL);
	next(1, 2);
	return 0;
}
