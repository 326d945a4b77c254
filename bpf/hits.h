/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a hit does, at the entry of a function and at its return. */
#pragma once
#include "counters.h"
#include "report.h"
#include "sparse.h"

/* Returns the value that a source names. The verifier allows only constant offsets into pt_regs.
 * So each choice stands alone, and the asm keeps the compiler from merging it with the next. */
static __always_inline u64 argument(struct pt_regs *regs, u8 from)
{
	u64 v = 0;

	if (!from)
		return 0;
#define CHOOSE(n) if (from == ARG_##n) { v = REG_ARG##n(regs); asm volatile("" : "+r"(v)); }
	if (from <= ARG_5) {
		CHOOSE(0) CHOOSE(1) CHOOSE(2) CHOOSE(3) CHOOSE(4) CHOOSE(5)
		return v;
	}
#undef CHOOSE
	if (from == ARG_6)
		return STACK_ARG6(regs);
#define CHOOSE(n, reg) if (from == REG_0 + n) { v = regs->reg; asm volatile("" : "+r"(v)); }
	EACH_REG(CHOOSE)
#undef CHOOSE
	return v;
}

#define EEXIST 17

/* How often a process could not be switched off because the map silent was full. */
u32 unheeded = 0;

static __always_inline void switch_off(void)
{
	u32 pid = bpf_get_current_pid_tgid() >> 32;
	u8 one = 1;
	int err = bpf_map_update_elem(&silent, &pid, &one, BPF_NOEXIST);

	if (!err)
		__sync_fetch_and_add(&num_silent, 1);
	else if (err != -EEXIST)
		__sync_fetch_and_add(&unheeded, 1);
}

static __always_inline void switch_on(u32 pid)
{
	if (!bpf_map_delete_elem(&silent, &pid))
		__sync_fetch_and_add(&num_silent, -1);
}

/* The address of libgomp's struct gomp_thread for the current thread. */
static __always_inline u64 gomp_thread(struct pt_regs *regs, struct task_struct *task, struct row *row)
{
	u64 offset = row->tls_slot ? read_u64(REG_IP(regs) + row->tls_slot) : 0;

	return THREAD_POINTER(task) + offset;
}

/* Reads team and thread number. A read of user memory costs more than anything else here (some
 * 90 ns with hardened usercopy). In every libgomp so far the two lie 24 bytes apart, so one
 * read gets both. */
static __always_inline void team_from_tls(struct pt_regs *regs, struct task_struct *task, struct row *row, struct record *r)
{
	u64 thread = gomp_thread(regs, task, row), words[4] = {};
	s32 apart = row->tls_team_id - row->tls_team;

	if (apart != 24) {
		r->a = read_u64(thread + row->tls_team);
		r->num = read_u32(thread + row->tls_team_id);
		return;
	}
	read_user(words, sizeof(words), thread + row->tls_team);
	r->a = words[0];
	r->num = (u32)words[3];
}

/* The nesting level of a thread. It is read only from threads that may have been inside a region
 * when the measurement began, and only until they fork outside any region. */
static __always_inline s32 level_from_tls(struct pt_regs *regs, struct task_struct *task, struct row *row)
{
	struct thread_state *state = state_of(task, BPF_LOCAL_STORAGE_GET_F_CREATE);
	s32 level;

	if (!state || state->outside_once == era)
		return 0;
	level = read_u32(gomp_thread(regs, task, row) + row->tls_level);
	if (level == 0)
		state->outside_once = era;
	return level;
}

/* The number of iterations of a loop whose bounds lie at two addresses. Compilers put the bounds
 * side by side: then one read gets both. */
static __always_inline u64 trips_32(u64 lower, u64 upper)
{
	s32 bounds[2] = {};

	if (upper - lower != 4 && lower - upper != 4)
		return (u64)((s64)(s32)read_u32(upper) - (s32)read_u32(lower) + 1);
	read_user(bounds, sizeof(bounds), lower < upper ? lower : upper);
	return lower < upper ? (u64)((s64)bounds[1] - bounds[0] + 1) : (u64)((s64)bounds[0] - bounds[1] + 1);
}

static __always_inline u64 trips_64(u64 lower, u64 upper)
{
	u64 bounds[2] = {};

	if (upper - lower != 8 && lower - upper != 8)
		return read_u64(upper) - read_u64(lower) + 1;
	read_user(bounds, sizeof(bounds), lower < upper ? lower : upper);
	return lower < upper ? bounds[1] - bounds[0] + 1 : bounds[0] - bounds[1] + 1;
}

static __always_inline s32 size_from_kmp(struct pt_regs *regs, struct row *row)
{
	u64 threads_array, thread;

	if (!row->kmp_threads)
		return read_u32(argument(regs, row->kmp_team) + row->kmp_nproc);
	threads_array = read_u64(REG_IP(regs) + row->kmp_threads);
	thread = read_u64(threads_array + (u64)(u32)REG_ARG1(regs) * 8);
	return read_u32(read_u64(thread + row->kmp_team) + row->kmp_nproc);
}

