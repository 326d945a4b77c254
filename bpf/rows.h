/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of rows, and how the site of a call is found. */
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

/* Not 0 once any thread but the calibrating one has folded something. */
u32 folding SHARED = 0;

/* Whether the current thread may have folded something. If not, the thread's state need not be
 * looked up. The calibrating thread folds in every measurement, also of a program that never
 * folds. */
static __always_inline int may_have_folded(void)
{
	return folding || calibrating;
}

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

#define RETURNS_AT_ONCE 8

/* Looks at the next few pending returns, from at on. Returns the first one with this stack pointer,
 * or else the one behind those looked at. Kernel addresses are numbers here: such functions take no
 * pointers to kernel memory. */
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

/* The address to which a call that has not returned will return, or 0. Of the pending returns, the
 * call's own has the call's stack pointer, and is from the call's probe. Later calls of the same
 * function have that stack pointer, too: a session of another process arms their returns where this
 * process still has the breakpoint (Linux 6.18). The pending returns of nested calls come before
 * the call's own in the list, whichever tool probes them. */
VERIFIED_ONCE u64 site_of_open(u64 task, u64 sp, u64 probe)
{
	u64 at = (u64)BPF_CORE_READ((struct task_struct *)task, utask, return_instances);
	int i;

	for (i = 0; i < 64 / RETURNS_AT_ONCE && at; i++) { /* the kernel keeps no more than 64 */
		struct return_instance *r;

		at = next_return_of(at, sp);
		r = (void *)at;
		if (at && BPF_CORE_READ(r, stack) == sp) {
			if (BPF_CORE_READ(r, func) == probe)
				return BPF_CORE_READ(r, orig_ret_vaddr);
			at = (u64)BPF_CORE_READ(r, next);
		}
	}
	return 0;
}

/* site_of_open for a call with an entry or return that the kernel may be handling right now. probe
 * is the address of the call's probe. ip is where the thread's user code is, or 0 if no return is
 * handled. The kernel notes a pending return after it has handled the entry. When it handles the
 * return, it has already taken the return from the list and set the thread's ip to the return
 * address (uprobe_handle_trampoline). */
static __always_inline u64 site_of_pending(u64 task, u64 sp, u64 probe, u64 ip)
{
	u64 site = site_of_open(task, sp, probe);

	return site || ip == probe ? site : ip;
}

/* Whether a call is ignored because the library made it. site is where the call returns to, and ip
 * the address of the probe. If a region's body ends in a jump to the runtime, that call seems to
 * come from inside the library, too, and is not ignored. Calls from inside that are not ignored get
 * REC_INSIDE. */
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

/* Counts a hit without a record, so that the hit's cost is known. A later record tells the count
 * (take_left_out). */
static __always_inline void leave_out(struct row *row)
{
	u64 kind = row->left_out;
	struct thread_state *state;

	if (!kind)
		return;
	state = this_thread_state(BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!state)
		return;
	/* The compiler must not move the bound away from the access: the verifier wants it there. */
	asm volatile("%0 &= 7" : "+r"(kind));
	state->left_out[kind]++;
}

/* The hits that leave_out has counted and no record has told. Of each kind at most as many as
 * LEFT_OUT_BITS hold; the rest is left for the next time. */
static __always_inline u64 take_left_out(void)
{
	struct thread_state *state = this_thread_state(0);
	u64 all = 0;

	if (!state)
		return 0;
	for (int k = 0; k < LEFT_OUT_KINDS; k++) {
		u32 n = state->left_out[k + 1];

		if (n >> LEFT_OUT_BITS)
			n = (1 << LEFT_OUT_BITS) - 1;
		state->left_out[k + 1] -= n;
		all |= (u64)n << (k * LEFT_OUT_BITS);
	}
	return all;
}

/* is_own_call for a row given by its number. Returns -1 if the library made the call, 1 if the
 * program did, and 0 if the site is not known. */
static __always_inline int came_from(u32 index, u64 ip, u64 site, u16 *flags)
{
	struct row *row = bpf_map_lookup_elem(&rows, &index);

	if (!site || !row)
		return 0;
	return is_own_call(row, ip, site, flags) ? -1 : 1;
}
