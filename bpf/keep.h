/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Keeping: a record that no other thread depends on may wait with its thread. The thread writes
 * its kept records together, because a place in the ring for each would cost as much as all else
 * that a hit does. If a kept record is that of a call's entry, the call's return can fill in the
 * call site. That spares the read of the stack at the entry.
 * Kept records are older than what is folded (fold.h), and are written before it. */
#pragma once
#include "rows.h"

/* Bytes of a kept record: a struct record and its counters. */
#define KEPT_SIZE (sizeof(struct record) + 8 * num_counters)

static __always_inline struct record *kept_record(struct thread_state *t, u32 i)
{
	u64 at = i * KEPT_SIZE;

	asm volatile("" : "+r"(at)); /* keeps the mask, which the verifier needs */
	at &= KEPT_RECORDS * KEPT_MOST - 1;
	return (void *)t->kept_words + at;
}

/* Stores the call site of the last kept record. Returns 0 if the site is not known, and -1 if
 * the library itself made the call. */
static __always_inline int find_kept_site(struct thread_state *t, u64 site)
{
	struct record *r = kept_record(t, t->kept - 1);
	int found = came_from(r->row, t->kept_ip, site, &r->flags);

	if (!found)
		return 0;
	r->site = site;
	t->kept_site_later = 0;
	return found;
}

/* A kept record is dropped: what it says of losses and counters goes to the thread's next
 * record. */
static __always_inline void hand_on(struct thread_state *t, struct record *r)
{
	t->lost += r->lost;
	t->uncounted |= r->flags & REC_UNCOUNTED;
}

/* Drops the last kept record, because the library itself made its call. */
static __always_inline void forget_kept(struct thread_state *t)
{
	t->kept--;
	hand_on(t, kept_record(t, t->kept));
}

/* Writes all kept records, which must be complete. The caller has set busy. If the ring is full,
 * must decides: the records are dropped and counted as lost, or they stay. Returns 0 if they
 * stay. */
VERIFIED_ONCE int write_kept(struct thread_state *t, int must)
{
	u32 i, n, which;
	void *ring;
	u64 size;

	if (!t)
		return 0;
	n = t->kept;
	if (!n)
		return 1;
	which = ring_of((u32)t->ids);
	ring = bpf_map_lookup_elem(&rings, &which);
	size = n * KEPT_SIZE;
	/* the verifier must see that the value it checks is the one used */
	asm volatile("" : "+r"(size));
	if (size > sizeof(t->kept_words))
		return 0;
	if (!ring || write_copy(ring, t->kept_words, size)) {
		if (!must)
			return 0;
		for (i = 0; i < KEPT_RECORDS && i < n; i++) {
			struct record *r = kept_record(t, i);

			hand_on(t, r);
			drop_hits(&dropped, r->row, t, 1);
		}
	}
	t->kept = 0;
	return 1;
}

/* Completes the last kept record, if its site is not known yet, and writes all of them. ip is
 * where the thread's user code is, or 0 if that is not known. Returns 0 if they stay. */
static __always_inline int settle_kept(struct thread_state *t, u64 task, u64 ip, int must)
{
	if (t->kept && t->kept_site_later) {
		u64 sp = kept_record(t, t->kept - 1)->sp;
		int found = find_kept_site(t, site_of_pending(task, sp, t->kept_ip, ip));

		if (found < 0) {
			t->kept_ignored_sp = sp;
			forget_kept(t);
		}
		if (!found) {
			if (!must)
				return 0;
			t->kept_site_later = 0;
		}
	}
	return write_kept(t, must);
}
