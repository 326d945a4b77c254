/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How long threads were ready to run and had no core. The scheduler keeps that sum for every
 * task (CONFIG_SCHED_INFO, which delay accounting and schedstats bring), and adds to it when the
 * task gets a core. The thread of a hit has a core, so a hit finds the sum up to date with one
 * load. A thread reports the sum when it has grown by CORE_WAIT_STEP. So a report costs at most
 * a hundredth of the time that it tells of. */
#pragma once
#include "rows.h"

/* Not 0: times without a core are to be reported. */
u32 telling_core_waits SHARED = 0;

#define CORE_WAIT_STEP 100000 /* ns */

struct sched_info { unsigned long long run_delay; } __attribute__((preserve_access_index));
struct task_struct___waiting { struct sched_info sched_info; } __attribute__((preserve_access_index));

/* The sum of a task in ns; 0 if it is not wanted, or the kernel keeps none. */
static __always_inline u64 core_wait_of(struct task_struct *task)
{
	struct task_struct___waiting *t = (void *)task;

	return telling_core_waits && bpf_core_field_exists(t->sched_info.run_delay) ? t->sched_info.run_delay : 0;
}

static __always_inline u64 core_wait(void)
{
	return core_wait_of((void *)bpf_get_current_task_btf());
}

/* Whether a task's sum has grown by a step since it was last reported. */
static __always_inline int has_waited(struct task_struct *task, const struct thread_state *t)
{
	return core_wait_of(task) - t->wait_told >= CORE_WAIT_STEP;
}

/* Writes how much a thread's sum has grown since it was last reported. inside is the part of it
 * that lies in the MPI call whose record follows. If the ring has no room, the next such record
 * includes this one's time. */
VERIFIED_ONCE int tell_core_wait(struct thread_state *t, u64 id, u64 time, u64 total, u64 inside)
{
	u64 more;
	struct record *r;

	if (!t)
		return 0;
	more = t->wait_owed + total - t->wait_told;
	t->wait_told = total;
	if ((u32)id == calibrating)
		return 0;
	r = reserve((u32)id, sizeof(*r));
	if (!r) {
		t->wait_owed = more;
		return 0;
	}
	__builtin_memset(r, 0, sizeof(*r));
	r->time = time;
	r->pid = id >> 32;
	r->tid = (u32)id;
	r->flags = REC_CORE_WAIT;
	r->num = t->wait_known;
	r->a = more;
	r->b = inside;
	t->wait_owed = 0;
	t->wait_known = 1;
	submit(r, sizeof(*r));
	return 0;
}
