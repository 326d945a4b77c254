//go:build ignore

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Reports where the threads of sampled processes are. Runs whenever the sampling event of a
// processor overflows.
#include "fold.h"
#include "sample.h"

/* Processes that are sampled. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, u32);
	__type(value, struct sampled);
} sampling SEC(".maps");

/* include/uapi/linux/bpf_perf_event.h; on arm64 regs is struct user_pt_regs. */
struct bpf_perf_event_data {
	struct pt_regs regs;
	u64 sample_period;
	u64 addr;
};

struct return_instance___sample {
	u64 orig_ret_vaddr, stack;
	struct return_instance___sample *next;
} __attribute__((preserve_access_index));
struct uprobe_task___sample {
	struct return_instance___sample *return_instances;
	u64 vaddr, xol_vaddr;
} __attribute__((preserve_access_index));

struct mm_struct___sample {
	unsigned long start_stack;
} __attribute__((preserve_access_index));

const struct sample_record *unused_record __attribute__((unused));
const enum sample_flag *unused_flag __attribute__((unused));

#if defined(__TARGET_ARCH_x86)
#define IN_KERNEL(r) (((r)->cs & 3) == 0)

/* In the order of DWARF's numbers (System V psABI, 3.6.2). */
static __always_inline void save(u64 *to, const struct pt_regs *r)
{
	to[0] = r->ax; to[1] = r->dx; to[2] = r->cx; to[3] = r->bx;
	to[4] = r->si; to[5] = r->di; to[6] = r->bp; to[7] = r->sp;
	to[8] = r->r8; to[9] = r->r9; to[10] = r->r10; to[11] = r->r11;
	to[12] = r->r12; to[13] = r->r13; to[14] = r->r14; to[15] = r->r15;
}
#else
#define IN_KERNEL(r) (((r)->pstate & 0xf) != 0) /* not EL0 */

static __always_inline void save(u64 *to, const struct pt_regs *r)
{
	__builtin_memcpy(to, r->regs, sizeof(r->regs));
	to[31] = r->sp;
}
#endif

/* How many bytes of the stack are in use, as far as that can be told. The first thread's stack
 * ends where the kernel began it. The stack of another thread ends where its thread pointer
 * points: glibc and musl put that structure on top of the stack. */
static __always_inline u64 in_use(struct task_struct *task, u64 sp)
{
	struct mm_struct___sample *mm = (void *)BPF_CORE_READ(task, mm);
	u64 first = BPF_CORE_READ(mm, start_stack);
	u64 own = THREAD_POINTER(task);
	u64 n = SAMPLE_STACK - 1;

	if (first > sp && first - sp < n)
		n = first - sp;
	if (own > sp && own - sp < n)
		n = own - sp;
	return n;
}

#define LONGEST_INSTRUCTION 15

/* Fills in where calls with a return probe return to. If several return probes are on one call,
 * its return address was replaced once, so they count as one. */
VERIFIED_ONCE int pending(struct sample_record *r)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct uprobe_task___sample *utask = (void *)BPF_CORE_READ(task, utask);
	struct return_instance___sample *at;
	u64 last = 0, stack, copy;
	u32 n = 0;
	int i;

	if (!r)
		return 0;
	__builtin_memset(r->returns, 0, sizeof(r->returns));
	r->trampoline = BPF_CORE_READ(task, mm, uprobes_state.xol_area, vaddr);
	if (!utask || !r->trampoline)
		return 0;
	/* The kernel executes a copy of a probed instruction, in the page of the trampoline. If
	 * the thread is at the copy, ip becomes the address of the original. */
	copy = BPF_CORE_READ(utask, xol_vaddr);
	if (copy && r->ip - copy <= LONGEST_INSTRUCTION)
		r->ip += BPF_CORE_READ(utask, vaddr) - copy;
	at = BPF_CORE_READ(utask, return_instances);
	for (i = 0; i < 2 * SAMPLE_RETURNS && at && n < SAMPLE_RETURNS; i++) {
		stack = BPF_CORE_READ(at, stack);
		if (stack != last)
			r->returns[n++] = BPF_CORE_READ(at, orig_ret_vaddr);
		last = stack;
		at = BPF_CORE_READ(at, next);
	}
	return 0;
}

