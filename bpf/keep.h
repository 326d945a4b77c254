/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Records that nobody but their own thread's need be told of at once wait until
 * there are some, and are written together: a place in the ring for each would
 * cost as much as all else that a hit does. Where the call came from that begins
 * a construct can then be left to its return, which knows: that spares the read
 * of the stack.
 *
 * They are older than what is folded (fold.h), and leave before it. */
#pragma once
#include "rows.h"

/* Bytes of one of them: a struct record and its counters. */
#define KEPT_SIZE (sizeof(struct record) + 8 * num_counters)

static __always_inline struct record *kept_record(struct thread_state *t, u32 i)
{
	u64 at = i * KEPT_SIZE;

	asm volatile("" : "+r"(at)); /* so that the mask stays, for the verifier */
	at &= KEPT_RECORDS * KEPT_MOST - 1;
	return (void *)t->kept_words + at;
}

/* Makes sure that the last one's site is known. Answers 0 if it is not, for now,
 * and -1 if it turns out to be none of the program's. */
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

/* One goes that nobody will read: what else it would have told, the next one tells. */
static __always_inline void hand_on(struct thread_state *t, struct record *r)
{
	t->lost += r->lost;
	t->uncounted |= r->flags & REC_UNCOUNTED;
}

/* The last one is none of the program's. */
static __always_inline void forget_kept(struct thread_state *t)
{
	t->kept--;
	hand_on(t, kept_record(t, t->kept));
}

/* Writes what waits and is complete, or if the ring is full and it must go, counts
 * it as lost; busy is set. Answers whether it went. */
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
	asm volatile("" : "+r"(size)); /* so that what is checked is what is used, for the verifier */
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

/* Writes what waits. The thread's user code is at ip; 0: not known. */
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
