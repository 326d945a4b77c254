/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How a probe's program runs: whether it may sleep, and for which probe. Most of a hit's time is
 * calls of the kernel's functions, each of which takes some 15 ns where returns are guarded
 * (retbleed, SRSO). So a value that can be loaded from memory is loaded, without a call. */
#pragma once
#include "kernel_stack.h"
#include "thread.h"

/* Marks a function that loops or is called at several places. As a function of its own that is
 * not static it is verified once, and not for each call (Linux 5.6). Its arguments may be
 * pointers to structs since Linux 5.12; the verifier assumes that they may be NULL. */
#define VERIFIED_ONCE __noinline

/* Not 0: the programs of probes may sleep (sleep.go). Such a hit costs 25 ns less, as the kernel
 * enters no RCU section for it. A read of user memory costs 40 ns less, as it may wait for a
 * page. */
const volatile u32 may_sleep = 0;

static __always_inline long read_user(void *to, u32 size, u64 from)
{
	if (may_sleep)
		return bpf_copy_from_user(to, size, (void *)from);
	return bpf_probe_read_user(to, size, (void *)from);
}

static __always_inline u64 read_u64(u64 addr)
{
	u64 v = 0;

	read_user(&v, sizeof(v), addr);
	return v;
}

static __always_inline u32 read_u32(u64 addr)
{
	u32 v = 0;

	read_user(&v, sizeof(v), addr);
	return v;
}

/* The kernel's notes on the uprobe for which it runs a program (kernel/trace/bpf_trace.c). The
 * current thread points to the first field of the notes' first field. */
struct bpf_run_ctx {};
struct bpf_session_run_ctx { _Bool is_return; } __attribute__((preserve_access_index));
struct bpf_uprobe { u64 cookie; } __attribute__((preserve_access_index));
struct bpf_uprobe_multi_run_ctx {
	struct bpf_session_run_ctx session_ctx; /* Linux 6.13 */
	struct bpf_uprobe *uprobe;
} __attribute__((preserve_access_index));
struct task_struct___running {
	struct bpf_run_ctx *bpf_ctx;
} __attribute__((preserve_access_index));

/* Not 0: this kernel's types are such that running() finds these notes (running.go). A program
 * cannot check that by itself: if a program asks where a field lies, kernels without that field do
 * not load the program (seen with 6.12). */
const volatile u32 notes_known = 0;

/* A cast, of which the verifier leaves no instruction (Linux 6.2). */
extern void *bpf_rdonly_cast(const void *obj, u32 btf_id) __ksym __weak;

static __always_inline struct bpf_uprobe_multi_run_ctx *running(struct task_struct *task)
{
	return bpf_rdonly_cast(((struct task_struct___running *)task)->bpf_ctx,
		bpf_core_type_id_kernel(struct bpf_uprobe_multi_run_ctx));
}

/* The cookie of the uprobe that is hit. Programs for perf events cannot use this. */
static __always_inline u64 uprobe_cookie(struct pt_regs *regs, struct task_struct *task)
{
	return notes_known ? running(task)->uprobe->cookie : bpf_get_attach_cookie(regs);
}

/* Whether a session's program runs for the return. The kernel has a function for this,
 * bpf_session_is_return, but the function has another prototype since Linux 7.0. So session
 * programs are loaded only where the notes are known. */
static __always_inline int is_return(struct task_struct *task)
{
	return running(task)->session_ctx.is_return;
}
