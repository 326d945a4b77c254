// lines.c: stretches of code that are entered and left in several ways. The
// comments name the regions that tests give by lines.
//
//   lines [REPS=5]
//
// Prints `NAME COUNT` for each region: how often control went into it.
#include <omp.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

static volatile long sink;
static long c_plain, c_loop, c_body, c_early, c_jumped, c_team;
static jmp_buf back;

__attribute__((noinline)) static void work(int n)
{
	for (int i = 0; i < n; i++)
		sink += i;
}

__attribute__((noinline)) static void leave(int n)
{
	if (n % 2)
		longjmp(back, 1);
}

__attribute__((noinline)) static int early(int n)
{
	work(1);
	c_early++;              // begin early
	work(n);
	if (n % 3 == 0)
		return 1;
	if (n % 3 == 1)
		goto out;
	work(2);                // end early
	work(3);
out:
	work(4);
	return 0;
}

__attribute__((noinline)) static void plain(int n)
{
	work(1);
	c_plain++;              // begin plain
	work(n);
	work(2);                // end plain
	work(3);
}

__attribute__((noinline)) static void loops(int n)
{
	c_loop++;
	work(1);
	for (int i = 0; i < n; i++) { // begin loop
		c_body++;       // begin body
		if (i == 2)
			continue;
		work(i);        // end body
		if (i == 4)
			break;
	}                       // end loop
	work(2);
}

__attribute__((noinline)) static void jumped(int n)
{
	work(1);
	if (setjmp(back) == 0) {
		c_jumped++;     // begin jumped
		work(1);
		leave(n);
		work(2);        // end jumped
	}
	work(3);
}

__attribute__((noinline)) static void team(int n)
{
	work(1);
	c_team++;               // begin team
#pragma omp parallel num_threads(2)
	{
#pragma omp critical
		sink += n;
	}
	work(2);                // end team
	work(3);
}

int main(int argc, char **argv)
{
	int reps = argc > 1 ? atoi(argv[1]) : 5;
	for (int r = 0; r < reps; r++) {
		plain(r);
		loops(r + 1);
		early(r);
		jumped(r);
		team(r);
	}
	printf("plain %ld\nloop %ld\nbody %ld\nearly %ld\njumped %ld\nteam %ld\n", c_plain, c_loop, c_body, c_early, c_jumped, c_team);
	return 0;
}
