// Shared by the measuring programs: the clock, the rule that ends the sampling of a figure, and the
// lines that the programs write. A line begins with "ompp-attach:", since launchers and runtimes
// write lines of their own.
#ifndef SAMPLE_H
#define SAMPLE_H
#define _GNU_SOURCE 1
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Sampling ends when the standard error is below `error` times the figure and there are `least`
// samples; or after `samples` samples or `seconds`.
struct rule {
	double error;
	int least, samples;
	double seconds;
	double target; // ns that one sample is to take
};

enum { MOST_SAMPLES = 10000 };

static struct rule rule;

// samples of the figure being measured, and the same in order
static double sample[MOST_SAMPLES], ordered[MOST_SAMPLES];

// rule_of reads the rule from the program's first five arguments.
static void rule_of(char **argv)
{
	rule.error = atof(argv[1]);
	rule.least = atoi(argv[2]);
	rule.samples = atoi(argv[3]);
	rule.seconds = atof(argv[4]);
	rule.target = atof(argv[5]);
	if (rule.samples > MOST_SAMPLES)
		rule.samples = MOST_SAMPLES;
}

// now is a time in ns.
static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

// precise tells whether the standard error of the median of n samples is small enough. The error is
// half of the distance between the samples that lie sqrt(n)/2 places before and after the median.
static int precise(int n)
{
	double half = sqrt(n) / 2;
	int low = (int)floor(n / 2.0 - half), high = (int)ceil(n / 2.0 + half);

	if (low < 0 || high > n - 1)
		return 0;
	memcpy(ordered, sample, n * sizeof *sample);
	qsort(ordered, n, sizeof *ordered, by_value);
	return (ordered[high] - ordered[low]) / 2 <= rule.error * fabs(ordered[n / 2]);
}

// enough tells whether n samples, taken since `began`, are enough. Sorting after each sample would
// take longer than sampling.
static int enough(int n, double began)
{
	if (n >= rule.samples || (n >= 3 && now() - began > rule.seconds * 1e9))
		return 1;
	return n >= rule.least && n % 5 == 0 && precise(n);
}

// write_samples ends a line with the samples.
static void write_samples(int n)
{
	for (int i = 0; i < n; i++)
		printf(" %.6g", sample[i]);
	printf("\n");
	fflush(stdout);
}

#endif
