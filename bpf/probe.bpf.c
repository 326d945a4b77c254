//go:build ignore

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Reports the hits of the probes that sit in OpenMP runtimes.
#include "hits.h"

/* Keep these types in the object's BTF for bpf2go. */
const struct record *unused_record __attribute__((unused));
const struct fold_record *unused_fold_record __attribute__((unused));
const enum source *unused_source __attribute__((unused));
const enum row_flag *unused_row_flag __attribute__((unused));
const enum record_flag *unused_record_flag __attribute__((unused));
const enum counter_source *unused_counter_source __attribute__((unused));
const struct ring *unused_ring __attribute__((unused));
const struct piece *unused_piece __attribute__((unused));

/* Linux 6.13+: one probe for entry and return; the entry decides whether the return is wanted. */
SEC("uprobe.session/x")
int on_session(struct pt_regs *regs)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	u64 cookie = uprobe_cookie(regs, task);

	ON_KERNEL_STACK();
	if (not_measured(cookie))
		return 1;
	if (is_return(task)) {
		on_return(regs, task, (u32)cookie, 1);
		return 0;
	}
	return on_entry(regs, task, (u32)cookie, 1);
}

static __always_inline int entry(struct pt_regs *regs, struct task_struct *task, u64 cookie)
{
	ON_KERNEL_STACK();
	if (!not_measured(cookie))
		on_entry(regs, task, (u32)cookie, 0);
	return 0;
}

static __always_inline int returned(struct pt_regs *regs)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	u64 cookie = bpf_get_attach_cookie(regs);

	ON_KERNEL_STACK();
	if (!not_measured(cookie))
		on_return(regs, task, (u32)cookie, 0);
	return 0;
}

/* Linux 6.6+: many addresses at once. */
SEC("uprobe.multi/x")
int on_entry_multi(struct pt_regs *regs)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();

	return entry(regs, task, uprobe_cookie(regs, task));
}

SEC("uretprobe.multi/x")
int on_return_multi(struct pt_regs *regs)
{
	return returned(regs);
}

/* Linux 5.15+ (attach cookies): one perf event per address. */
SEC("uprobe/x")
int on_entry_perf(struct pt_regs *regs)
{
	return entry(regs, (void *)bpf_get_current_task_btf(), bpf_get_attach_cookie(regs));
}

SEC("uretprobe/x")
int on_return_perf(struct pt_regs *regs)
{
	return returned(regs);
}

/* A thread settles when it ends (tp_btf: Linux 5.5). */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(fold_exit, struct task_struct *task)
{
	struct thread_state *t;

	settle();
	t = this_thread_state(0);
	if (t && core_wait() != t->wait_told)
		tell_core_wait(t, bpf_get_current_pid_tgid(), bpf_ktime_get_ns(), core_wait(), 0);
	return 0;
}

/* A thread settles when it executes another program. As the first thread of that program it has
 * another id. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(fold_exec, struct task_struct *task, int old_pid)
{
	struct thread_state *t;

	settle();
	t = may_have_folded() ? this_thread_state(0) : 0;
	if (t)
		t->ids = 0;
	return 0;
}

/* Switches the reports of a process on again. Run by BPF_PROG_TEST_RUN (Linux 5.10), with the
 * process's id. */
SEC("raw_tp")
int hear(struct bpf_raw_tracepoint_args *ctx)
{
	switch_on(ctx->args[0]);
	return 0;
}

/* The process whose threads fold_settle settles, and whether the process was stopped for that.
 * If so, threads that still run are left alone: they may be changing what they have folded. */
u32 settling = 0;
u32 settling_stopped = 0;

#define TASK_STOPPED 4

/* Settles the threads of a process. To be run when the threads have no probes any more, or are
 * stopped. Gives one byte for each thread that could not be settled yet. */
SEC("iter/task")
int fold_settle(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct task_struct___state *state = (void *)task;
	struct thread_state *t;
	u8 one = 1;
	u64 wait;

	if (!task || task->tgid != settling)
		return 0;
	t = bpf_task_storage_get(&threads, task, 0, 0);
	if (!t)
		return 0;
	wait = core_wait_of(task);
	if (is_settled(t) && wait == t->wait_told)
		return 0;
	if (t->busy || (settling_stopped && !(BPF_CORE_READ(state, __state) & TASK_STOPPED))) {
		bpf_seq_write(ctx->meta->seq, &one, sizeof(one));
		return 0;
	}
	settle_state(t, address_of(task), 0, 1);
	tell_core_wait(t, (u64)task->tgid << 32 | task->pid, bpf_ktime_get_ns(), wait, 0);
	return 0;
}

/* Runs whenever a CPU changes threads (tp_btf: 5.5). */
SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, _Bool preempt, struct task_struct *from, struct task_struct *to)
{
	struct task_struct___counted *last = (void *)from;
	struct counted *off, *on = 0;
	struct cpu *cpu = this_cpu();
	struct reading now;
	u32 valid;

	if (!cpu)
		return 0;
	off = bpf_task_storage_get(&counted_threads, from, 0, 0);
	if (to->pid)
		on = bpf_task_storage_get(&counted_threads, to, 0, 0);
	/* A thread that is not counted may cause events; an idle CPU does not. */
	valid = !on && (!to->pid || !counter_events);
	if (!valid && !off) {
		compiler_barrier(); /* keeps the compiler from combining the two pointers */
		if (!on) {
			cpu->valid = 0;
			return 0;
		}
	}
	read_events(&now, bpf_ktime_get_ns());
	if (off)
		take_off(off, &now, last);
	if (on)
		put_on(on, &now);
	cpu->valid = valid;
	if (valid) {
		cpu->then = now;
		if (from->pid)
			cpu->clocks = now.time - last->se.exec_start;
	}
	return 0;
}

/* A thread that a counted thread starts is counted from its first instruction. Its storage is
 * created here, because no memory may be allocated while threads are switched. */
SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_thread, struct task_struct *parent, struct task_struct *child)
{
	if (bpf_task_storage_get(&counted_threads, parent, 0, 0))
		bpf_task_storage_get(&counted_threads, child, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	return 0;
}

char _license[] SEC("license") = "Dual BSD/GPL";
