/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Constructs that begin and end on their thread while it reports nothing else
 * are added up, per place, and leave as one record. Before a thread reports
 * anything else, what it has folded is settled: the sums go out, then what is
 * open, as the records that it would have written. So the reader cannot tell
 * the difference, but for what a full ring loses.
 *
 * A sample's interrupt settles too, of the thread that it hits, whose program
 * may be anywhere: what it changes is looked at and changed while busy is set. */
#pragma once
#include "core_wait.h"
#include "keep.h"

/* Not 0: nobody folds, and who has folded settles at the next hit. */
u32 fold_hold SHARED = 0;

/* User regions find out by the stack pointer what was left by an exception: then
 * only executions of one stack pointer are added up. */
u32 fold_by_sp SHARED = 0;

/* The address of a task, as a number. */
static __always_inline u64 address_of(struct task_struct *task)
{
	u64 address = 0;

	bpf_probe_read_kernel(&address, sizeof(address), &task);
	return address;
}

static __always_inline u32 take_lost_of(struct thread_state *t)
{
	u32 lost = t->lost;

	t->lost = 0;
	return lost;
}

/* One of the records that are written of what is open. All that is counted
 * meanwhile is the construct's: so all of them may have the counters that it
 * began with. */
static __always_inline int tell_open(struct thread_state *t, u64 time, u32 row, u16 flags, u64 sp, u64 site, u64 a, u64 b)
{
	struct record *r = reserve((u32)t->ids, sizeof(*r) + 8 * num_counters);

	if (!r)
		return 0;
	if (num_counters) {
		u64 *to = (u64 *)(r + 1);

		flags |= REC_COUNTERS;
		for (u32 k = 0; k < MAX_COUNTERS && k < num_counters; k++)
			to[k] = t->open_counters.at[k];
	}
	r->time = time;
	r->pid = t->ids >> 32;
	r->tid = (u32)t->ids;
	r->row = row;
	r->flags = flags;
	r->lost = take_lost_of(t);
	r->sp = sp;
	r->site = site;
	r->a = a;
	r->b = b;
	r->num = 0;
	r->size = 0;
	submit(r, sizeof(*r) + 8 * num_counters);
	return 1;
}

/* What has no executions has no counts. */
static __always_inline int tell_slot(struct thread_state *t, struct fold_slot *s, struct fold_counts *c)
{
	struct fold_record *r = reserve((u32)t->ids, sizeof(*r) + 16 * num_counters);

	if (!r)
		return 0;
	if (num_counters) {
		u64 *to = (u64 *)(r + 1);

		for (u32 k = 0; k < MAX_COUNTERS && k < num_counters; k++) {
			to[k] = c ? c->first[k] : 0;
			to[num_counters + k] = c ? c->sum[k] : 0;
		}
	}
	r->time = s->first;
	r->pid = t->ids >> 32;
	r->tid = (u32)t->ids;
	r->row = s->row;
	r->flags = s->flags | REC_FOLDED;
	r->lost = take_lost_of(t);
	r->sp = fold_by_sp ? t->fold_sp : 0;
	r->site = s->site;
	r->a = s->a;
	r->b = s->b;
	r->last = s->last;
	r->n = s->n;
	r->hits = s->hits;
	r->enter = s->enter;
	r->body = s->body;
	r->exit = s->exit;
	submit(r, sizeof(*r) + 16 * num_counters);
	return 1;
}

/* Writes what was added up of one place. If the ring is full and it must go, it is
 * lost, and counted. Answers whether it went. */
VERIFIED_ONCE int settle_slot(struct thread_state *t, struct fold_slot *s, struct fold_counts *c, int must)
{
	if (!t || !s)
		return 0;
	if (!s->hits)
		return 1;
	if (!tell_slot(t, s, c)) {
		if (!must)
			return 0;
		drop_hits(&dropped, s->row, t, s->hits);
	}
	s->hits = 0;
	s->row = MAX_ROWS; /* nobody's any more */
	return 1;
}

/* Writes what is in the slots. If the ring is full and not all must go, what it
 * has no room for stays. Answers whether all went. */
VERIFIED_ONCE int settle_slots(struct thread_state *t, int must)
{
	u32 i, n;

	if (!t)
		return 0;
	n = t->slots;
	for (i = 0; i < FOLD_SLOTS && i < n; i++)
		if (!settle_slot(t, &t->slot[i], &t->counts[i], must))
			return 0;
	t->slots = 0;
	return 1;
}

/* Makes sure that the site of what is open is known. Answers 0 if it is not, for
 * now, and -1 if it turns out to be none of the program's. */
static __always_inline int find_site(struct thread_state *t, u64 site)
{
	struct fold_open *o = &t->open;
	int found = came_from(o->row, o->ip, site, &o->flags);

	if (!found)
		return 0;
	o->site = site;
	o->site_later = 0;
	if (found < 0)
		o->phase = FOLD_NONE;
	return found;
}

/* Writes what is open. If the ring is full and not all must go, the rest stays to
 * be written later. The thread's user code is at ip; 0: not known. */
