/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How a hit that is not folded gets its record. */
#pragma once
#include "fold_hits.h"

/* Called before a record is written: if the thread has had no core for a time that it has not
 * reported, it does so first. */
static __always_inline void tell_wait_before(struct thread_state *t, u64 time)
{
	u64 total = core_wait();

	if (total < CORE_WAIT_STEP)
		return;
	if (!t)
		t = this_thread_state(BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (t && total - t->wait_told >= CORE_WAIT_STEP)
		tell_core_wait(t, bpf_get_current_pid_tgid(), time, total, 0);
}

/* Completes the record of a hit, and writes it. Process, thread, counters and losses are filled
 * in here. */
VERIFIED_ONCE int report(struct record *from)
{
	struct counter_words c;
	struct thread_state *t;
	struct record *to;
	u64 id;

	if (!from)
		return 0;
	t = folding ? this_thread_state(0) : 0;
	if (t && !is_settled(t))
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
