// redzone.c: functions without calls, which keep values below the stack pointer
// across nops of 5 bytes (x86-64). A probe on such a nop lets Linux 6.18 write
// there.
//
//   redzone [REPS=1000]
//
// Prints `NAME COUNT` for the function and the lines that tests give as regions
// and for what markers mark; fails if a value is lost.
#include "ompp.h"
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static long c_bare __attribute__((used)), c_lines, c_marked;

// bare(n) is n.
long bare(long n);
__asm__(".text\n.globl bare\n.type bare,@function\nbare:\n"
	"mov %rdi,-8(%rsp)\n"
	"incq c_bare(%rip)\n"
	".byte 0x0f,0x1f,0x44,0,0\n"
	"mov -8(%rsp),%rax\n"
	"ret\n.size bare,.-bare");

__attribute__((noinline)) static long lines(long n)
{
	volatile long kept = n;
	__asm__ volatile(".byte 0x66,0x66,0x66,0x66,0x90"); c_lines++; // begin lines
	n = kept;               // end lines
	__asm__ volatile("" : : : "memory");
	return n;
}

__attribute__((noinline)) static long marked(long n)
{
	volatile long kept = n;
	ompp_begin("marked");
	c_marked++;
	n = kept;
	ompp_end("marked");
	return n + kept - n;
}

int main(int argc, char **argv)
{
	long reps = argc > 1 ? atol(argv[1]) : 1000, lost = 0;
#pragma omp parallel num_threads(2)
	{
#pragma omp master
		for (long r = 0; r < reps; r++)
			lost += (bare(r) != r) + (lines(r) != r) + (marked(r) != r);
	}
	printf("bare %ld\nlines %ld\nmarked %ld\n", c_bare, c_lines, c_marked);
	return lost != 0;
}
