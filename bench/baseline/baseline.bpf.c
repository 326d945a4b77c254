//go:build ignore

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Programs that do nothing: their hits cost what the kernel itself takes for a hit (make bench).
#include "arch.h"
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

SEC("uprobe.multi/x")
int on_nothing(struct pt_regs *regs)
{
	return 0;
}

/* Both entry and return are probed. The two programs after this one decide as on_session of
 * bpf/probe.bpf.c does whether the return is wanted. */
SEC("uprobe.session/x")
int on_nothing_more(struct pt_regs *regs)
{
	return 0;
}

SEC("uprobe.session/x")
int on_nothing_if_zf(struct pt_regs *regs)
{
	return ZERO_FLAG(regs) ? 1 : 0;
}

SEC("uprobe.session/x")
int on_nothing_if_not_sf(struct pt_regs *regs)
{
	return SIGN_FLAG(regs) ? 0 : 1;
}

/* How many perf events on_reads reads, at most EVENTS. */
#define EVENTS 8
const volatile u32 num_events = 0;

/* The perf events of a counter, one for each CPU. */
#define EACH_EVENT(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#define MAP(n) \
struct { \
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY); \
	__uint(key_size, 4); \
	__uint(value_size, 4); \
} events_##n SEC(".maps");
EACH_EVENT(MAP)

/* Reads events, as read_events of bpf/counters.h does. */
SEC("uprobe.multi/x")
int on_reads(struct pt_regs *regs)
{
	struct bpf_perf_event_value v;
	u64 sum = 0;

#define READ(n) \
	if (n < num_events && !bpf_perf_event_read_value(&events_##n, BPF_F_CURRENT_CPU, &v, sizeof(v))) \
		sum += v.counter;
	EACH_EVENT(READ)
	asm volatile("" :: "r"(sum));
	return 0;
}

char _license[] SEC("license") = "Dual BSD/GPL";
