/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the programs of OpenMP and of MPI probes share: the record rings, what
 * is known of a thread (thread.h), and who is silent. The loader gives the second object
 * the first one's maps, so that a thread's records keep their order. */
#pragma once
#include "thread.h"

#define SHARED SEC(".data.shared")

struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 24);
};

/* A thread always writes to the same ring, which keeps its order; several
 * rings keep the threads of a large machine from queueing for one lock. Behind
 * those of all is the one of the thread that calibrates. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 65);
	__type(key, u32);
	__array(values, struct ring);
} rings SEC(".maps");

const volatile u32 num_rings = 1;

/* The thread of the program that calibrates; 0: none does. Its records are in its
 * own ring only, and nobody keeps it from folding: so calibrating and measuring
 * need not wait for each other. */
u32 calibrating SHARED = 0;

static __always_inline u32 ring_of(u32 tid)
{
	return tid == calibrating ? num_rings : tid % num_rings;
}

/* Always 0, which the verifier does not know. */
u64 unknown SHARED = 0;

/* How many performance counters are read (counters.h); 0: the verifier removes
 * what has to do with them. */
const volatile u32 num_counters = 0;

/* A thread that ends still has its return addresses when sched_process_exit is
 * told of it (Linux 6.16). */
const volatile u32 site_at_exit = 0;

static __always_inline u64 read_u64(u64 addr)
{
	u64 v = 0;
	bpf_probe_read_user(&v, sizeof(v), (void *)addr);
	return v;
}

static __always_inline u32 read_u32(u64 addr)
{
	u32 v = 0;
	bpf_probe_read_user(&v, sizeof(v), (void *)addr);
	return v;
}

/* A return probe, of ours on a function that jumped here or of another tool,
 * has put the kernel's trampoline where the return address was. */
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
	/* The trampoline lies above everything else, the main thread's stack
	 * included. */
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

/* Processes that share probes. A link for each would cost every process a call
 * of the program, and a return probe, for every other one's; so probes of many
 * processes are placed once, for all, and hits elsewhere are ignored. */
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

/* A new one begins whenever measurement goes on after a pause. */
u32 era SHARED = 1;

/* Whether any record was ever dropped: spares the look at each thread. */
u32 dropping SHARED = 0;

/* Counts hits of which the ring had no room for a record, by row in that map. */
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

/* How many records of the current thread were dropped since the last one. */
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

/* Waking the reader costs the target 1 us, so it sleeps until it is time for a look,
 * or a ring has taken that many bytes more: the smallest one holds four times as many. */
#define WAKE_BYTES (512 << 10)

/* The lower half of an address, which verifiers let us compute with. */
static __always_inline u64 low_half(const void *p)
{
	u64 v;

	asm volatile("r0 = %1; w0 = w0; %0 = r0" : "=r"(v) : "r"(p) : "r0");
	return v;
}

/* A record of a size is complete. Entries follow each other, behind a head each
 * (BPF_RINGBUF_HDR_SZ): so one of them holds the border of each stretch. */
static __always_inline void submit(void *r, u64 size)
{
	u64 begin = low_half(r) - 8, end = begin + 8 + ((size + 7) & ~7ULL);

	bpf_ringbuf_submit(r, (begin ^ end) & ~(WAKE_BYTES - 1ULL) ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
}

/* The same of a copy. Where others write to the ring at the same time, a border
 * may be passed over; there are more of them. */
static __always_inline int write_copy(void *ring, void *data, u64 size)
{
	u64 begin = bpf_ringbuf_query(ring, BPF_RB_PROD_POS), end = begin + 8 + size;

	return bpf_ringbuf_output(ring, data, size, (begin ^ end) & ~(WAKE_BYTES - 1ULL) ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
}
