/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rings of records. The programs of OpenMP probes, MPI probes, samples and the scheduler share the
 * rings, the state of each thread (thread.h), and the list of silent processes. The loader gives
 * the maps of the OpenMP probes' object to the other objects. So all write to the same rings, and a
 * thread's records keep their order. */
#pragma once
#include "running.h"

#define SHARED SEC(".data.shared")

struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 24);
};

/* A thread always writes to the same ring, so its records keep their order. With several rings
 * the threads of a large machine do not queue for one lock. Threads use the first num_rings
 * rings; the ring behind these is for the thread that calibrates. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 65);
	__type(key, u32);
	__array(values, struct ring);
} rings SEC(".maps");

const volatile u32 num_rings = 1;

/* Id of the thread that calibrates, or 0. Its records go to a ring of their own, and fold_hold
 * does not keep it from folding. So calibrating and measuring need not wait for each other. */
u32 calibrating SHARED = 0;

static __always_inline u32 ring_of(u32 tid)
{
	return tid == calibrating ? num_rings : tid % num_rings;
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

/* Room for a record in the ring of a thread, or NULL when it is full. */
static __always_inline void *reserve(u32 tid, u64 size)
{
	u32 which = ring_of(tid);
	void *ring = bpf_map_lookup_elem(&rings, &which);

	return ring ? bpf_ringbuf_reserve(ring, size, 0) : 0;
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

/* The bytes that a ring receives between two wakes of the reader. Waking the reader costs the
 * target 1 us. So the reader sleeps until then, or until its next regular look. The smallest ring
 * holds four times as many bytes. */
#define WAKE_BYTES (512 << 10)

/* The lower 32 bits of an address, as a number: the verifier allows arithmetic with it. */
static __always_inline u64 low_half(const void *p)
{
	u64 v;

	asm volatile("r0 = %1; w0 = w0; %0 = r0" : "=r"(v) : "r"(p) : "r0");
	return v;
}

/* Completes a record of the given size, and wakes the reader if that is due. Ring entries follow
 * each other, each behind a head of 8 bytes (BPF_RINGBUF_HDR_SZ). So exactly one entry crosses each
 * multiple of WAKE_BYTES, and that entry wakes the reader. */
static __always_inline void submit(void *r, u64 size)
{
	u64 begin = low_half(r) - 8, end = begin + 8 + ((size + 7) & ~7ULL);

	bpf_ringbuf_submit(r, (begin ^ end) & ~(WAKE_BYTES - 1ULL) ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
}
