/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Folding: executions during which their thread reports nothing else are added up per place, and
 * leave as one record.
 * Before a thread writes any other record, it settles what it has folded. It writes the sums
 * first, and then the open construct, as the records that would have been written without
 * folding. So the reader sees no difference, except in what a full ring loses.
 * The interrupt of a sample settles the thread that it interrupts. It may come in the middle of
 * a probe's program. So probes read and change a thread's folding only while busy is set, and
 * the interrupt leaves a busy thread alone. */
#pragma once
#include "core_wait.h"
#include "rows.h"

/* If not 0, no thread folds, and a thread that has folded settles at its next hit. The
 * calibrating thread is an exception (fold_hits.h). */
u32 fold_hold SHARED = 0;

/* If not 0, only executions with the same stack pointer are added up. User regions need that:
 * the stack pointer tells which regions an exception has left. */
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

/* Writes one of the open construct's records. All of them carry the counters from the
 * construct's beginning: whatever was counted since then belongs to the construct. */
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

/* Writes the sums of a slot. c is NULL for a slot without executions: its counts are 0. */
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

/* Writes the sums of one slot and frees it. If the ring is full, must decides: the sums are
 * dropped and counted as lost, or they stay. Returns 0 if they stay. */
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
	s->row = MAX_ROWS; /* matches no construct any more */
	return 1;
}

/* Writes the sums of all slots. If the ring is full and must is 0, the rest of the sums stay.
 * Returns 0 if any stay. */
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

/* Stores the call site of the open construct. Returns 0 if the site is not known, and -1 if the
 * library itself made the call: then the construct is forgotten. */
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

/* Writes the records of the open construct. A record for which the ring has no room is dropped
 * and counted as lost if must is set. Otherwise it stays, with the rest, to be written later. If
 * the kernel may be handling a return of the thread, ip is where its user code is, else 0. */
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
	if (o->hits > all) { /* hits without a record: a slot without executions tells of them */
		/* no slot is in use now, and a sample's program has no room on its stack */
		struct fold_slot *rest = &t->slot[0];

		__builtin_memset(rest, 0, sizeof(*rest));
		rest->first = rest->last = o->start;
		rest->hits = o->hits - all;
		rest->row = index;
		rest->site = o->site;
		settle_slot(t, rest, 0, 1);
	}
	o->phase = FOLD_NONE;
}

/* Settles a thread: writes its sums and its open construct. must and ip are as in settle_open. */
VERIFIED_ONCE int settle_state(struct thread_state *t, u64 task, u64 ip, int must)
{
	if (!t)
		return 0;
	set_busy(t);
	if (settle_slots(t, must) && t->open.phase)
		settle_open(t, task, ip, must);
	clear_busy(t);
	return 0;
}

static __always_inline int is_settled(struct thread_state *t)
{
	return !t->slots && !t->open.phase;
}

/* Settles the current thread. Called before the thread writes any other record. */
static __always_inline void settle(void)
{
	struct thread_state *t;

	if (!may_have_folded())
		return;
	t = this_thread_state(0);
	if (t && !is_settled(t))
		settle_state(t, bpf_get_current_task(), 0, 1);
}

/* Whether a slot is for the place of the open construct. a is the construct's a, or 0 if that only
 * names a lock. */
static __always_inline int is_slot_of(struct fold_slot *s, struct fold_open *o, u64 a)
{
	return s->site == o->site && s->row == o->row && s->a == a && s->b == o->b && s->flags == (o->flags & REC_INSIDE);
}

/* Returns the index of the slot for the open construct's place, and takes a free slot if the
 * place has none. Returns FOLD_SLOTS if all are in use and the ring is full. */
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
		if (!settle_slots(t, 0)) /* the ring is full */
			return FOLD_SLOTS;
		i = 0;
	}
	asm volatile("" : "+r"(i)); /* keeps the mask, which the verifier needs */
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

/* Adds the open construct, which has just ended, to the slot of its place. ended_counters holds
 * the thread's counters at the end. executions is 0 if the construct did not take place (a
 * lock's test that failed). The caller has set busy. */
static __always_inline void fold_add(struct thread_state *t, u64 end, u32 executions)
{
	struct fold_open *o = &t->open;
	u64 a = o->by_name ? 0 : o->a;
	struct fold_slot *s;
	u32 at = t->recent & (FOLD_SLOTS - 1); /* mostly the place is the same again */

	if (fold_by_sp && t->slots && t->fold_sp != o->sp)
		settle_slots(t, 1);
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