static __always_inline void settle_open(struct thread_state *t, u64 task, u64 ip, int must)
{
	struct fold_open *o = &t->open;
	u32 index = o->row, all = 1;

	if (o->phase == FOLD_ENTERING)
		t->told_sp = o->sp;
	if (o->site_later) {
		int found = find_site(t, site_of_pending(task, o->sp, o->ip, ip));

		if (found < 0) {
			t->ignored_sp = o->sp;
			return;
		}
		if (!found && !must)
			return;
	}
	if (o->told < 1) {
		if (tell_open(t, o->start, index, o->flags, o->sp, o->site, o->a, o->b))
			o->told = 1;
		else if (!must)
			return;
		else
			drop_hits(&dropped, index, t, 1);
	}
	if (o->acquired) {
		all++;
		if (o->told < 2) {
			if (tell_open(t, o->acquired, index, REC_RETURN, o->acquired_sp, 0, o->returned, 0))
				o->told = 2;
			else if (!must)
				return;
			else
				drop_hits(&dropped, index, t, 1);
		}
	}
	if (o->released) {
		all++;
		if (!tell_open(t, o->released, o->released_row, o->released_flags, o->released_sp, 0, o->released_a, o->released_b)) {
			if (!must)
				return;
			drop_hits(&dropped, o->released_row, t, 1);
		}
	}
	if (o->hits > all) { /* of no event, but hits */
		struct fold_slot *rest = &t->slot[0]; /* none is in use; no room on a sample's stack */

		__builtin_memset(rest, 0, sizeof(*rest));
		rest->first = rest->last = o->start;
		rest->hits = o->hits - all;
		rest->row = index;
		rest->site = o->site;
		settle_slot(t, rest, 0, 1);
	}
	o->phase = FOLD_NONE;
}

/* Writes what a thread has kept and folded: all, or as much as the ring has room
 * for. The thread's user code is at ip; 0: not known. */
VERIFIED_ONCE int settle_state(struct thread_state *t, u64 task, u64 ip, int must)
{
	if (!t)
		return 0;
	set_busy(t);
	if (settle_kept(t, task, ip, must) && settle_slots(t, must) && t->open.phase)
		settle_open(t, task, ip, must);
	clear_busy(t);
	return 0;
}

static __always_inline int is_settled(struct thread_state *t)
{
	return !t->kept && !t->slots && !t->open.phase;
}

/* That of the current thread; called before each record that it writes. */
static __always_inline void settle(void)
{
	struct thread_state *t;

	if (!folding)
		return;
	t = this_thread_state(0);
	if (t && !is_settled(t))
		settle_state(t, bpf_get_current_task(), 0, 1);
}

/* Writes what is in the current thread's slots, and before it what it has kept. */
static __always_inline int empty_slots(struct thread_state *t, int must)
{
	return settle_kept(t, bpf_get_current_task(), 0, must) && settle_slots(t, must);
}

/* Whether a slot is that of what is open, whose a is given. */
static __always_inline int is_slot_of(struct fold_slot *s, struct fold_open *o, u64 a)
{
	return s->site == o->site && s->row == o->row && s->a == a && s->b == o->b && s->flags == (o->flags & REC_INSIDE);
}

/* Finds the slot of what is open, or takes one for it, and answers which one;
 * FOLD_SLOTS if there is none for now. */
VERIFIED_ONCE u32 find_slot(struct thread_state *t, u64 a)
{
	struct fold_open *o;
	struct fold_slot *s;
	u32 i;

	if (!t)
		return FOLD_SLOTS;
	o = &t->open;
	for (i = 0; i < FOLD_SLOTS && i < t->slots; i++)
		if (is_slot_of(&t->slot[i], o, a))
			return i;
	if (i == FOLD_SLOTS) {
		if (!empty_slots(t, 0)) /* the ring is full */
			return FOLD_SLOTS;
		i = 0;
	}
	asm volatile("" : "+r"(i)); /* so that the mask stays, for the verifier */
	i &= FOLD_SLOTS - 1;
	s = &t->slot[i];
	t->slots = i + 1;
	t->fold_sp = o->sp;
	if (num_counters) {
		struct fold_counts *c = &t->counts[i];

		for (u32 k = 0; k < MAX_COUNTERS && k < num_counters; k++) {
			c->first[k] = t->open_counters.at[k];
			c->sum[k] = 0;
		}
	}
	s->site = o->site;
	s->a = a;
	s->b = o->b;
	s->row = o->row;
	s->flags = o->flags & REC_INSIDE;
	s->group = o->group;
	s->first = o->start;
	s->n = s->hits = s->enter = s->body = s->exit = 0;
	return i;
}

/* Adds the execution that is open, which ends, with the counters then in
 * ended_counters; busy is set. */
static __always_inline void fold_add(struct thread_state *t, u64 end, u32 executions)
{
	struct fold_open *o = &t->open;
	u64 a = o->by_name ? 0 : o->a;
	struct fold_slot *s;
	u32 at = t->recent & (FOLD_SLOTS - 1); /* mostly */

	if (fold_by_sp && t->slots && t->fold_sp != o->sp)
		empty_slots(t, 1);
	if (at >= t->slots || !is_slot_of(&t->slot[at], o, a)) {
		at = find_slot(t, a);
		if (at >= FOLD_SLOTS) {
			drop_hits(&dropped, o->row, t, o->hits);
			return;
		}
	}
	asm volatile("" : "+r"(at));
	at &= FOLD_SLOTS - 1;
	s = &t->slot[at];
	t->recent = at;
	s->last = end;
	s->n += executions;
	s->hits += o->hits;
	if (!executions)
		return;
	if (num_counters) {
		struct fold_counts *c = &t->counts[at];

		for (u32 k = 0; k < MAX_COUNTERS && k < num_counters; k++)
			c->sum[k] += t->ended_counters.at[k] - t->open_counters.at[k];
	}
	if (o->whole) {
		s->exit += end - o->start;
		return;
	}
	if (o->acquired) {
		s->enter += o->acquired - o->start;
		s->body -= o->acquired;
	} else {
		s->body -= o->start;
	}
	if (o->released) {
		s->body += o->released;
		s->exit += end - o->released;
	} else {
		s->body += end;
	}
}
