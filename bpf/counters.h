/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Performance counters of threads. The hardware's are counted for each CPU, as
 * perf's bperf does, so that set-up does not grow with threads; what a thread
 * has counted is summed up when it leaves a CPU. */
#pragma once
#include "ring.h"
#include <bpf/bpf_tracing.h>

/* How many, and which; 0: the verifier removes what follows. */
const volatile u32 num_counters = 0;
const volatile u8 counter_sources[MAX_COUNTERS] = {}; /* enum counter_source */

/* More events than the hardware counts at once: then the time in which each did
 * is told, too. */
const volatile u32 counters_take_turns = 0;

#define EACH_COUNTER(i) for (u32 i = 0; i < MAX_COUNTERS && i < num_counters; i++)

/* What follows a record: the counts, and if they take turns for how long each of
 * them counted, and how long the thread was on a CPU (ns). */
#define COUNTER_WORDS (counters_take_turns ? 2 * num_counters + 1 : num_counters)

/* Perf events, MAX_COUNTERS for each CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u32);
} counter_events SEC(".maps");

struct reading {
	u64 count[MAX_COUNTERS], ran[MAX_COUNTERS];
	u64 time;
	u64 failed;
};

struct counted {
	struct reading sum;  /* up to when it was put on the CPU */
	struct reading base; /* then */
	u32 on;              /* it is on a CPU */
	u32 switches;        /* tells a probe that it was interrupted */
	u32 missed, told;    /* times that what it counted is not known */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct counted);
} counted_threads SEC(".maps");

struct sched_entity { u64 nr_migrations; } __attribute__((preserve_access_index));
struct task_struct___counted {
	unsigned long nvcsw, nivcsw, min_flt, maj_flt;
	struct sched_entity se;
} __attribute__((preserve_access_index));

#define compiler_barrier() asm volatile("" ::: "memory")

/* Reads this CPU's counters. */
static __always_inline void read_events(struct reading *r, u64 now)
{
	u32 first = bpf_get_smp_processor_id() * MAX_COUNTERS;

	r->time = now;
	r->failed = 0;
	EACH_COUNTER(i) {
		struct bpf_perf_event_value v = {};

		if (counter_sources[i] != COUNT_EVENT)
			continue;
		if (bpf_perf_event_read_value(&counter_events, first + i, &v, sizeof(v)))
			r->failed = 1;
		r->count[i] = v.counter;
		if (counters_take_turns)
			r->ran[i] = v.running;
	}
}

static __always_inline void put_on(struct counted *t, const struct reading *now)
{
	t->switches++;
	if (t->on || now->failed)
		t->missed++;
	t->base.time = now->time;
	EACH_COUNTER(i) {
		t->base.count[i] = now->count[i];
		if (counters_take_turns)
			t->base.ran[i] = now->ran[i];
	}
	t->on = 1;
}

static __always_inline void take_off(struct counted *t, const struct reading *now)
{
	t->switches++;
	if (!t->on) { /* Linux before 6.2 may have refused the look when it was put on */
		if (t->switches > 1)
			t->missed++;
		return;
	}
	t->on = 0;
	if (now->failed)
		t->missed++;
	t->sum.time += now->time - t->base.time;
	EACH_COUNTER(i) {
		t->sum.count[i] += now->count[i] - t->base.count[i];
		if (counters_take_turns)
			t->sum.ran[i] += now->ran[i] - t->base.ran[i];
	}
}

/* What the kernel counts of each thread itself. */
static __always_inline u64 software_counter(u8 source, struct task_struct___counted *task)
{
	switch (source) {
	case COUNT_PAGE_FAULTS: return task->min_flt + task->maj_flt;
	case COUNT_MINOR_FAULTS: return task->min_flt;
	case COUNT_MAJOR_FAULTS: return task->maj_flt;
	case COUNT_CONTEXT_SWITCHES: return task->nvcsw + task->nivcsw;
	case COUNT_CPU_MIGRATIONS: return task->se.nr_migrations;
	}
	return 0;
}

/* Writes the current thread's counters behind a record; answers 0 if they are
 * not known. A thread that is seen for the first time is counted from here on. */
static __always_inline int take_counters(u64 *to, u64 now)
{
	struct task_struct___counted *task = (void *)bpf_get_current_task_btf();
	struct counted *t = bpf_task_storage_get(&counted_threads, (struct task_struct *)task, 0,
		BPF_LOCAL_STORAGE_GET_F_CREATE);
	struct reading r;
	u32 switches, i;

	if (!t)
		return 0;
	for (i = 0; i < 4; i++) { /* again if the thread was switched meanwhile */
		u64 time;

		switches = t->switches;
		compiler_barrier();
		read_events(&r, now);
		if (!t->on) {
			if (switches)
				t->missed++;
			put_on(t, &r);
			switches++;
		}
		/* Switched since now was read: then that much is in the sum. */
		time = t->sum.time + (now > t->base.time ? now - t->base.time : 0);
		EACH_COUNTER(k) {
			u64 v, ran = time;

			if (counter_sources[k] == COUNT_EVENT) {
				v = t->sum.count[k] + r.count[k] - t->base.count[k];
				if (counters_take_turns)
					ran = t->sum.ran[k] + r.ran[k] - t->base.ran[k];
			} else if (counter_sources[k] == COUNT_TASK_CLOCK) {
				v = time;
			} else {
				v = software_counter(counter_sources[k], task);
			}
			to[k] = v;
			if (counters_take_turns)
				to[num_counters + k] = ran;
		}
		if (counters_take_turns)
			to[2 * num_counters] = time;
		compiler_barrier();
		if (t->switches == switches) {
			if (t->missed == t->told && !r.failed)
				return 1;
			t->told = t->missed;
			return 0;
		}
	}
	return 0;
}
