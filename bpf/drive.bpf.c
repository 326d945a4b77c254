//go:build ignore

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Hits without probes. Tests and benchmarks run the code of a hit from many threads, as often as
// they like, on registers that they make up. The code is the product's: probe.bpf.c includes the
// same hits.h. Maps and variables are those of the loaded product (driven_test.go).
#include "hits.h"

#define DRIVE_STEPS 8

#if defined(__TARGET_ARCH_x86)
#define REG_FLAGS(r) ((r)->flags)
#define BRANCH_FLAGS(zero, sign) ((zero) << 6 | (sign) << 7)
#else
#define REG_FLAGS(r) ((r)->pstate)
#define BRANCH_FLAGS(zero, sign) ((u64)(zero) << 30 | (u64)(sign) << 31)
#endif

struct drive {
	struct pt_regs regs; /* the registers at every hit, filled in by on_drive */
	u64 sp, ip, arg0;
	u32 zero, sign;       /* the flags of the last comparison */
	u32 row[DRIVE_STEPS]; /* the rows that are hit, in turn */
	u32 returns;          /* bit n: the return of row[n], else its entry */
	u32 steps;            /* how many rows, a power of two */
	u32 hits;
	u32 pad;
};

/* One for each thread that drives. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 256);
	__type(key, u32);
	__type(value, struct drive);
} drives SEC(".maps");

struct bpf_iter_num { u64 opaque[1]; };
extern int bpf_iter_num_new(struct bpf_iter_num *it, int start, int end) __ksym __weak;
extern int *bpf_iter_num_next(struct bpf_iter_num *it) __ksym __weak;
extern void bpf_iter_num_destroy(struct bpf_iter_num *it) __ksym __weak;

/* Not inlined, so that it is verified once and not for each turn of a loop. */
__attribute__((noinline)) int hit(u32 index, u32 turn)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct drive *d = bpf_map_lookup_elem(&drives, &index);
	u32 i;

	if (!d)
		return 0;
	i = turn & (d->steps - 1) & (DRIVE_STEPS - 1);
	if (d->returns & (1 << i))
		on_return(&d->regs, task, d->row[i], 1);
	else
		on_entry(&d->regs, task, d->row[i], 1);
	return 0;
}

/* BPF_PROG_TEST_RUN, with the index in drives (5.14; number iterators: 6.4). May sleep, as the
 * programs of probes. */
SEC("syscall")
int on_drive(u32 *ctx)
{
	u32 index = *ctx;
	struct drive *d = bpf_map_lookup_elem(&drives, &index);
	struct bpf_iter_num it;
	int *n;

	if (!d)
		return 0;
	REG_SP(&d->regs) = d->sp;
	REG_IP(&d->regs) = d->ip;
	REG_ARG0(&d->regs) = d->arg0;
	REG_FLAGS(&d->regs) = BRANCH_FLAGS(d->zero, d->sign);
	bpf_iter_num_new(&it, 0, d->hits);
	while ((n = bpf_iter_num_next(&it)))
		hit(index, *n);
	bpf_iter_num_destroy(&it);
	return 0;
}

char _license[] SEC("license") = "Dual BSD/GPL";
