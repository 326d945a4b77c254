/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How often returns that tell little are armed. Such a return tells where a team's body begins for
 * its primary thread, where the thread is back from the team, or where a barrier is left. An armed
 * return costs nearly as much as a second hit. The team's arrivals, which are always reported, tell
 * nearly the same. So after the first hits of a place, chance arms one return in 16, later one in
 * 32, and the reader derives the others (attribution/edges.go). A thread whose hits are rare pays
 * little for them, and gets all its returns. */
#pragma once
#include "rows.h"

/* Not 0: all returns are armed. */
u32 exact_edges = 0;

/* The number of returns of a place that are armed first. */
#define SPARSE_FIRST 64
/* After these, one return in so many is armed: a power of two. */
#define SPARSE_ONE_IN 16
/* When chance has armed SPARSE_MANY of a place, the sum of the others is known well. From then on
 * one in SPARSE_SELDOM_ONE_IN is armed, and stands for more returns (REC_SELDOM). */
#define SPARSE_MANY 64
#define SPARSE_SELDOM_ONE_IN 32
/* Hits so far apart are rare: an armed return takes up to 0.6 us. */
#define SPARSE_RARE 100000 /* ns */

/* Whether returns may be left out. With counters they may not: the counts until the return would be
 * taken for those of the code behind the return. */
static __always_inline int may_be_sparse(struct row *row)
{
	return (row->flags & ROW_SPARSE) && !num_counters && !exact_edges;
}

/* Decides whether the return of a hit at a place is armed. Returns REC_UNARMED, or the reason why
 * the return is armed. place is 0 at the end of a team: the place is that of the thread's last
 * fork. */
VERIFIED_ONCE u32 arm_return(u64 place, u32 is_fork, u64 now)
{
	struct thread_state *t = this_thread_state(BPF_LOCAL_STORAGE_GET_F_CREATE);
	u64 since;
	u8 *count;
	u32 i, chance;

	if (!t)
		return REC_ANYWAY;
	if (is_fork)
		t->sparse_fork = place;
	if (!place)
		place = ~t->sparse_fork;
	since = now - t->sparse_last;
	t->sparse_last = now;
	i = (place ^ place >> 6 ^ place >> 12 ^ place >> 18) & (SPARSE_COUNTS - 1);
	count = &t->sparse_count[i];
	if (*count < SPARSE_FIRST) {
		*count += 1;
		return REC_ANYWAY;
	}
	if (since >= SPARSE_RARE)
		return REC_ANYWAY;
	/* Random numbers (Knuth, TAOCP 3.3.4): a call of the kernel's generator costs more. */
	t->sparse_seed = t->sparse_seed * 1664525 + 1013904223;
	chance = t->sparse_seed >> 24;
	if (*count >= SPARSE_FIRST + SPARSE_MANY)
		return chance % SPARSE_SELDOM_ONE_IN ? REC_UNARMED : REC_BY_CHANCE | REC_SELDOM;
	if (chance % SPARSE_ONE_IN)
		return REC_UNARMED;
	*count += 1;
	return REC_BY_CHANCE;
}
