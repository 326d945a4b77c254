/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The data that the kernel side and the Go side share. bpf2go derives the Go structs from these,
 * so no layout is written twice. */
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef int s32;
typedef unsigned long long u64;
typedef long long s64;

/* Where a record's value comes from. ARG_n is the n-th argument register at the probed
 * instruction. ARG_6 is the seventh argument at a function's entry (amd64: on the stack).
 * REG_0 + n is the n-th general register, in the order of their encoding. */
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
	ROW_TEAM_FROM_TLS  = 1 << 4,  /* a = team, num = thread number, from libgomp's thread data */
	ROW_FREE_IF_ZF     = 1 << 5,  /* zero flag set, by compare-and-swap: the lock was free */
	ROW_FREE_IF_NOT_SF = 1 << 6,  /* sign flag clear: nobody waits (after the release) */
	ROW_ONLY_IF_ZF     = 1 << 7,  /* ignore the hit unless the zero flag is set */
	ROW_ONLY_IF_NOT_ZF = 1 << 8,  /* ignore the hit unless the zero flag is clear */
	ROW_TRIP_32        = 1 << 9,  /* b = *ARG_5 - *ARG_4 + 1, 32-bit bounds */
	ROW_TRIP_64        = 1 << 10, /* the same, 64-bit bounds */
	ROW_SIZE_FROM_KMP  = 1 << 11, /* size = __kmp_threads[gtid]->team->nproc, gtid in ARG_1 */
	ROW_LEVEL_FROM_TLS = 1 << 12, /* num = nesting level, from libgomp's thread structure */
	ROW_NO_SITE        = 1 << 13, /* the call's site is not needed */
	/* site = the probed instruction's address + the row's field here */
	ROW_SITE_HERE      = 1 << 14,
	ROW_B_FROM_A       = 1 << 15, /* b = second word at a; REC_INSIDE if it is in the library */
	/* Rows of constructs that are folded (fold.h). FOLD_GROUP tells which construct. */
	ROW_FOLD_BEGIN     = 1 << 16, /* an execution begins here */
	/* an execution ends here; with ROW_FOLD_BEGIN: when the call returns */
	ROW_FOLD_END       = 1 << 17,
	ROW_FOLD_BY_NAME   = 1 << 18, /* a names the lock: an execution ends with the same a */
	ROW_FOLD_TEST      = 1 << 19, /* the returned value tells whether the execution begins */
	ROW_FOLD_TEST_BOOL = 1 << 20, /* ... in its lowest byte */
	ROW_SPARSE         = 1 << 26, /* the return is reported now and then (sparse.h) */
	ROW_EXACT          = 1 << 27, /* from here on the returns of all such rows are reported */
	ROW_OFF            = 1 << 28, /* the process wants no reports from here on */
	ROW_ON             = 1 << 29, /* it wants them again */
	/* site = the thread's hits since the last such row of which the record was left out (rows.h);
	 * with ROW_NO_SITE */
	ROW_TELLS_LEFT_OUT = 1 << 30,
};

/* Rows with records that need more than the values of registers (seek in hits.h). */
#define ROW_SEEKS (ROW_B_FROM_A | ROW_TEAM_FROM_TLS | ROW_LEVEL_FROM_TLS | ROW_SIZE_FROM_KMP | \
	ROW_SPARSE | ROW_TRIP_32 | ROW_TRIP_64 | ROW_TELLS_LEFT_OUT)

/* Hits of which the record was left out are told by kind: a number of so many bits for each. */
#define LEFT_OUT_KINDS 5
#define LEFT_OUT_BITS 12

/* The number of a folded row's construct. All rows of one construct have the same number, which
 * is not 0. */
#define FOLD_GROUP_SHIFT 21
#define FOLD_GROUP(flags) ((flags) >> FOLD_GROUP_SHIFT & 31)
#define ROW_FOLDS (ROW_FOLD_BEGIN | ROW_FOLD_END)

