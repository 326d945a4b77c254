/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How a hit that is not folded gets its record. */
#pragma once
#include "fold_hits.h"

/* The thread whose time without a core was looked at last on a CPU, and that time (ns). As long as
 * both stay, nothing has to be reported, and nobody has to look up the thread's state. */
struct wait_seen {
	u64 total;
	u32 tid;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct wait_seen);
} waits_seen SEC(".maps");

/* Whether a thread has had no core for a time that it may not have reported. */
static __always_inline int may_have_waited(struct task_struct *task)
{
	u64 total = core_wait_of(task);
	struct wait_seen *seen;
	u32 first = 0;

	if (total < CORE_WAIT_STEP)
		return 0;
	seen = bpf_map_lookup_elem(&waits_seen, &first);
	return !seen || seen->total != total || seen->tid != task->pid;
}

/* Writes what has to stand before a thread's next record: what the thread has folded, and for how
 * long it had no core, if it has not reported that yet. time is that of the next record. */
VERIFIED_ONCE int report_what_came_before(u64 time)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct thread_state *t = may_have_folded() ? state_of(task, 0) : 0;
	u64 total = core_wait_of(task);
	struct wait_seen *seen;
	u32 first = 0;

	if (t && !is_settled(t))
		settle_state(t, bpf_get_current_task(), 0, 1);
	if (!may_have_waited(task))
		return 0;
	if (!t)
		t = state_of(task, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!t)
		return 0;
	if (total - t->wait_told >= CORE_WAIT_STEP)
		tell_core_wait(t, (u64)task->tgid << 32 | task->pid, time, total, 0);
	seen = bpf_map_lookup_elem(&waits_seen, &first);
	if (seen) {
		seen->total = total;
		seen->tid = task->pid;
	}
	return 0;
}

/* Completes the record of a hit, and writes it. Counters and losses are filled in here. */
VERIFIED_ONCE int report_with_all(struct record *from)
{
	struct counter_words c;
	struct thread_state *t;
	struct record *to;

	if (!from)
		return 0;
	t = may_have_folded() ? this_thread_state(0) : 0;
	if (num_counters) {
		/* the verifier wants all of it to be initialized */
		__builtin_memset(&c, 0, sizeof(c));
		from->flags |= take_counters(&c, from->time) ? REC_COUNTERS : REC_COUNTERS | REC_UNCOUNTED;
		if (t && t->uncounted) {
			from->flags |= REC_UNCOUNTED;
			t->uncounted = 0;
		}
	}
	to = reserve(from->tid, sizeof(*to) + 8 * COUNTER_WORDS);
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

/* Whether a thread has folded something, which must be written before any other record. */
static __always_inline int has_folded(struct task_struct *task)
{
	struct thread_state *t = may_have_folded() ? state_of(task, 0) : 0;

	return t && !is_settled(t);
}

/* Writes the record of a hit. Mostly the record needs no counters, and no record before it. */
static __always_inline void report(struct task_struct *task, struct record *from)
{
	struct record *to;

	from->pid = task->tgid;
	from->tid = task->pid;
	if (has_folded(task) || may_have_waited(task))
		report_what_came_before(from->time);
	if (num_counters || dropping || !(to = reserve_quickly(from->tid, sizeof(*to)))) {
		report_with_all(from);
		return;
	}
	*to = *from;
	submit(to, sizeof(*to));
}
