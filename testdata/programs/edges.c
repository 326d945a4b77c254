// Short regions of two threads with a barrier in the middle. The program's own clock tells how long
// threads took to begin, to leave the barrier and to be back from the region, behind the last arrival.
//   edges REGIONS [WORK=300]
// Prints sums in ns: startup of thread 0, release of thread 0 and 1, shutdown, body of thread 0.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct times {
	unsigned long begin, arrive, leave, end;
	char pad[96];
};

static struct times at[2];
static volatile double sink[2][16];

static unsigned long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000UL + t.tv_nsec;
}

static unsigned long later(unsigned long a, unsigned long b) { return a > b ? a : b; }

static void work(int me, int n)
{
	for (int i = 0; i < n; i++)
		sink[me][0] += 0.5;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1000, size = argc > 2 ? atoi(argv[2]) : 300;
	unsigned long startup = 0, release[2] = {0, 0}, shutdown = 0, body = 0;

	for (int r = 0; r < n; r++) {
		unsigned long fork = now(), join, last;
#pragma omp parallel num_threads(2)
		{
			int me = omp_get_thread_num();
			struct times *t = &at[me];
			t->begin = now();
			work(me, size + (r * 7 + me * 13) % 50);
			t->arrive = now();
#pragma omp barrier
			t->leave = now();
			work(me, size / 2 + (r * 11 + me * 17) % 50);
			t->end = now();
		}
		join = now();
		work(0, size / 2);
		startup += at[0].begin - fork;
		last = later(at[0].arrive, at[1].arrive);
		for (int i = 0; i < 2; i++)
			release[i] += at[i].leave - last;
		shutdown += join - later(at[0].end, at[1].end);
		body += at[0].end - at[0].begin;
	}
	printf("%lu %lu %lu %lu %lu\n", startup, release[0], release[1], shutdown, body);
	return 0;
}