/* A bit of an attach cookie, whose lower half is the index of a row. The probe is placed for all
 * processes, and only those in the map sharing are measured. */
#define COOKIE_SHARED (1ULL << 32)

/* One probe point in one library; the attach cookie is its index. */
struct row {
	u32 flags;
	u8 a, b, num, size;  /* enum source */
	u64 text_lo, text_hi; /* the library's text, relative to the probed instruction */
	/* The library's function that calls the bodies of regions, relative to the probed instruction;
	 * body_size 0: none. If a body ends in a jump to the runtime, that jump seems to be a call by
	 * this function. */
	u64 body_lo;
	u64 body_size;
	s64 tls_slot;        /* libgomp: GOT slot of gomp_thread's offset, relative to the probed
			      * instruction; 0 in a static binary: offsets from the thread pointer */
	s32 tls_team, tls_team_id, tls_level; /* offsets in struct gomp_thread */
	/* offsets in kmp_info and kmp_team; without kmp_threads, kmp_team is the enum source of the
	 * register that holds the team */
	u32 kmp_team, kmp_nproc;
	s32 here;            /* of ROW_SITE_HERE, relative to the probed instruction */
	s64 kmp_threads;     /* __kmp_threads, relative to the probed instruction; 0: see kmp_team */
	/* The kind of the hit, from 1 to LEFT_OUT_KINDS, if hits are to be counted that write no
	 * record. 0: they are not counted. */
	u32 left_out;
	u32 pad;
};

