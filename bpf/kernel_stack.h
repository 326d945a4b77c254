/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which stack a uprobe's program runs on. */
#pragma once
#include "shared.h"

const volatile u32 never = 0;

/* Keeps a program on the thread's kernel stack; each program of a uprobe contains it. Since Linux
 * 6.13 programs with 64 bytes of stack or more have a stack of their own per CPU (commit
 * a76ab5731e32). But programs of uprobes can be preempted, and may sleep: another thread's hit on
 * that CPU then writes to the same stack. A program that contains a tail call, even one that is
 * never reached, stays on the thread's kernel stack. This stack is quicker, too: the kernel takes
 * longer to check copies of user memory to other places. */
#define ON_KERNEL_STACK() do { \
	if (never) /* bpf_tail_call */ \
		asm volatile("call 12" ::: "r0", "r1", "r2", "r3", "r4", "r5", "memory"); \
} while (0)
