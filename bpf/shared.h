/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* What the kernel side and the Go side share. bpf2go derives the Go structs
 * from these, so that no layout is written twice. */
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef int s32;
typedef unsigned long long u64;
typedef long long s64;

/* Where a record's value comes from: ARG_n is the n-th argument register at
 * the probed instruction, ARG_6 the seventh argument at a function's entry
 * (amd64: on the stack), REG_0 + n the n-th general register in encoding order. */
enum source {
	NONE = 0,
	ARG_0, ARG_1, ARG_2, ARG_3, ARG_4, ARG_5, ARG_6,
	REG_0 = 16, REG_LAST = REG_0 + 30,
};

enum row_flag {
	ROW_ENTRY          = 1 << 0,  /* report the entry */
	ROW_RETURN         = 1 << 1,  /* report the return; its value goes to a */
	ROW_RETURN_IF_ZERO = 1 << 2,  /* ... only a return of zero */
	ROW_OUTSIDE_ONLY   = 1 << 3,  /* ignore calls that the library makes itself */
	ROW_TEAM_FROM_TLS  = 1 << 4,  /* a = team, num = thread number, from libgomp's thread structure */
	ROW_FREE_IF_ZF     = 1 << 5,  /* zero flag set: the lock was free (after its compare-and-swap) */
	ROW_FREE_IF_NOT_SF = 1 << 6,  /* sign flag clear: nobody waits (after the release) */
	ROW_ONLY_IF_ZF     = 1 << 7,  /* ignore the hit unless the zero flag is set */
	ROW_ONLY_IF_NOT_ZF = 1 << 8,  /* ignore the hit unless it is clear */
	ROW_TRIP_32        = 1 << 9,  /* b = *ARG_5 - *ARG_4 + 1, 32-bit bounds */
	ROW_TRIP_64        = 1 << 10, /* the same, 64-bit bounds */
	ROW_SIZE_FROM_KMP  = 1 << 11, /* size = __kmp_threads[gtid]->team->nproc, gtid in ARG_1 */
	ROW_LEVEL_FROM_TLS = 1 << 12, /* num = nesting level, from libgomp's thread structure */
	ROW_NO_SITE        = 1 << 13, /* nobody asks where the call comes from */
	ROW_SITE_HERE      = 1 << 14, /* site = the address that the row names by here */
	ROW_B_FROM_A       = 1 << 15, /* b = the second word at a; REC_INSIDE if that is in the library's text */
	ROW_OFF            = 1 << 28, /* the process wants no reports from here on */
	ROW_ON             = 1 << 29, /* it wants them again */
};

/* In an attach cookie, whose lower half is the index of a row: the probe is
 * placed for all processes, and only those in the map sharing are measured. */
#define COOKIE_SHARED (1ULL << 32)

/* One probe point in one library; the attach cookie is its index. */
struct row {
	u32 flags;
	u8 a, b, num, size;  /* enum source */
	u64 text_lo, text_hi; /* the library's text, relative to the probed instruction */
	u64 body_lo;         /* the library's function that calls regions' bodies, relative to the probed instruction: */
	u64 body_size;       /* a body that ends in a jump to the runtime seems to be called from there; 0: none */
	s64 tls_slot;        /* libgomp: GOT slot of gomp_thread's offset from the thread pointer, relative to the
				probed instruction; 0 in a static binary, whose offsets below count from the thread pointer */
	s32 tls_team, tls_team_id, tls_level; /* offsets in struct gomp_thread */
	u32 kmp_team, kmp_nproc;              /* offsets in kmp_info and kmp_team */
	s32 here;            /* of ROW_SITE_HERE, relative to the probed instruction */
	s64 kmp_threads;     /* __kmp_threads, relative to the probed instruction */
};

enum record_flag {
	REC_RETURN    = 1 << 0, /* the return edge */
	REC_FREE      = 1 << 1, /* ROW_FREE_* held */
	REC_NO_RETURN = 1 << 2, /* no return edge will follow */
	REC_INSIDE    = 1 << 3, /* the library called itself */
};

/* What one hit reports. */
struct record {
	u64 time;    /* CLOCK_MONOTONIC, ns */
	u32 pid, tid;
	u16 row;
	u16 flags;
	u32 lost;    /* records of this thread dropped just before this one */
	u64 sp;
	u64 site;    /* return address; 0 on return edges */
	u64 a, b;
	s32 num, size;
};

enum life_kind {
	LIFE_EXEC = 1, /* a followed process runs a new program */
	LIFE_FORK,     /* a followed process has a child (pid; parent in arg) */
	LIFE_MAP,      /* a followed process mapped a file that looks like a runtime */
};

/* What happens to followed processes. */
struct life {
	u64 time;
	u32 pid;
	u32 kind;
	u32 parent;
	u32 stopped; /* the process was sent SIGSTOP and waits for our SIGCONT */
};

enum follow_flag {
	FOLLOW_STOP     = 1 << 0, /* stop it until its probes are placed */
	FOLLOW_CHILDREN = 1 << 1, /* its children too */
	FOLLOW_PROBED   = 1 << 2, /* it has probes: a fork inherits the mapping */
};
