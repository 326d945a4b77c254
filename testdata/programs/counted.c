/* Threads that execute known numbers of instructions.
 *
 *	counted N [SECONDS]
 *
 * All run on one core: QEMU's unit counts what all cores execute together. Last
 * it prints how many instructions the process executed in user mode, counted as
 * perf stat does: by one event that its threads inherit. With SECONDS it does
 * nothing but keep that core busy for so long. */
#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Two instructions each. */
static void loop(long n)
{
#if defined(__aarch64__)
	__asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(n) : : "cc");
#else
	__asm__ volatile("1: sub $1, %0\n\tjne 1b" : "+r"(n) : : "cc");
#endif
}

static int open_total(void)
{
	struct perf_event_attr a;

	memset(&a, 0, sizeof(a));
	a.size = sizeof(a);
	a.type = PERF_TYPE_HARDWARE;
	a.config = PERF_COUNT_HW_INSTRUCTIONS;
	a.inherit = 1;
	a.exclude_kernel = a.exclude_hv = 1;
	return syscall(SYS_perf_event_open, &a, 0, -1, -1, 0);
}

int main(int argc, char **argv)
{
	long n = atol(argv[1]), total = 0;
	cpu_set_t one;
	int fd;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	sched_setaffinity(0, sizeof(one), &one);
	if (argc > 2) {
		time_t end = time(0) + atol(argv[2]);
		while (time(0) < end)
			loop(1000000);
		return 0;
	}
	fd = open_total();
#pragma omp parallel num_threads(2) /* 1: 2 n (thread + 1) */
	loop(n * (omp_get_thread_num() + 1));
#pragma omp parallel num_threads(3) /* 2: one thread more than before */
	{
		for (int i = 0; i < 10; i++) {
#pragma omp critical /* 3: 2 n */
			loop(n / 10);
		}
		loop(n); /* 2 n of the region's own */
	}
	if (fd >= 0 && read(fd, &total, sizeof(total)) == sizeof(total))
		printf("total %ld\n", total);
	return 0;
}
