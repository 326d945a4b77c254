/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Performance counters of threads. Hardware events are counted for each CPU, as perf's bperf does,
 * so the cost of set-up does not grow with the number of threads. When a thread leaves a CPU, the
 * counts since the thread was put there are added to the thread's sums. */
#pragma once
#include "rows.h"
#include <bpf/bpf_tracing.h>

/* The sources of the counters; the first num_counters are valid. */
const volatile u8 counter_sources[MAX_COUNTERS] = {}; /* enum counter_source */

const volatile u32 counter_events = 0; /* how many of the sources are perf events */

/* Not 0: there are more events than the hardware counts at once. Then the time for which each event
 * counted is reported, too. */
const volatile u32 counters_take_turns = 0;

#define EACH_COUNTER(i) for (u32 i = 0; i < MAX_COUNTERS && i < num_counters; i++)

/* How many of struct counter_words are used. */
#define COUNTER_WORDS (counters_take_turns ? 2 * num_counters + 1 : num_counters)

/* The perf events of a counter, one for each CPU. */
#define EACH_EVENT(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#define EVENTS(n) \
struct { \
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY); \
	__uint(key_size, 4); \
	__uint(value_size, 4); \
} counter_events_##n SEC(".maps");
EACH_EVENT(EVENTS)
#undef EVENTS

struct reading {
	u64 count[MAX_COUNTERS], ran[MAX_COUNTERS];
	u64 time;
	u64 failed;
};

/* A thread that is counted. */
struct counted {
	struct reading sum;  /* the counts before the thread was put on the CPU */
	struct reading base; /* the CPU's counters at that moment */
	u64 runtime;         /* the scheduler's sum_exec_runtime when the thread last left a CPU, ns */
	u32 on;              /* the thread is on a CPU */
	/* grows with each switch: so a probe's program sees that it was interrupted */
	u32 switches;
	u32 missed, told;    /* how often counts were missed, and the part of this that was reported */
	struct reading now;  /* room for the reading of a probe's program, whose stack is small */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct counted);
} counted_threads SEC(".maps");

/* The reading from when a CPU was last given to a thread that is not counted, or to none. Linux
 * does not always tell of the next switch (seen with 6.18, mostly from an idle CPU). If a counted
 * thread is found running on the CPU, it was put there after that reading. */
struct cpu {
	struct reading then;
	s64 clocks; /* CLOCK_MONOTONIC minus the scheduler's clock, ns */
	u32 valid;  /* since that reading only a counted thread can have caused events there */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct cpu);
} cpus SEC(".maps");

struct sched_entity { u64 exec_start, sum_exec_runtime, nr_migrations; } __attribute__((preserve_access_index));
struct task_struct___counted {
	unsigned long nvcsw, nivcsw, min_flt, maj_flt;
	struct sched_entity se;
} __attribute__((preserve_access_index));

#define compiler_barrier() asm volatile("" ::: "memory")

static __always_inline void read_event(void *events, u32 i, struct reading *r)
{
	struct bpf_perf_event_value v = {};

	if (bpf_perf_event_read_value(events, BPF_F_CURRENT_CPU, &v, sizeof(v)))
		r->failed = 1;
	r->count[i] = v.counter;
	if (counters_take_turns)
		r->ran[i] = v.running;
}

/* Reads this CPU's counters. */
static __always_inline void read_events(struct reading *r, u64 now)
{
	r->time = now;
	r->failed = 0;
#define READ(n) \
	if (n < num_counters && counter_sources[n] == COUNT_EVENT) \
		read_event(&counter_events_##n, n, r);
	EACH_EVENT(READ)
#undef READ
}

static __always_inline struct cpu *this_cpu(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&cpus, &zero);
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

/* Makes up for a switch that Linux did not tell of: the thread runs, but was not put on the CPU
 * here. The scheduler's account tells since when it has been running. */
static __always_inline void was_put_on(struct counted *t, struct task_struct___counted *task)
{
	struct cpu *cpu = this_cpu();

	if (!cpu || !cpu->valid) {
		t->missed++;
		return;
	}
	put_on(t, &cpu->then);
	t->base.time = task->se.exec_start + cpu->clocks - (task->se.sum_exec_runtime - t->runtime);
	cpu->valid = 0;
}

static __always_inline void take_off(struct counted *t, const struct reading *now, struct task_struct___counted *task)
{
	if (!t->on && t->switches)
		was_put_on(t, task);
	t->switches++;
	t->runtime = task->se.sum_exec_runtime;
	if (!t->on)
		return;
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

/* A count that the kernel itself keeps for each thread. */
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

/* Reads the current thread's counters. Returns 0 if they are not known. A thread that is seen
 * for the first time is counted from here on. */
VERIFIED_ONCE int take_counters(struct counter_words *to, u64 now)
{
	struct task_struct___counted *task = (void *)bpf_get_current_task_btf();
	struct counted *t = bpf_task_storage_get(&counted_threads, (struct task_struct *)task, 0,
		BPF_LOCAL_STORAGE_GET_F_CREATE);
	struct reading *r;
	u32 switches, i;

	if (!t || !to)
		return 0;
	r = &t->now;
	for (i = 0; i < 4; i++) { /* again if the thread was switched meanwhile */
		u64 time;

		switches = t->switches;
		compiler_barrier();
		read_events(r, now);
		if (!t->on) {
			if (switches)
				was_put_on(t, task);
			if (!t->on)
				put_on(t, r);
			switches = t->switches;
		}
		/* If the thread was switched after now was read, the sum includes the time up to the
		 * switch. */
		time = t->sum.time + (now > t->base.time ? now - t->base.time : 0);
		EACH_COUNTER(k) {
			u64 v, ran = time;

			if (counter_sources[k] == COUNT_EVENT) {
				v = t->sum.count[k] + r->count[k] - t->base.count[k];
				if (counters_take_turns)
					ran = t->sum.ran[k] + r->ran[k] - t->base.ran[k];
			} else if (counter_sources[k] == COUNT_TASK_CLOCK) {
				v = time;
			} else {
				v = software_counter(counter_sources[k], task);
			}
			to->at[k] = v;
			if (counters_take_turns)
				to->at[num_counters + k] = ran;
		}
		if (counters_take_turns)
			to->at[2 * num_counters] = time;
		compiler_barrier();
		if (t->switches == switches) {
			if (t->missed == t->told && !r->failed)
				return 1;
			t->told = t->missed;
			return 0;
		}
	}
	return 0;
}

/* take_counters for a hit that gets a record of its own if the counters are not known. For the
 * record the counters are taken again, so told is set back: the answer must be the same then. */
static __always_inline int take_counters_or_report(struct counter_words *to, u64 now)
{
	struct counted *t;

	if (!num_counters || take_counters(to, now))
		return 1;
	t = bpf_task_storage_get(&counted_threads, (struct task_struct *)bpf_get_current_task_btf(), 0, 0);
	if (t)
		t->told = t->missed - 1;
	return 0;
}
