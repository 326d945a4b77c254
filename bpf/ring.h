/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rings of records. The programs of OpenMP probes, MPI probes, samples and the scheduler share the
 * rings, the state of each thread (thread.h), and the list of silent processes. The loader gives
 * the maps of the OpenMP probes' object to the other objects. So all write to the same rings, and a
 * thread's records keep their order. */
#pragma once
#include "running.h"

#define SHARED SEC(".data.shared")

/* How many words of a ring tell of its threads' waits (report.h). They share a cache line with the
 * position to which a hit writes, so looking at one costs next to nothing. */
#define WAITS 4

/* A ring. It has a small part, of one piece, and a large part. The large part is used when the
 * small one is full, and then until the reader has emptied the large part. So as long as the reader
 * keeps up, all entries are in the small part, which stays in the machine's caches. The return from
 * a hit to the program waits until the stores of the hit are done. In memory that is in no cache
 * they took 7 to 20 ns more (Linux 6.18, Sapphire Rapids).
 *
 * The records of one thread are read in their order (ring.go). A thread writes to the small part
 * only if all of its records in the large part were read. There is one exception: an interrupt
 * between that check and the claim may write a sample to the large part. Then the hit's record is
 * claimed later, but is the older of the two.
 *
 * A position in a part counts the bytes of all entries before it, from the first that was ever
 * written. What a hit looks at is in one cache line. What the reader changes all the time is 128
 * bytes away, as processors fetch pairs of cache lines. */
struct ring {
	u64 written; /* the position behind the last entry: the next entry begins there */
	u64 large_written; /* the same of the large part */
	/* The reader changes this one only while the large part is used. */
	u64 large_read;
	u64 waits[WAITS];
	u64 pad[13 - WAITS];
	u64 read;    /* the reader has read, and cleared, all entries before this position */
	u64 pad2[15];
};

/* A thread always writes to the same ring, so its records keep their order. With several rings
 * the threads of a large machine do not wait for one cache line. Threads use the first num_rings
 * rings; the ring behind these is for the thread that calibrates. So there are at most a power of
 * two, and one. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 65);
	__type(key, u32);
	__type(value, struct ring);
} rings SEC(".maps");

/* The memory of the rings is in pieces. A whole ring cannot be one value of a map: kernels have
 * allowed 4 MiB at most. An entry begins in the piece to which its position belongs, and may end in
 * the tail behind that piece. The longest entry, a sample, fits into a tail. */
#define PIECE (1 << 20)
#define TAIL (64 << 10)
struct piece {
	u8 at[PIECE + TAIL];
};

/* First the small part of each ring, then the pieces of the large part of the first ring, of the
 * second one, and so on. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct piece);
} pieces SEC(".maps");

/* How many pieces the large part of each ring has: a power of two. */
const volatile u32 ring_pieces = 1;

/* An entry of this ring wakes the reader. It says nothing else. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} wakes SEC(".maps");

const volatile u32 num_rings = 1; /* a power of two */
const volatile u32 ring_bits = 0; /* the power */

/* Id of the thread that calibrates, or 0. Its records go to a ring of their own, and fold_hold
 * does not keep it from folding. So calibrating and measuring need not wait for each other. */
u32 calibrating SHARED = 0;

static __always_inline u32 ring_of(u32 tid)
{
	return tid == calibrating ? num_rings : tid & (num_rings - 1);
}

/* Always 0, but the verifier must assume any value. Adding it to a value makes the verifier
 * forget what it knew of the value. */
u64 unknown SHARED = 0;

/* How many performance counters are read (counters.h). If 0, the verifier removes the code that
 * reads them. */
const volatile u32 num_counters = 0;

/* Not 0 if an ending thread still has the return addresses of its open calls when the tracepoint
 * sched_process_exit runs (since Linux 6.16). */
const volatile u32 site_at_exit = 0;

/* Returns the real return address of a call. If the function has a return probe, the kernel has
 * put its trampoline where the return address was. The return probe may be ours, on a function
 * that jumped here, or another tool's. */
static __always_inline u64 real_return_address(u64 found)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	u64 trampoline = BPF_CORE_READ(task, mm, uprobes_state.xol_area, vaddr);

	if (!trampoline || (found & ~0xfffULL) != (trampoline & ~0xfffULL))
		return found;
	return BPF_CORE_READ(task, utask, return_instances, orig_ret_vaddr);
}

