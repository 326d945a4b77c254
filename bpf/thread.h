/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is known of a thread. */
#pragma once
#include "arch.h"
#define __VMLINUX_H__ /* bpf_tracing.h: the types are ours */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

enum fold_phase {
	FOLD_NONE,     /* nothing is open */
	FOLD_ENTERING, /* it waits, or asks */
	FOLD_INSIDE,   /* in the body */
	FOLD_LEAVING,
};

/* A construct that has begun and of which nothing has been reported so far: all
 * that its records would say (fold.h). */
struct fold_open {
	u64 start, acquired, released; /* ns; 0: not yet, or not by a return */
	u64 ip;                        /* of the probe at its beginning */
	u64 sp, site, a, b;
	u64 acquired_sp, returned;
	u64 released_sp, released_a, released_b;
	u32 row, released_row;
	u32 hits;
	u16 flags, released_flags;     /* enum record_flag */
	u8 phase, group;
	u8 site_later;                 /* the site is not known before it returns */
	u8 by_name;                    /* a is the lock's, not the place's */
	u8 whole;                      /* it ends when the call returns in which it began */
	u8 told;                       /* how many of its records have been written */
};

/* Executions of one place, added up. */
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
#define KEPT_RECORDS 8
#define KEPT_MOST (sizeof(struct record) + 8 * MAX_COUNTERS) /* bytes of one, a power of two */

/* Of a slot: the thread's counters when the first execution began, and what all
 * have counted. */
struct fold_counts {
	u64 first[MAX_COUNTERS], sum[MAX_COUNTERS];
};

/* What follows a record of a thread's counters: the counts; if they take turns
 * also for how long each of them counted, and how long the thread was on a CPU (ns). */
struct counter_words {
	u64 at[2 * MAX_COUNTERS + 1];
};

struct thread_state {
	u32 lost;
	u32 outside_once; /* the last era in which it was seen to fork outside any region: its nesting is known since */
	u32 ignored_returns; /* calls open whose entry was not reported, where the return cannot be skipped */
	u32 busy;     /* what follows is being changed: a sample's interrupt leaves it alone */
	u64 ids;      /* process and thread, as bpf_get_current_pid_tgid tells them; 0: nothing was folded yet */
	u64 fold_sp;  /* stack pointer of what is in the slots, where that matters */
	u32 slots;    /* in use */
	u32 recent;   /* the one used last */
	u64 told_sp;  /* stack pointer of a call that begins a construct and was reported; 0: it has returned */
	u64 ignored_sp; /* stack pointer of a call whose return is to be ignored; 0: none */
	/* Of the time without a core (core_wait.h), ns: */
	u64 wait_told;  /* its sum when that was last looked at */
	u64 wait_owed;  /* of that, what the ring had no room for */
	u32 wait_known; /* some of it has been told */
	/* Records that wait (keep.h). */
	u32 kept;            /* how many */
	u32 uncounted;       /* not 0: one that said that the counters are not known has gone */
	u32 kept_site_later; /* the last one's site is not known before its call returns */
	u64 kept_ip;         /* of that one's probe */
	u64 kept_ignored_sp; /* stack pointer of a call whose return is to be ignored; 0: none */
	u64 kept_words[(KEPT_RECORDS + 1) * KEPT_MOST / 8]; /* one more, for kept_record's mask */
	struct fold_open open;
	struct fold_slot slot[FOLD_SLOTS];
	struct counter_words open_counters; /* the thread's when open began, */
	struct counter_words ended_counters; /* and when it ended */
	struct fold_counts counts[FOLD_SLOTS]; /* of slot */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread_state);
} threads SEC(".maps");

static __always_inline struct thread_state *this_thread_state(u64 flags)
{
	return bpf_task_storage_get(&threads, (struct task_struct *)bpf_get_current_task_btf(), 0, flags);
}
