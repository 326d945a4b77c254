/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
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

/* The same of one whose probe, at the address probe, is being hit or whose return
 * is being handled, of a thread whose user code is at ip; 0: not known. The kernel
 * notes where a call returns to after its entry was handled. When it handles the
 * return, it has taken it from the list and put the thread there
 * (uprobe_handle_trampoline). */
static __always_inline u64 site_of_pending(u64 task, u64 sp, u64 probe, u64 ip)
{
	u64 site = site_of_open(task, sp);

	return site || ip == probe ? site : ip;
}

/* Whether a call that returns to site is none of the program's, but one that the
 * library makes itself; ip is that of the probe. A body that ends in a jump to the
 * runtime seems to be called from inside, too. Of other calls from inside, the
 * flags say so. */
static __always_inline int is_own_call(struct row *row, u64 ip, u64 site, u16 *flags)
{
	u64 at = site - ip;

	if (at - row->text_lo >= row->text_hi - row->text_lo)
		return 0;
	if ((row->flags & ROW_OUTSIDE_ONLY) && at - row->body_lo >= row->body_size)
		return 1;
	*flags |= REC_INSIDE;
	return 0;
}

/* The same of a row by its number: -1 if it is none of the program's, 1 if it is,
 * and 0 if the site is not known. */
static __always_inline int came_from(u32 index, u64 ip, u64 site, u16 *flags)
{
	struct row *row = bpf_map_lookup_elem(&rows, &index);

	if (!site || !row)
		return 0;
	return is_own_call(row, ip, site, flags) ? -1 : 1;
}