static __always_inline u64 return_address(struct pt_regs *regs)
{
#if defined(__TARGET_ARCH_x86)
	u64 at = read_u64(regs->sp);
#else
	u64 at = regs->regs[30];
#endif
	/* The kernel maps the trampoline above everything else, even above the main thread's
	 * stack. So an address below the stack pointer is a real one. */
	return at > REG_SP(regs) ? real_return_address(at) : at;
}

/* Processes that have switched their reports off, and how many there are. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, u32);
	__type(value, u8);
} silent SEC(".maps");

u32 num_silent SHARED = 0;

static __always_inline int is_silent(void)
{
	u32 pid;

	if (!num_silent)
		return 0;
	pid = bpf_get_current_pid_tgid() >> 32;
	return bpf_map_lookup_elem(&silent, &pid) != 0;
}

/* Processes that are measured by shared probes. If each process had its own probes on the same
 * file, a hit in one process would run the programs of all these probes. It would also set up a
 * return probe for each. So shared probes are placed once, for all processes. Hits in processes
 * that are not in this map are ignored. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, u32);
	__type(value, u8);
} sharing SEC(".maps");

static __always_inline int not_measured(u64 cookie)
{
	u32 pid;

	if (!(cookie & COOKIE_SHARED))
		return 0;
	pid = bpf_get_current_pid_tgid() >> 32;
	return !bpf_map_lookup_elem(&sharing, &pid);
}

/* The number of the current era. A new era begins whenever the measurement resumes after a
 * pause. */
u32 era SHARED = 1;

/* Not 0 once any record was dropped. Until then no program has to look up a thread's losses. */
u32 dropping SHARED = 0;

/* Counts hits whose records the ring had no room for: by row in the map dropped, and in the
 * thread's state. */
static __always_inline void drop_hits(void *dropped, u32 index, struct thread_state *state, u64 hits)
{
	u64 *n = bpf_map_lookup_elem(dropped, &index);

	dropping = 1;
	if (state)
		state->lost += hits;
	if (n)
		__sync_fetch_and_add(n, hits);
}

static __always_inline void drop(void *dropped, u32 index)
{
	drop_hits(dropped, index, this_thread_state(BPF_LOCAL_STORAGE_GET_F_CREATE), 1);
}

/* The bytes that a ring receives between two wakes of the reader. Waking the reader costs the
 * target 1 us. So the reader sleeps until then, or until its next regular look. The small part of a
 * ring holds twice as many bytes. */
#define WAKE_BYTES (512 << 10)

/* The head of an entry. The record follows. */
struct entry {
	u32 size;  /* of the record; 0 until all else is written: the reader waits for that */
	u32 wakes; /* not 0: this entry wakes the reader */
};

/* The bytes of an entry with a record of the given size. */
#define WHOLE(size) (sizeof(struct entry) + (((size) + 7) & ~7ULL))

/* What a claim of a ring without room returns in place of a position. */
#define FULL (~0ULL)

/* A bit of positions in the large part. */
#define LARGE (1ULL << 62)

/* The answers to an attempt to claim bytes of a part. */
enum claimed {
	CLAIMED,
	TAKEN, /* another thread was quicker */
	NO_ROOM,
};

/* Tries to claim bytes of a part with room for so many. Sets at to their position. */
static __always_inline enum claimed try_part(u64 *written, u64 read, u64 room, u64 bytes, u64 *at)
{
	u64 from = *(volatile u64 *)written;

	if (from + bytes - read > room)
		return NO_ROOM;
	*at = from;
	return __sync_val_compare_and_swap(written, from, from + bytes) == from ? CLAIMED : TAKEN;
}

/* Tries to claim bytes of a ring's small part. The part counts as full until the reader has emptied
 * the large part. */
static __always_inline enum claimed try_small(struct ring *ring, u64 bytes, u64 *at)
{
	if (*(volatile u64 *)&ring->large_written != *(volatile u64 *)&ring->large_read)
		return NO_ROOM;
	return try_part(&ring->written, *(volatile u64 *)&ring->read, PIECE, bytes, at);
}

/* How many times a thread tries. Mostly a thread has its ring for itself. Where four threads of a
 * machine with 256 cores write to one ring all the time, a thread may be too late at three tries in
 * ten (an estimate): then all tries fail once in a hundred million records. Such a record is
 * dropped and counted. */
