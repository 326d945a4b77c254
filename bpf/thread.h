/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The state that is kept of each thread. */
#pragma once
#include "arch.h"
#define __VMLINUX_H__ /* bpf_tracing.h: the types are ours */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

enum fold_phase {
	FOLD_NONE,     /* nothing is open */
	FOLD_ENTERING, /* the thread asks for the lock, and may wait */
	FOLD_INSIDE,   /* the body is running */
	FOLD_LEAVING,  /* the call that ends the construct has not returned */
};

/* A construct that has begun and has no records yet, with all values that its records would have
 * (fold.h). */
struct fold_open {
	u64 start, acquired, released; /* ns; 0: not yet, or no return told of it */
	u64 ip;                        /* of the probe at its beginning */
	u64 sp, site, a, b;
	u64 acquired_sp, returned;
	u64 released_sp, released_a, released_b;
	u32 row, released_row;
	u32 hits;
	u16 flags, released_flags;     /* enum record_flag */
	u8 phase, group;
	u8 site_later;                 /* the call's site is taken at its return */
	u8 by_name;                    /* a names the lock, and is no part of the place */
	u8 whole;                      /* it is one call: it ends when that returns */
	u8 told;                       /* how many of its records have been written */
};

/* The sums over executions of one place. */
struct fold_slot {
	u64 site, a, b;
	u64 first, last; /* the start of the first, the end of the last */
	u64 n, hits;
	u64 enter, body, exit; /* ns */
	u32 row;
	u16 flags;
	u8 group;
};

#define FOLD_SLOTS 8

/* Counters of a slot: the thread's when the first execution began, and the sums over all
 * executions. */
struct fold_counts {
	u64 first[MAX_COUNTERS], sum[MAX_COUNTERS];
};

/* The thread's counters as they follow a record: the counts. If counters take turns, times in ns
 * follow: how long each counter counted, and how long the thread was on a CPU. */
struct counter_words {
	u64 at[2 * MAX_COUNTERS + 1];
};

/* The number of counters that a thread's places share, for their hits (sparse.h). */
#define SPARSE_COUNTS 64

struct thread_state {
	u32 lost;
	/* the last era in which the thread forked outside any region: its nesting is known since */
	u32 outside_once;
	/* open calls whose entry was ignored, where their returns cannot be skipped */
	u32 ignored_returns;
	/* the fields below are being changed: the interrupt of a sample leaves them alone */
	u32 busy;
	/* process and thread, as bpf_get_current_pid_tgid tells them; 0: nothing was folded yet */
	u64 ids;
	u64 fold_sp;  /* stack pointer of the executions in the slots, where that matters */
	u32 slots;    /* slots in use */
	u32 recent;   /* the slot used last */
	u64 told_sp;  /* stack pointer of a reported call that begins a construct; 0: it is over */
	u64 ignored_sp; /* stack pointer of a call of which the return is to be ignored; 0: none */
	/* Of the time without a core (core_wait.h), ns: */
	u64 wait_told;  /* the sum when it was last reported */
	u64 wait_owed;  /* the part of it that the ring had no room for */
	u32 wait_known; /* not 0: it was reported before */
	/* not 0: a record that said that the counters are not known was dropped */
	u32 uncounted;
	u32 left_out[8]; /* by kind, from 1: hits of which no record has told (rows.h) */
	/* Of rows with ROW_SPARSE (sparse.h): */
	u64 sparse_last; /* time of the thread's last hit of such a row, ns */
	u64 sparse_fork; /* the place of the thread's last fork */
	u32 sparse_seed; /* of the numbers that stand for chance */
	u8 sparse_count[SPARSE_COUNTS]; /* first hits, then returns by chance */
	struct fold_open open;
	struct fold_slot slot[FOLD_SLOTS];
	struct counter_words open_counters; /* when open began */
	struct counter_words ended_counters; /* when it ended */
	struct fold_counts counts[FOLD_SLOTS]; /* of slot */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread_state);
} threads SEC(".maps");

static __always_inline struct thread_state *state_of(struct task_struct *task, u64 flags)
{
	return bpf_task_storage_get(&threads, task, 0, flags);
}

static __always_inline struct thread_state *this_thread_state(u64 flags)
{
	return state_of((struct task_struct *)bpf_get_current_task_btf(), flags);
}
