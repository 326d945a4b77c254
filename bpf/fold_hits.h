/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a hit does at the beginning and the end of a construct that is folded (fold.h). */
#pragma once
#include "counters.h"
#include "fold.h"

/* What is to be done with a hit. */
enum fold_answer {
	FOLD_REPORT,   /* the hit gets a record of its own */
	FOLD_TAKEN,    /* the hit is folded; the call's return must be hit, too */
	FOLD_FINISHED, /* the hit needs no record, and the call's return need not be hit */
};

static __always_inline int held(void)
{
	barrier();
	/* The calibrating thread folds in spite of fold_hold, except where counters take turns. */
	return *(volatile u32 *)&fold_hold != 0 && (counters_take_turns || (u32)bpf_get_current_pid_tgid() != calibrating);
}

/* The flags of the record of a hit at an entry. */
static __always_inline u16 entry_flags(struct pt_regs *regs, u32 row, int can_skip)
{
	u16 flags = 0;

	if (((row & ROW_FREE_IF_ZF) && ZERO_FLAG(regs)) || ((row & ROW_FREE_IF_NOT_SF) && !SIGN_FLAG(regs)))
		flags |= REC_FREE | (can_skip ? REC_NO_RETURN : 0);
	if (!(row & (ROW_RETURN | ROW_RETURN_IF_ZERO)))
		flags |= REC_NO_RETURN;
	return flags;
}

/* Handles the hit at which a construct begins. A folded execution must lie within a time in
 * which fold_hold is 0. So fold_hold is checked before the time of a beginning is taken (by the
 * caller), and after the time of an end was taken. */
static __always_inline enum fold_answer fold_begin(struct pt_regs *regs, struct task_struct *task, struct row *row, u32 index, u64 now, u64 a, u64 b, int can_skip)
{
	u32 group = FOLD_GROUP(row->flags);
	struct thread_state *t;
	struct fold_open *o;
	u64 site = 0;
	u16 flags;
	u8 later;

	t = state_of(task, BPF_LOCAL_STORAGE_GET_F_CREATE);
	/* Where one entry point jumps to another, one call hits both probes. Either both hits
	 * are folded, or neither. */
	if (!t || t->told_sp == REG_SP(regs) || has_waited(task, t))
		return FOLD_REPORT;
	flags = entry_flags(regs, row->flags, can_skip);
	/* If the call's return is hit, too, the instruction pointer at the return is the call site.
	 * Taking the site there spares a read of user memory here. */
	later = can_skip && !(flags & REC_NO_RETURN) && site_at_exit;
	if (!later) {
		site = return_address(regs);
		if (is_own_call(row, REG_IP(regs), site, &flags))
			return FOLD_REPORT; /* on_entry checks the same, and drops the hit */
	}
	o = &t->open;
	set_busy(t);
	if (o->phase != FOLD_NONE) {
		int again = o->phase == FOLD_ENTERING && o->group == group && o->sp == REG_SP(regs);

		if (again)
			o->hits++;
		clear_busy(t);
		return !again ? FOLD_REPORT : can_skip ? FOLD_FINISHED : FOLD_TAKEN;
	}
	if (!take_counters_or_report(&t->open_counters, now)) {
		clear_busy(t);
		return FOLD_REPORT;
	}
	if (!t->ids)
		t->ids = (u64)task->tgid << 32 | task->pid;
	if (!folding && (u32)t->ids != calibrating)
		folding = 1;
	o->start = now;
	o->acquired = o->released = 0;
	o->ip = REG_IP(regs);
	o->sp = REG_SP(regs);
	o->site = site;
	o->a = a;
	o->b = b;
	o->row = index;
	o->hits = 1;
	o->flags = flags;
	o->group = group;
	o->told = 0;
	o->site_later = later;
	o->by_name = !!(row->flags & ROW_FOLD_BY_NAME);
	o->whole = !!(row->flags & ROW_FOLD_END);
	o->phase = o->whole ? FOLD_LEAVING : flags & (REC_FREE | REC_NO_RETURN) ? FOLD_INSIDE : FOLD_ENTERING;
	clear_busy(t);
	return (flags & REC_NO_RETURN) ? FOLD_FINISHED : FOLD_TAKEN;
}

/* Whether other entry points may jump to one of this kind. */
static __always_inline int jumped_to(struct row *row)
{
	return (row->flags & (ROW_FOLD_BEGIN | ROW_OUTSIDE_ONLY)) == (ROW_FOLD_BEGIN | ROW_OUTSIDE_ONLY);
}

/* Notes that the hit at a construct's beginning got a record of its own. If the call jumps to
 * another entry point, the hit there must get one, too. */
