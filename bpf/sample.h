/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a sample reports. Apart from shared.h, whose structs probes use. */
#pragma once
#include "shared.h"

#define SAMPLE_RETURNS 4

enum sample_flag {
	SAMPLE_KERNEL   = 1 << 0, /* in the kernel; registers are those at its entry */
	SAMPLE_CHANGING = 1 << 1, /* a probe's program was just changing what the thread is in */
	REC_SAMPLE      = 1 << 13, /* no record of a probe has it (shared.h) */
};

/* A process that is sampled. */
struct sampled {
	u64 lost; /* samples that the ring had no room for */
};

/* Where a thread was. Begins like struct record; the stack from the stack
 * pointer up follows, of which as many bytes are valid as stack says. */
struct sample_record {
	u64 time;
	u32 pid, tid;
	u16 row;
	u16 flags;
	u32 lost;
	u64 ip;
	u64 weight;  /* how much of the event it stands for */
	u64 stack;
	u64 reg[32]; /* by DWARF's numbers */
	/* Where functions whose return is probed return to, the innermost one first:
	 * on the stack there is the kernel's trampoline. */
	u64 trampoline;
	u64 returns[SAMPLE_RETURNS];
};

#define SAMPLE_STACK 32768