#define MOST_TRIES 16

/* Claims bytes of a ring. Returns their position, with the bit LARGE if they are in the large part,
 * or FULL. */
VERIFIED_ONCE u64 claim(u32 number, u64 bytes)
{
	struct ring *ring = bpf_map_lookup_elem(&rings, &number);
	u64 room = (u64)ring_pieces * PIECE, at = 0;
	u32 i;

	if (!ring)
		return FULL;
#pragma clang loop unroll(disable)
	for (i = 0; i < MOST_TRIES; i++) {
		u64 part = 0;
		enum claimed c = try_small(ring, bytes, &at);

		if (c == NO_ROOM) {
			part = LARGE;
			c = try_part(&ring->large_written, *(volatile u64 *)&ring->large_read,
				room, bytes, &at);
		}
		if (c == CLAIMED)
			return at | part;
		if (c == NO_ROOM)
			return FULL;
	}
	return FULL;
}

/* The index, in pieces, of the piece in which an entry of a ring begins. A product in place of a
 * branch leaves the verifier with one value, and not two. */
static __always_inline u32 piece_of(u32 number, u64 at)
{
	u32 large = num_rings + 1 + number * ring_pieces + (at / PIECE & (ring_pieces - 1));

	return number + (at / LARGE & 1) * (large - number);
}

/* Begins an entry at a position. Returns where its record is to be written; NULL for FULL. */
static __always_inline void *begin_entry(u32 index, u64 at, u64 bytes)
{
	struct piece *piece;
	struct entry *e;

	if (at == FULL)
		return 0;
	piece = bpf_map_lookup_elem(&pieces, &index);
	if (!piece) /* never: each ring has its pieces */
		return 0;
	e = (void *)&piece->at[at & (PIECE - 8)]; /* the verifier must see that it is aligned */
	e->wakes = (at ^ (at + bytes)) & ~(WAKE_BYTES - 1ULL) ? 1 : 0;
	return e + 1;
}

/* Room for a record in the ring of a thread, or NULL when it is full. */
static __always_inline void *reserve(u32 tid, u64 size)
{
	u32 number = ring_of(tid);
	u64 at = claim(number, WHOLE(size));

	return begin_entry(piece_of(number, at), at, WHOLE(size));
}

/* Room for a record in a ring, mostly without a call. Most hits use it. */
static __always_inline void *reserve_in(struct ring *ring, u32 number, u64 size)
{
	u32 index = number;
	u64 at = 0;

	if (try_small(ring, WHOLE(size), &at) != CLAIMED) {
		at = claim(number, WHOLE(size));
		index = piece_of(number, at);
	}
	return begin_entry(index, at, WHOLE(size));
}

/* Whether the large part of a thread's ring is more than half full. Records of samples and of the
 * scheduler may fill half of it only: those of probes are more important, because they count
 * exactly. */
static __always_inline int half_full(u32 tid)
{
	u32 number = ring_of(tid);
	struct ring *ring = bpf_map_lookup_elem(&rings, &number);
	u64 unread;

	if (!ring)
		return 1;
	unread = *(volatile u64 *)&ring->large_written - *(volatile u64 *)&ring->large_read;
	return unread > (u64)ring_pieces * PIECE / 2;
}

/* How many records of the current thread were dropped since it last wrote one. */
static __always_inline u32 take_lost(void)
{
	struct thread_state *state;
	u32 lost;

	if (!dropping)
		return 0;
	state = this_thread_state(0);
	if (!state)
		return 0;
	lost = state->lost;
	state->lost = 0;
	return lost;
}

/* Completes a record, and wakes the reader if that is due. The reader must see the size last: x86
 * keeps the order of stores, elsewhere an atomic exchange does. */
static __always_inline void submit(void *r, u64 size)
{
	struct entry *e = (struct entry *)r - 1;
	u32 wakes_reader = e->wakes;

#if defined(__TARGET_ARCH_x86)
	asm volatile("" ::: "memory");
	*(volatile u32 *)&e->size = size;
#else
	__sync_lock_test_and_set((u64 *)e, size);
#endif
	if (wakes_reader) {
		void *w = bpf_ringbuf_reserve(&wakes, 8, 0);

		if (w)
			bpf_ringbuf_submit(w, BPF_RB_FORCE_WAKEUP);
	}
}
