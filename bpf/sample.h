/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The record of a sample. It is kept apart from shared.h, whose structs probes use. */
#pragma once
#include "shared.h"

#define SAMPLE_RETURNS 4

enum sample_flag {
	SAMPLE_KERNEL   = 1 << 0, /* in the kernel; registers are those at its entry */
	/* the thread's open constructs are not known: they were being changed or could not be
	 * written */
	SAMPLE_CHANGING = 1 << 1,
	REC_SAMPLE      = 1 << 13, /* marks a sample: records of probes do not have it (shared.h) */
};

/* A process that is sampled. */
struct sampled {
	u64 lost; /* samples that the ring had no room for */
};

/* Where a thread was. Begins like struct record. A piece of the thread's stack follows, from the
 * stack pointer up; the field stack says how many of its bytes are valid. */
struct sample_record {
	u64 time;
	u32 pid, tid;
	u16 row;
	u16 flags;
	u32 lost;
	u64 ip;
	u64 weight;  /* the sampling event's period: how much of it this sample stands for */
	u64 stack;
	u64 reg[32]; /* in the order of DWARF's register numbers */
	/* Where functions with a return probe return to, the innermost one first: the stack
	 * holds the kernel's trampoline in place of these addresses. */
	u64 trampoline;
	u64 returns[SAMPLE_RETURNS];
};

#define SAMPLE_STACK 32768
