/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* How long threads were ready to run and had no core. The scheduler keeps that sum
 * for every task and adds to it when the task gets a core (CONFIG_SCHED_INFO, which
 * delay accounting and schedstats bring), so a hit, whose thread runs, finds it up to
 * date by one load. It is told when it has grown by a step: so telling it costs a
 * hundredth of the time that it tells of, at most. */
#pragma once
#include "rows.h"

/* Not 0: somebody wants to know. */
u32 telling_core_waits SHARED = 0;

#define CORE_WAIT_STEP 100000 /* ns */

struct sched_info { unsigned long long run_delay; } __attribute__((preserve_access_index));
struct task_struct___waiting { struct sched_info sched_info; } __attribute__((preserve_access_index));

/* The sum of a task, ns; 0 if nobody wants to know, or the kernel keeps none. */
static __always_inline u64 core_wait_of(struct task_struct *task)
{
	struct task_struct___waiting *t = (void *)task;

	return telling_core_waits && bpf_core_field_exists(t->sched_info.run_delay) ? t->sched_info.run_delay : 0;
}

static __always_inline u64 core_wait(void)
{
	return core_wait_of((void *)bpf_get_current_task_btf());
}

/* Whether the current thread has more to tell than a step. */
static __always_inline int has_waited(const struct thread_state *t)
{
	return core_wait() - t->wait_told >= CORE_WAIT_STEP;
}

/* Writes what a thread has not told of its sum, of which inside lies in the call whose
 * record follows. What the ring has no room for, the next record tells. */
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