static __always_inline void ignore_return(struct task_struct *task)
{
	struct thread_state *state = state_of(task, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (state)
		state->ignored_returns++;
}

/* Fills in the values of a record that no register holds, and decides whether the call's return is
 * armed. Most rows have no such values. Returns REC_UNARMED, or 0. */
static __always_inline u64 seek(struct pt_regs *regs, struct task_struct *task, struct row *row, struct record *r, int can_skip)
{
	u64 armed = 0;

	if (row->flags & ROW_B_FROM_A) {
		r->b = read_u64(r->a + 8);
		if (r->b - REG_IP(regs) - row->text_lo < row->text_hi - row->text_lo)
			r->flags |= REC_INSIDE;
	}
	if (row->flags & ROW_TEAM_FROM_TLS)
		team_from_tls(regs, task, row, r);
	if (row->flags & ROW_LEVEL_FROM_TLS)
		r->num = level_from_tls(regs, task, row);
	/* the primary thread reports the team's size for all */
	if ((row->flags & ROW_SIZE_FROM_KMP) && r->num == 0)
		r->size = size_from_kmp(regs, row);
	if (can_skip && may_be_sparse(row)) {
		armed = arm_return(r->b + r->site, r->b != 0, r->time);
		r->flags |= armed;
	}
	if (row->flags & ROW_TRIP_32)
		r->b = trips_32(REG_ARG4(regs), REG_ARG5(regs));
	if (row->flags & ROW_TRIP_64)
		r->b = trips_64(REG_ARG4(regs), REG_ARG5(regs));
	if (row->flags & ROW_TELLS_LEFT_OUT)
		r->site = take_left_out();
	return armed;
}

/* Handles a hit at an entry. Returns 1 if the call's return need not be hit. Only sessions can
 * make use of that answer (can_skip). */
static __always_inline int on_entry(struct pt_regs *regs, struct task_struct *task, u32 index, int can_skip)
{
	struct row *row = bpf_map_lookup_elem(&rows, &index);
	u64 now, site, flags;
	u64 armed = 0;
	u16 inside = 0;
	int hold;

	if (!row)
		return 1;
	if (row->flags & ROW_ON)
		switch_on(bpf_get_current_pid_tgid() >> 32);
	else if (is_silent())
		return 1;
	if ((row->flags & ROW_ONLY_IF_ZF) && !ZERO_FLAG(regs))
		return 1;
	if ((row->flags & ROW_ONLY_IF_NOT_ZF) && ZERO_FLAG(regs))
		return 1;
	hold = held();
	now = bpf_ktime_get_ns();
	if ((row->flags & ROW_EXACT) && !exact_edges)
		exact_edges = 1;
	if ((row->flags & ROW_FOLDS) && !hold) {
		u64 a = argument(regs, row->a), b = argument(regs, row->b);
		enum fold_answer answer = row->flags & ROW_FOLD_BEGIN ?
			fold_begin(regs, task, row, index, now, a, b, can_skip) : fold_end(regs, task, row, index, now, a, b, can_skip);

		if (answer != FOLD_REPORT)
			return answer == FOLD_FINISHED;
	}
	if (row->flags & ROW_SITE_HERE)
		site = REG_IP(regs) + row->here;
	else
		site = row->flags & ROW_NO_SITE ? 0 : return_address(regs);
	if (is_own_call(row, REG_IP(regs), site, &inside)) {
		if (!can_skip && (row->flags & (ROW_RETURN | ROW_RETURN_IF_ZERO)))
			ignore_return(task);
		leave_out(row);
		return 1;
	}
	flags = inside | entry_flags(regs, row->flags, can_skip);
	/* The verifier must not know the flags: then it verifies what follows once, and not once
	 * for each value. */
	asm volatile("%0 += %1" : "+r"(flags) : "r"(unknown));
	if (row->flags & ROW_ENTRY) {
		struct record r = {.time = now, .row = index, .flags = flags, .sp = REG_SP(regs), .site = site};

		if (row->a | row->b | row->num | row->size) {
			r.a = argument(regs, row->a);
			r.b = argument(regs, row->b);
			r.num = argument(regs, row->num);
			r.size = argument(regs, row->size);
		}
		if (row->flags & ROW_SEEKS)
			armed = seek(regs, task, row, &r, can_skip);
		report(task, &r);
		reported(regs, task, row);
	}
	if (row->flags & ROW_OFF)
		switch_off();
	return (flags / REC_NO_RETURN | armed / REC_UNARMED) & 1;
}

static __always_inline void on_return(struct pt_regs *regs, struct task_struct *task, u32 index, int counted)
{
	struct row *row = bpf_map_lookup_elem(&rows, &index);
	struct record r = {};

	if (!row)
		return;
	/* The return of a call whose entry was ignored is ignored, too. Calls that the library
	 * makes itself return before the calls around them, so counting them is enough. */
	if ((row->flags & ROW_OUTSIDE_ONLY) && !counted) {
		struct thread_state *state = state_of(task, 0);

		if (state && state->ignored_returns) {
			state->ignored_returns--;
			return;
		}
	}
	if ((row->flags & ROW_RETURN_IF_ZERO) && (u32)REG_RET(regs) != 0)
		return;
	if (is_silent())
		return;
	r.time = bpf_ktime_get_ns();
	if ((row->flags & ROW_FOLDS) && fold_return(regs, task, row, r.time))
		return;
	r.row = index;
	r.flags = REC_RETURN;
	r.sp = REG_SP(regs);
	r.a = REG_RET(regs);
	report(task, &r);
}
