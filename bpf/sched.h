/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The record of a time in which a thread was off its core. It is kept apart from shared.h, whose
 * structs probes use. */
#pragma once
#include "shared.h"

enum away_flag {
	/* marks such a record. The record of a time without a core has this flag, too, and another
	 * size (shared.h). */
	REC_AWAY = 1 << 10,
};

#define NAME_BYTES 16 /* TASK_COMM_LEN */

/* A thread left its core and got one again. Begins like struct record. */
struct away_record {
	u64 time;    /* when it got a core again */
	u32 pid, tid;
	u16 row;
	u16 flags;
	u32 lost;    /* such records of this thread that were dropped just before this one */
	u64 off;     /* when it left its core; 0: before the process was watched, or it is new */
	u64 woken;   /* when it was woken; 0: it had not gone to sleep, but was ready all the time */
	/* While it was ready in the queue of this core, how long the core had threads of its own
	 * process, and how long others (ns). The rest is not known, or the core was idle. */
	u64 own, foreign;
	/* The process that had the core in the longest turn then, and how long all its turns were
	 * (ns). 0: none. */
	u64 by_time;
	u32 by;
	u32 moves;   /* how often the thread was moved to another core meanwhile */
	u8 by_name[NAME_BYTES];
};

/* A process whose threads are watched. */
struct watched {
	u64 since;   /* when that began */
	u64 written; /* records */
	u64 lost;    /* records that a ring had no room for, or threads beyond those that fit */
	u64 lost_time; /* ns off the core that lost records would have told */
	u64 unseen;  /* times at which the kernel did not tell that a thread got a core */
};
