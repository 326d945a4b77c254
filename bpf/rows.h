/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* The rows of probes, and where the calls come from that hit them. */
#pragma once
#include "ring.h"

#define MAX_ROWS 32768

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAX_ROWS);
	__type(key, u32);
	__type(value, struct row);
} rows SEC(".maps");

/* Records dropped, by row. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAX_ROWS);
	__type(key, u32);
	__type(value, u64);
} dropped SEC(".maps");

/* Some thread has kept or folded something: spares others the look. */
u32 folding SHARED = 0;

#define barrier() asm volatile("" ::: "memory")

static __always_inline void set_busy(struct thread_state *t)
{
	*(volatile u32 *)&t->busy = 1;
	barrier();
}

static __always_inline void clear_busy(struct thread_state *t)
{
	barrier();
	*(volatile u32 *)&t->busy = 0;
}

/* What loops, or is called at several places, is a function of its own that is not
 * static: then it is verified once, and not for each call (Linux 5.6; with pointers
 * to structs that may be NULL for all that is known there: 5.12). */
#define VERIFIED_ONCE __noinline

#define RETURNS_AT_ONCE 8

/* The first of some pending returns that has this stack pointer, or the one behind
 * them. Kernel addresses are numbers here: functions take no pointers to them. */
VERIFIED_ONCE u64 next_return_of(u64 at, u64 sp)
{
	int i;

	for (i = 0; i < RETURNS_AT_ONCE && at; i++) {
		struct return_instance *r = (void *)at;

		if (BPF_CORE_READ(r, stack) == sp)
			break;
		at = (u64)BPF_CORE_READ(r, next);
	}
	return at;
}

/* Where a call that has not returned will return to. Its own return probe is the
 * one with its stack pointer; those of nested calls, of whatever tool, lie above. */
VERIFIED_ONCE u64 site_of_open(u64 task, u64 sp)
{
	u64 at = (u64)BPF_CORE_READ((struct task_struct *)task, utask, return_instances);
	int i;

	for (i = 0; i < 64 / RETURNS_AT_ONCE && at; i++) { /* the kernel keeps no more than 64 */
		struct return_instance *r;

		at = next_return_of(at, sp);
		r = (void *)at;
		if (at && BPF_CORE_READ(r, stack) == sp)
			return BPF_CORE_READ(r, orig_ret_vaddr);
	}
	return 0;
}

/* Whether a call that returns to site is one that the library makes itself; ip is
 * that of the probe. */
static __always_inline int is_inside(struct row *row, u64 ip, u64 site)
{
	return site - ip - row->text_lo < row->text_hi - row->text_lo;
}

/* Such a call that is none of the program's. A body that ends in a jump to the
 * runtime seems to be called from inside, too. */
static __always_inline int is_own_call(struct row *row, u64 ip, u64 site)
{
	return (row->flags & ROW_OUTSIDE_ONLY) && site - ip - row->body_lo >= row->body_size;
}
