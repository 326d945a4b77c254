/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How a hit that is not folded gets its record. */
#pragma once
#include "fold_hits.h"

/* A word of a thread's ring notes the time without a core (core_wait.h) of which nothing has to be
 * reported. As long as the word says what the thread's sum is now, nobody has to look up the
 * thread's state. Threads that share the word overwrite each other's notes. Then the state is
 * looked up, and no more. */
static __always_inline u64 *noted_wait(struct ring *ring, u32 tid)
{
	return &ring->waits[tid >> ring_bits & (WAITS - 1)];
}

/* What the word says: a sum, and the thread. Two threads that share the word have the same note
 * only if their sums are 73 minutes times a whole number apart, to the nanosecond. */
static __always_inline u64 note_of(u64 total, u32 tid)
{
	return total ^ (u64)tid << 42;
}

/* Whether a thread, with that sum, has had no core for a time that it may not have reported. */
static __always_inline int may_have_waited(u64 total, u32 tid, struct ring *ring)
{
	return total >= CORE_WAIT_STEP && *noted_wait(ring, tid) != note_of(total, tid);
}

/* Writes what has to stand before a thread's next record: what the thread has folded, and for how
 * long it had no core, if it has not reported that yet. time is that of the next record. The sum is
 * read once: the thread may be preempted here, and wait again. */
VERIFIED_ONCE int report_what_came_before(u64 time)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct thread_state *t = may_have_folded() ? state_of(task, 0) : 0;
	u32 tid = task->pid, number = ring_of(tid);
	struct ring *ring = bpf_map_lookup_elem(&rings, &number);
	u64 total = core_wait_of(task);

	/* Otherwise the compiler reads the sum again where it is used. */
	asm volatile("" : "+r"(total));
	if (t && !is_settled(t))
		settle_state(t, bpf_get_current_task(), 0, 1);
	if (!ring || !may_have_waited(total, tid, ring))
		return 0;
	if (!t)
		t = state_of(task, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!t)
		return 0;
	if (total - t->wait_told >= CORE_WAIT_STEP)
		tell_core_wait(t, (u64)task->tgid << 32 | task->pid, time, total, 0);
	*noted_wait(ring, tid) = note_of(total, tid);
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
	u32 tid = task->pid, number = ring_of(tid);
	struct ring *ring = bpf_map_lookup_elem(&rings, &number);
	struct record *to;

	from->pid = task->tgid;
	from->tid = tid;
	if (!ring) /* never: each thread has a ring */
		return;
	if (has_folded(task) || may_have_waited(core_wait_of(task), tid, ring))
		report_what_came_before(from->time);
	if (num_counters || dropping || !(to = reserve_in(ring, number, sizeof(*to)))) {
		report_with_all(from);
		return;
	}
	*to = *from;
	submit(to, sizeof(*to));
}
