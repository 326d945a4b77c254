// app.h: what the mini-apps share. A program that includes it defines
//
//   static void setup(void);        once, not measured
//   static double work(void);       once per turn, measured; returns its result
//   static int right(double result) whether that is the right one
//
// It prints "ready", and for each line on standard input it works once and
// prints the seconds that took, and 1 if the result is right, else 0.
#include <stdio.h>
#include <time.h>

static void setup(void);
static double work(void);
static int right(double result);

static double app_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

#ifndef APP_OWN_MAIN
int main(void)
{
	char line[64];
	setup();
	printf("ready\n");
	fflush(stdout);
	while (fgets(line, sizeof line, stdin)) {
		double begin = app_now(), result = work();
		printf("%.6f %d\n", app_now() - begin, right(result));
		fflush(stdout);
	}
	return 0;
}
#endif