enum record_flag {
	REC_RETURN    = 1 << 0, /* the return edge */
	REC_FREE      = 1 << 1, /* ROW_FREE_* held */
	REC_NO_RETURN = 1 << 2, /* no return edge will follow */
	REC_INSIDE    = 1 << 3, /* the library called itself */
	/* Of rows with ROW_SPARSE (sparse.h): */
	REC_UNARMED   = 1 << 4, /* the return will not be reported */
	REC_BY_CHANCE = 1 << 5, /* the return will be reported, as chance decided */
	REC_ANYWAY    = 1 << 6, /* the return will be reported: the place is new, or hits are rare */
	REC_SELDOM    = 1 << 7, /* with REC_BY_CHANCE: chance was half as likely to choose it */
	/* Time without a core, not a hit (core_wait.h): a is the ns since the thread's last such
	 * record, and b the part of them in the MPI call whose record follows. If num is 0, this is the
	 * thread's first such record, and a counts from the thread's beginning. */
	REC_CORE_WAIT = 1 << 10,
	REC_FOLDED    = 1 << 12, /* a struct fold_record */
	REC_UNCOUNTED = 1 << 14, /* the counters are not known */
	REC_COUNTERS  = 1 << 15, /* counters follow the record */
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

/* The sums of executions during which the thread reported nothing else. Begins like struct
 * record. */
struct fold_record {
	u64 time;    /* when the first of them began */
	u32 pid, tid;
	u16 row;     /* of their beginning */
	u16 flags;
	u32 lost;
	u64 sp;      /* 0 where executions of any stack pointer are added up */
	u64 site;
	u64 a, b;
	u64 last;    /* when the last of them ended */
	u64 n, hits; /* executions, and the hits of probes in them */
	u64 enter, body, exit; /* ns */
};

#define MAX_COUNTERS 8

/* Where a performance counter's value comes from. */
enum counter_source {
	COUNT_EVENT = 1,        /* a perf event */
	COUNT_TASK_CLOCK,       /* time on a CPU, ns */
	COUNT_PAGE_FAULTS,
	COUNT_MINOR_FAULTS,
	COUNT_MAJOR_FAULTS,
	COUNT_CONTEXT_SWITCHES,
	COUNT_CPU_MIGRATIONS,
};

enum life_kind {
	LIFE_EXEC = 1, /* a followed process runs a new program */
	LIFE_FORK,     /* a followed process has a child (pid; parent in arg) */
	LIFE_MAP,      /* a followed process has loaded or unloaded libraries */
	/* a followed process maps a file that the tool has not judged yet; LIFE_MAP follows */
	LIFE_FILE,
};

/* Identifies a file with its contents: a file that was written anew has another key. */
struct file_key {
	u64 inode, size;
	u64 changed; /* ctime, ns */
	u64 dev;     /* as the kernel numbers it */
};

/* What is known of a file that programs map. */
enum file_is {
	FILE_UNKNOWN = 0,
	FILE_PLAIN,  /* nothing in it is measured */
	FILE_WANTED, /* something may be */
	/* the dynamic loader: plain, and a probe in it tells when libraries are loaded */
	FILE_LOADER,
};

/* A followed process's program. */
struct program {
	u64 began;        /* when it was executed, or the process forked */
	u64 user, system; /* processor time of the process until then, ns */
	/* Numbers of files in the process's list of libraries: FILE_WANTED ones at the last
	 * look, and FILE_WANTED and FILE_UNKNOWN ones at this look. */
	u32 wanted, wanted_now, unknown_now;
	u32 pad;
};

/* An event in the life of a followed process. */
struct life {
	u64 time;
	u32 pid;
	u32 kind;
	u32 parent;
	u32 stopped; /* the process was sent SIGSTOP and waits for our SIGCONT */
	/* LIFE_EXEC: no stop is needed: the program's loader tells more, or the program is plain */
	u32 runs;
	u32 flags;   /* how it is followed */
	/* LIFE_FILE: the file. LIFE_EXEC: the file in which the process begins to run, mostly
	 * its loader. */
	struct file_key file;
};

/* A process that was sent SIGSTOP, and when. The process may be continued, and stopped again,
 * before whoever continued it has noted that: the times tell these stops apart. */
struct stop {
	u64 time;
	u64 pid;
};

enum follow_flag {
	FOLLOW_STOP     = 1 << 0, /* stop it until its probes are placed */
	FOLLOW_CHILDREN = 1 << 1, /* its children too */
	FOLLOW_PROBED   = 1 << 2, /* it has probes: a fork inherits the mapping */
	/* the tool keeps a record of it: report its next exec in any case */
	FOLLOW_KNOWN    = 1 << 3,
	/* the launched program: report its exec in any case, and stop it */
	FOLLOW_FIRST    = 1 << 4,
};

/* The most steps and cases of a formula (mpi.Formula), by which the kernel side computes a property
 * of an MPI handle. */
#define MPI_MAX_STEPS 20
#define MPI_MAX_CASES 6

struct mpi_step {
	u64 op; /* mpi.StepOp */
	s64 value;
};

struct mpi_case {
	u64 mask, equal;
	u64 steps;
	struct mpi_step step[MPI_MAX_STEPS];
};

struct mpi_formula {
	u64 cases;
	struct mpi_case is[MPI_MAX_CASES];
};

enum mpi_what {
	MPI_TYPE_SIZE,
	MPI_COMM_SIZE,
	MPI_COMM_RANK,
	MPI_COMM_INTER,       /* not 0: it connects two groups */
	MPI_COMM_REMOTE_SIZE,
	MPI_WORLD,            /* the handle of MPI_COMM_WORLD; takes no handle */
	MPI_WHATS,
};

/* One MPI library. */
struct mpi_library {
	u32 handle32;   /* handles are 32 bits: the rest of a register is garbage */
	s32 proc_null, root, any_source;
	u64 in_place, status_ignore;
	u64 status_source; /* where a status has the source, in bytes; the tag follows */
	u64 status_size;
	struct mpi_formula formula[MPI_WHATS];
};

enum mpi_row_flag {
	MPI_ROW_NO_RETURN   = 1 << 0,  /* the call does not return: report the entry */
	MPI_ROW_WIDE        = 1 << 1,  /* counts are 64 bits */
	MPI_ROW_SIZES       = 1 << 2,  /* volumes depend on the communicator's size and the own rank */
	MPI_ROW_NEIGHBORS   = 1 << 3,  /* ... on the numbers of neighbours */
	MPI_ROW_SEND_AT_ROOT = 1 << 4, /* the send side's arguments are meaningful at the root only */
	MPI_ROW_RECV_AT_ROOT = 1 << 5, /* the receive side's are */
	MPI_ROW_ON_STACK    = 1 << 6,  /* some arguments are on the stack */
	MPI_ROW_SITE        = 1 << 19, /* the return address is needed at entry */
	MPI_ROW_GRAPH       = 1 << 20, /* makes a communicator: send_count edges out, recv_count in */
	MPI_ROW_GRID        = 1 << 21, /* ... with two neighbours in each of send_count dimensions */
	MPI_ROW_COMM        = 1 << 22, /* makes a communicator; tag decides its members or ranks */
	MPI_ROW_WINDOW      = 1 << 23, /* makes a window */
	MPI_ROW_BIRTH       = 1 << 24, /* it matters when the communicator or window was made */
	MPI_ROW_BEGINS      = 1 << 7,  /* MPI_COMM_WORLD exists from the call's return on */
	MPI_ROW_KEEP        = 1 << 8,  /* prepares a persistent request */
	MPI_ROW_START       = 1 << 9,  /* starts a persistent request */
	MPI_ROW_START_ALL   = 1 << 10, /* starts an array of them, as many as requests says */
	MPI_ROW_FORGET      = 1 << 11, /* frees a request or communicator */
	MPI_ROW_SEND_COUNTS = 1 << 12, /* send_count is an array */
	MPI_ROW_SEND_TYPES  = 1 << 13,
	MPI_ROW_RECV_COUNTS = 1 << 14,
	MPI_ROW_RECV_TYPES  = 1 << 15,
	MPI_ROW_SEND_OWN    = 1 << 16, /* wanted: also the own rank's element of send_count */
	MPI_ROW_RECV_OWN    = 1 << 17,
	MPI_ROW_LOCAL       = 1 << 18, /* arrays are as long as the local group */
	/* Of rows whose calls are to be matched with those of other ranks: */
	MPI_ROW_MATCHED     = 1 << 25, /* birth and tags are wanted */
	MPI_ROW_BEGUN       = 1 << 26, /* the call makes a request */
	MPI_ROW_WAITS       = 1 << 27, /* it waits for requests */
	MPI_ROW_SOME        = 1 << 28, /* ... and tells which are complete, in ints at recv_tag: as many
					* as an int at status says, or one */
	MPI_ROW_GROUP       = 1 << 29, /* recv_tag is a group of processes */
	MPI_ROW_MAKES_GROUP = 1 << 30, /* the call makes a group, whose handle will be at status */
	/* The message that the call takes (MPI_Mprobe), or receives (MPI_Mrecv), has its handle at
	 * statuses. It takes one if the int at requests is not 0. */
	MPI_ROW_MESSAGE     = 1U << 31,
};

/* Stands for an argument that the operation does not have. */
#define MPI_NO_ARG 0xff

/* One entry point of one MPI library; the attach cookie is its index. Arguments are named by their
 * index in the words of struct mpi_thread. */
struct mpi_row {
	u32 flags;
	u32 library;
	u64 vaddr; /* of the probed instruction: the library's base is ip - vaddr */
	u8 send_count, send_type, recv_count, recv_type;
	u8 peer, peer2, tag, comm;
	u8 send_buf, recv_buf, partitions;
	/* the address of the request or of the new communicator, or where the thread level is put */
	u8 request;
	/* how many requests (MPI_ROW_START_ALL); MPI_ROW_MAKES_GROUP: elements at request, each
	 * of some ints */
	u8 requests;
	u8 status;   /* the address of a receive's status; MPI_ROW_COMM: of the request */
	u8 recv_tag; /* of a receive, or of the receive side */
	u8 ints;
	/* MPI_ROW_WAITS: the address of the status, or of an array of them; MPI_ROW_MESSAGE: of
	 * the message's handle */
	u8 statuses;
	u8 pad[7];
};

/* An MPI object: the same handle may name another object in another process. */
struct mpi_key {
	u64 handle;
	u32 pid;
	u32 pad;
};

/* How many neighbours a process has in a communicator with a topology. */
struct mpi_degrees {
	s32 in, out;
};

enum mpi_flag {
	MPI_UNFINISHED    = 1 << 0, /* the call had not returned at time */
	/* with MPI_ASKED: what a receive from any source, or of any tag, has received, and no further
	 * request: peer is the source, recv_tag the tag */
	MPI_CAME          = 1 << 1,
	/* a persistent operation that a call has started, not a call */
	MPI_STARTED       = 1 << 2,
	MPI_UNREAD_SEND   = 1 << 3,
	MPI_UNREAD_RECV   = 1 << 4,
	MPI_UNREAD_COMM   = 1 << 5,
	MPI_IN_PLACE_SEND = 1 << 6,
	MPI_IN_PLACE_RECV = 1 << 7,
	MPI_INTER         = 1 << 8, /* np is the remote group's size */
	/* Part of the call that the thread reports next, not a call: a request for which that call
	 * waits, or an int of the array by which that call makes a group. */
	MPI_ASKED         = 1 << 9,
	/* not all requests of the call were read */
	MPI_UNASKED       = 1 << 11,
	MPI_FAILED        = 1 << 13, /* the call returned an error, or returns no int */
};

/* One call of an MPI operation. Begins like struct record; longer. */
struct mpi_record {
	u64 time;    /* of its end */
	u32 pid, tid;
	u16 row;     /* of struct mpi_row */
	u16 flags;   /* enum mpi_flag */
	u32 lost;
	u64 sp;      /* at its entry */
	u64 site;    /* return address */
	u64 start;
	u64 send, recv; /* bytes */
	/* Of these, in the own rank's element of an array. With MPI_ROW_BIRTH, when the
	 * communicator or window was made; 0: that was not seen. With MPI_ROW_GROUP, the same of
	 * the group. */
	u64 own;
	u64 comm;
	/* Processes: np of the remote group, in of the own one, which differ with MPI_INTER
	 * only. For a topology, the numbers of neighbours out and in. */
	s32 np, in;
	s32 rank;
	s32 peer, peer2, tag;
	/* With MPI_ROW_MATCHED: the request that the call makes or asks for; when the communicator
	 * was made; the tag received. With MPI_ROW_MESSAGE, request is the message that the call
	 * takes, 0 for none; birth is the message that the call receives. */
	u64 request, birth;
	s32 recv_tag;
	u32 pad;
	/* With MPI_ROW_COMM, np and rank are of what was made. It was made at time. */
};

/* A call with the caller's frame pointer; the caller's stack follows. */
struct mpi_stack_record {
	struct mpi_record call;
	u64 bp;
};

/* How much stack is recorded: the frames of language bindings must fit. Open MPI's take 400
 * bytes at most, that of mpi_sendrecv_f08ts_ of MPICH 4.0 takes 1200. */
#define MPI_STACK_PIECE 256
#define MPI_STACK_BYTES 512
#define MPI_DEEP_STACK_BYTES 2048

/* Address ranges of a process's language bindings. A call from there counts as a call of the
 * binding's caller. */
#define MPI_WRAPPERS 6
struct mpi_wrappers {
	struct { u64 lo, size; } is[MPI_WRAPPERS];
	u64 deep; /* their frames need MPI_DEEP_STACK_BYTES */
	/* The program and the MPI library. MPI objects that lie in them are predefined: they
	 * live, and stay the same, as long as MPI does. */
	struct { u64 lo, size; } images[2];
};