static __always_inline void fill(struct sample_record *r, u64 id, u64 weight, const struct pt_regs *regs, u32 flags)
{
	r->time = bpf_ktime_get_ns();
	r->pid = id >> 32;
	r->tid = id;
	r->row = 0;
	r->flags = REC_SAMPLE | flags;
	r->lost = 0;
	r->ip = REG_IP(regs);
	r->weight = weight;
	save(r->reg, regs);
	pending(r);
}

/* The verifier must know the size of a ring's entry, so the stack is copied in one of four
 * sizes. No page can be brought in here: if the next page is not there, only this page's bytes
 * are copied. */
#define STEP(size) \
struct sample_##size { \
	struct sample_record head; \
	u8 stack[size]; \
}; \
static __always_inline int take_##size(u64 id, u64 weight, const struct pt_regs *regs, u32 flags, u64 used) \
{ \
	struct sample_##size *r = reserve((u32)id, sizeof(*r)); \
	u64 here = 4096 - (REG_SP(regs) & 4095); \
	if (!r) \
		return 0; \
	fill(&r->head, id, weight, regs, flags); \
	/* Verifiers before Linux 6.3 or so forget the bounds of a value that was spilled. */ \
	asm volatile("" : "+r"(used)); \
	used &= (size) - 1; \
	if (bpf_probe_read_user(r->stack, used, (void *)REG_SP(regs))) { \
		if (used > here) \
			used = here; \
		asm volatile("" : "+r"(used)); \
		used &= (size) - 1; \
		if (bpf_probe_read_user(r->stack, used, (void *)REG_SP(regs))) \
			used = 0; \
	} \
	r->head.stack = used; \
	submit(r, sizeof(*r)); \
	return 1; \
}
STEP(512)
STEP(2048)
STEP(8192)
STEP(32768)

/* The thread's ip if the kernel may be handling a return of the thread right now, else 0. Anywhere
 * else, ip says nothing of an open call: its return may have passed without a probe. */
static __always_inline u64 returning_to(const struct pt_regs *regs, u32 flags)
{
	return flags & SAMPLE_KERNEL && MAY_RETURN(regs) ? REG_IP(regs) : 0;
}

/* The registers of the thread that is sampled. On the stack they would leave too little room for
 * settle_state. The samples of a CPU do not interrupt each other (bpf_prog_active). */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct pt_regs);
} sampled_regs SEC(".maps");

SEC("perf_event")
int on_sample(struct bpf_perf_event_data *ctx)
{
	u64 id = bpf_get_current_pid_tgid(), used, weight = ctx->sample_period;
	u32 pid = id >> 32, flags = 0, first = 0;
	struct pt_regs *regs = bpf_map_lookup_elem(&sampled_regs, &first);
	struct task_struct *task;
	struct thread_state *t;
	struct sampled *s;
	int taken = 0;

	s = bpf_map_lookup_elem(&sampling, &pid);
	if (!s || !regs || is_silent())
		return 0;
	task = (void *)bpf_get_current_task_btf();
	if (IN_KERNEL(&ctx->regs)) {
		flags = SAMPLE_KERNEL;
		bpf_probe_read_kernel(regs, sizeof(*regs), (void *)bpf_task_pt_regs(task));
	} else {
		__builtin_memcpy(regs, &ctx->regs, sizeof(*regs));
	}

	if (half_full((u32)id))
		goto lost;

	/* The reader must know the thread's open constructs before the sample. */
	t = may_have_folded() ? this_thread_state(0) : 0;
	if (t && !t->busy && !is_settled(t))
		settle_state(t, bpf_get_current_task(), returning_to(regs, flags), 0);
	if (t && (t->busy || !is_settled(t)))
		flags |= SAMPLE_CHANGING;

	used = in_use(task, REG_SP(regs));
	if (used < 512)
		taken = take_512(id, weight, regs, flags, used);
	else if (used < 2048)
		taken = take_2048(id, weight, regs, flags, used);
	else if (used < 8192)
		taken = take_8192(id, weight, regs, flags, used);
	else
		taken = take_32768(id, weight, regs, flags, used);
	if (taken)
		return 0;
lost:
	__sync_fetch_and_add(&s->lost, 1);
	return 0;
}

char _license[] SEC("license") = "Dual BSD/GPL";