static __always_inline void reported(struct pt_regs *regs, struct task_struct *task, struct row *row)
{
	struct thread_state *t;

	if (!jumped_to(row))
		return;
	t = state_of(task, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (t)
		t->told_sp = REG_SP(regs);
}

/* Handles the hit at which the body of a construct is over. */
static __always_inline enum fold_answer fold_end(struct pt_regs *regs, struct task_struct *task, struct row *row, u32 index, u64 now, u64 a, u64 b, int can_skip)
{
	struct thread_state *t;
	struct fold_open *o;
	u16 flags;

	if (held() || !may_have_folded())
		return FOLD_REPORT;
	t = state_of(task, 0);
	if (!t || has_waited(task, t))
		return FOLD_REPORT;
	flags = entry_flags(regs, row->flags, can_skip);
	o = &t->open;
	set_busy(t);
	if (o->phase != FOLD_INSIDE || o->group != FOLD_GROUP(row->flags) || (o->by_name && o->a != a) || o->told) {
		clear_busy(t);
		return FOLD_REPORT;
	}
	if ((flags & (REC_FREE | REC_NO_RETURN)) && !take_counters_or_report(&t->ended_counters, now)) {
		clear_busy(t);
		return FOLD_REPORT;
	}
	o->hits++;
	if (flags & (REC_FREE | REC_NO_RETURN)) {
		fold_add(t, now, 1);
		o->phase = FOLD_NONE;
	} else {
		o->released = now;
		o->released_sp = REG_SP(regs);
		o->released_a = a;
		o->released_b = b;
		o->released_row = index;
		o->released_flags = flags;
		o->phase = FOLD_LEAVING;
	}
	clear_busy(t);
	return (flags & REC_NO_RETURN) ? FOLD_FINISHED : FOLD_TAKEN;
}

static __always_inline int got_it(struct pt_regs *regs, u32 row)
{
	if (!(row & ROW_FOLD_TEST))
		return 1;
	return row & ROW_FOLD_TEST_BOOL ? (u8)REG_RET(regs) != 0 : (u32)REG_RET(regs) != 0;
}

/* Handles the return of the call in which a construct begins. The caller has set busy. Returns 0
 * if the return is to be reported. */
static __always_inline int fold_acquired(struct pt_regs *regs, struct row *row, struct thread_state *t, u64 now)
{
	struct fold_open *o = &t->open;

	if (o->whole && !take_counters_or_report(&t->ended_counters, now))
		return 0;
	o->hits++;
	if (o->whole || !got_it(regs, row->flags)) {
		fold_add(t, now, o->whole);
		o->phase = FOLD_NONE;
		return 1;
	}
	o->acquired = now;
	o->acquired_sp = REG_SP(regs);
	o->returned = REG_RET(regs);
	o->phase = FOLD_INSIDE;
	return 1;
}

/* Handles a call's return. Returns 1 if the return needs no record. */
static __always_inline int fold_return(struct pt_regs *regs, struct task_struct *task, struct row *row, u64 now)
{
	struct thread_state *t;
	struct fold_open *o;
	int taken = 1;

	if (!may_have_folded() && !jumped_to(row))
		return 0;
	t = state_of(task, 0);
	if (!t)
		return 0;
	o = &t->open;
	if (row->flags & ROW_FOLD_BEGIN)
		t->told_sp = 0;
	if (t->ignored_sp) {
		u64 ignored = t->ignored_sp;

		t->ignored_sp = 0;
		if (ignored == REG_SP(regs) - 8 * RETURN_ON_STACK)
			return 1;
	}
	set_busy(t);
	if (o->phase != FOLD_NONE && o->site_later && find_site(t, REG_IP(regs)) < 0) {
		clear_busy(t);
		return 1;
	}
	if (held() || o->told || has_waited(task, t)) {
		clear_busy(t);
		return 0;
	}
	if (o->phase != FOLD_NONE && o->group == FOLD_GROUP(row->flags)) {
		if ((row->flags & ROW_FOLD_BEGIN) && (o->phase == FOLD_ENTERING || o->whole)) {
			taken = fold_acquired(regs, row, t, now);
		} else if ((row->flags & ROW_FOLD_END) && o->phase == FOLD_LEAVING) {
			if ((taken = take_counters_or_report(&t->ended_counters, now))) {
				o->hits++;
				fold_add(t, now, 1);
				o->phase = FOLD_NONE;
			}
		} else {
			/* the lock was free; without sessions the call's return is hit all the
			 * same */
			o->hits++;
		}
	} else if (o->phase == FOLD_NONE && t->slots && (row->flags & ROW_FOLD_END) &&
		   t->slot[t->recent & (FOLD_SLOTS - 1)].group == FOLD_GROUP(row->flags)) {
		/* the same at the lock's release: nobody waited for the lock */
		t->slot[t->recent & (FOLD_SLOTS - 1)].hits++;
	} else {
		taken = 0;
	}
	clear_busy(t);
	return taken;
}
