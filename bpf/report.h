/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How a hit that is not folded gets its record. */
#pragma once
#include "fold_hits.h"

/* The flags that decide whether a call's site may be taken at the call's return instead of its
 * entry. It may if ROW_KEEP and ROW_RETURN are set and none of the others is. */
#define ROW_SITE_LATER (ROW_KEEP | ROW_RETURN | ROW_NO_SITE | ROW_SITE_HERE | ROW_RETURN_IF_ZERO | ROW_B_FROM_A | ROW_FOLDS)

/* Keeps a record with its counters c. A record that may not wait is written at once, together
 * with the kept ones. later is the address of the record's probe if the site of its call is not
 * known yet, else 0. */
static __always_inline void keep(struct thread_state *t, struct record *from, const struct counter_words *c, u64 later, u32 may_wait)
{
	struct record *to;
	u64 *counters;

	set_busy(t);
	if (t->kept >= KEPT_RECORDS || t->kept_site_later)
		settle_kept(t, bpf_get_current_task(), 0, 1);
	to = kept_record(t, t->kept);
	*to = *from;
	to->flags |= REC_KEPT;
	if (dropping)
		to->lost = take_lost_of(t);
	counters = (u64 *)(to + 1);
	EACH_COUNTER(k)
		counters[k] = c->at[k];
	t->kept++;
	t->kept_site_later = later != 0;
	t->kept_ip = later;
	if (!may_wait)
		write_kept(t, 1);
	clear_busy(t);
}

/* Reports a time without a core, after the records that the thread has kept. A function of its
 * own keeps the stack frame of report small: Linux 6.1 allows 512 bytes for a chain of calls. */
VERIFIED_ONCE int tell_wait(struct thread_state *t, u64 time, u64 total)
{
	if (!t)
		return 0;
	set_busy(t);
	settle_kept(t, bpf_get_current_task(), 0, 1);
	tell_core_wait(t, bpf_get_current_pid_tgid(), time, total, 0);
	clear_busy(t);
	return 0;
}

/* Called before a record is kept or written: if the thread has had no core for a time that it
 * has not reported, it does so first. */
static __always_inline void tell_wait_before(struct thread_state *t, u64 time)
{
	u64 total = core_wait();

	if (total < CORE_WAIT_STEP)
		return;
	if (!t)
		t = this_thread_state(BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!t || total - t->wait_told < CORE_WAIT_STEP)
		return;
	tell_wait(t, time, total);
}

/* Completes the record of a hit, and keeps it (if may_wait is set) or writes it at once.
 * Process, thread, counters and losses are filled in here. t may be NULL. later is as in keep. */
VERIFIED_ONCE int report(struct record *from, struct thread_state *t, u64 later, u32 may_wait)
{
	struct counter_words c;
	struct record *to;
	u64 id;

	if (!from)
		return 0;
	if (!t && folding)
		t = this_thread_state(0);
	if (t && (t->slots || t->open.phase))
		settle_state(t, bpf_get_current_task(), 0, 1);
	tell_wait_before(t, from->time);
	if (num_counters) {
		/* the verifier wants all of it to be initialized */
		__builtin_memset(&c, 0, sizeof(c));
		from->flags |= take_counters(&c, from->time) ? REC_COUNTERS : REC_COUNTERS | REC_UNCOUNTED;
		if (t && t->uncounted) {
			from->flags |= REC_UNCOUNTED;
			t->uncounted = 0;
		}
	}
	id = t ? t->ids : 0;
	if (!id)
		id = bpf_get_current_pid_tgid();
	from->pid = id >> 32;
	from->tid = (u32)id;
	if (t && (may_wait || t->kept)) {
		if (!t->ids) {
			t->ids = id;
			folding = 1;
		}
		keep(t, from, &c, later, may_wait);
		return 0;
	}
	to = reserve((u32)id, sizeof(*to) + 8 * COUNTER_WORDS);
	if (!to) {
		if (!t)
			t = this_thread_state(BPF_LOCAL_STORAGE_GET_F_CREATE);
		if (t && (from->flags & REC_UNCOUNTED))
			t->uncounted = folding = 1;
		drop_hits(&dropped, from->row, t, 1);
		return 0;
	}
	*to = *from;
	to->lost = take_lost();
	for (u32 k = 0; k < 2 * MAX_COUNTERS + 1 && k < COUNTER_WORDS; k++)
		((u64 *)(to + 1))[k] = c.at[k];
	submit(to, sizeof(*to) + 8 * COUNTER_WORDS);
	return 0;
}

/* Called when a call returns. If the entry's record is kept and lacks its site, the call returns
 * to that site. If the site shows that the library itself made the call, the record is
 * forgotten. Returns whether the return needs no record for that reason. */
static __always_inline int kept_returned(struct pt_regs *regs, struct thread_state *t)
{
	u64 sp = REG_SP(regs) - 8 * RETURN_ON_STACK;
	int own = 0;

	if (!t->kept_site_later && !t->kept_ignored_sp)
		return 0;
	set_busy(t);
	if (t->kept_ignored_sp && t->kept_ignored_sp <= sp) {
		own = t->kept_ignored_sp == sp;
		t->kept_ignored_sp = 0; /* if below sp, its call was left in another way */
	}
	if (!own && t->kept && t->kept_site_later && kept_record(t, t->kept - 1)->sp == sp && find_kept_site(t, REG_IP(regs)) < 0) {
		forget_kept(t);
		own = 1;
	}
	clear_busy(t);
	return own;
}
