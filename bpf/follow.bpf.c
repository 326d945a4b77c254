//go:build ignore

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Watches followed processes: their execs, their children, and libraries that they load. If a
// process is to be measured from its first instruction, it is stopped until its probes are placed.
#include "arch.h"
#include "kernel_stack.h"
#define __VMLINUX_H__
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#define SIGSTOP 19

/* How many processes may be followed at a time. A further one is not measured, and missed counts
 * it. The memory for all is taken at the start: no process may be missed for want of memory. */
#define MAX_FOLLOWED 16384

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_FOLLOWED);
	__type(key, u32);   /* process */
	__type(value, u32); /* enum follow_flag */
} followed SEC(".maps");

/* Processes that wait for SIGCONT. The value is the time when they were continued by somebody
 * other than the tool; 0: not yet. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_FOLLOWED);
	__type(key, struct stop);
	__type(value, u64);
} stopped SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 18);
} lives SEC(".maps");

/* The fields of struct task_struct that only on_exit needs. In a type's name CO-RE ignores ___ and
 * all that follows. */
typedef struct { int counter; } __attribute__((preserve_access_index)) atomic_t;
struct signal_struct { atomic_t live; } __attribute__((preserve_access_index));
struct task_struct___end { struct signal_struct *signal; } __attribute__((preserve_access_index));

/* The programs that followed processes run. Only the kernel side writes here. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, u32); /* process */
	__type(value, struct program);
} programs SEC(".maps");

const struct life *unused_life __attribute__((unused));
const struct stop *unused_stop __attribute__((unused));
const enum life_kind *unused_life_kind __attribute__((unused));
const enum follow_flag *unused_follow_flag __attribute__((unused));
const enum file_is *unused_file_is __attribute__((unused));

#define SIGCONT 18
/* The first eight bytes of task_struct.comm. */
#define NAME(a, b, c, d, e, f, g) \
	((u64)(a) | (u64)(b) << 8 | (u64)(c) << 16 | (u64)(d) << 24 | (u64)(e) << 32 | (u64)(f) << 40 | (u64)(g) << 48)
struct sigaction { void *sa_handler; } __attribute__((preserve_access_index));
struct k_sigaction { struct sigaction sa; } __attribute__((preserve_access_index));
struct sighand_struct { struct k_sigaction action[64]; } __attribute__((preserve_access_index));
struct task_struct___signals { struct sighand_struct *sighand; } __attribute__((preserve_access_index));
typedef struct { u32 val; } __attribute__((preserve_access_index)) kuid_t;
struct cred { kuid_t uid, suid; } __attribute__((preserve_access_index));
struct task_struct___family {
	struct task_struct___family *real_parent;
	const struct cred *cred;
	char comm[16];
} __attribute__((preserve_access_index));

/* Whether the current process handles SIGCONT itself (Open MPI's mpirun tells its ranks). Such a
 * process is not stopped when it loads libraries, nor is a forked child, which has its handlers.
 * An exec removes handlers. */
static __always_inline int handles_continue(void)
{
	struct task_struct___signals *task = (void *)bpf_get_current_task_btf();

	return (u64)BPF_CORE_READ(task, sighand, action[SIGCONT - 1].sa.sa_handler) > 1; /* SIG_IGN */
}

/* The user whose processes the tool may continue; ANYONE: those of all users. */
#define ANYONE ((u32)-1)
const volatile u32 may_continue = ANYONE;

/* Programs that wait for a child. When the child is stopped, they stop themselves until somebody
 * continues them, or even their process group, and the tool with it. */
static const u64 stop_too[] = {
	NAME('s', 'u', 0, 0, 0, 0, 0), NAME('s', 'u', 'd', 'o', 0, 0, 0), NAME('s', 'g', 0, 0, 0, 0, 0),
	NAME('r', 'u', 'n', 'u', 's', 'e', 'r'), NAME('n', 'e', 'w', 'g', 'r', 'p', 0), NAME('s', 'c', 'r', 'i', 'p', 't', 0),
};

/* Whether the tool may continue a process, by the rules of kill(2). */
static __always_inline int may_be_continued(struct task_struct *of)
{
	struct task_struct___family *task = (void *)of;

	return may_continue == ANYONE || BPF_CORE_READ(task, cred, uid.val) == may_continue ||
	       BPF_CORE_READ(task, cred, suid.val) == may_continue;
}

/* Whether the current process's parent stops itself when the process is stopped. This need not be
 * asked for a child that was just forked: its parent has probes, and none of these programs has
 * probes. */
static __always_inline int parent_stops_too(void)
{
	struct task_struct___family *task = (void *)bpf_get_current_task_btf();
	u64 name[2] = {};

	BPF_CORE_READ_STR_INTO(&name, task, real_parent, comm);
	for (u32 i = 0; i < sizeof(stop_too) / sizeof(*stop_too); i++)
		if (name[0] == stop_too[i])
			return 1;
	return 0;
}

#include "release.h"

/* Life events that the ring had no room for, and children that followed had no room for. */
u32 missed = 0;

/* Stops the current process, or child if that is not 0. Returns whether the process will be
 * stopped. */
static __always_inline u32 hold(struct stop *stop, struct task_struct *child)
{
	u64 waits = 0;
	int failed;

	/* The stop is recorded first, so that whoever finds a stopped process can undo the stop.
	 * If there is no room to record it, the process runs on. */
	if (nobody_listens() || bpf_map_update_elem(&stopped, stop, &waits, BPF_ANY))
		return 0;
	if (!child)
		failed = bpf_send_signal(SIGSTOP);
	else if (bpf_send_signal_task)
		failed = bpf_send_signal_task(child, SIGSTOP, PIDTYPE_TGID, 0);
	else
		failed = 1;
	if (!failed && !nobody_listens())
		return 1;
	/* Meanwhile all stopped processes may have been continued, too early for this one. */
	if (!failed && !child)
		bpf_send_signal(SIGCONT);
	else if (!failed && bpf_send_signal_task)
		send_to(child, SIGCONT);
	bpf_map_delete_elem(&stopped, stop);
	return 0;
}

/* Reports a life event, and stops the process if flags says so. Time and stopped are filled in
 * here. child is the process to stop if it is not the current one. */
static __always_inline void tell(struct life *what, u32 flags, struct task_struct *child)
{
	struct stop stop = { .time = bpf_ktime_get_ns(), .pid = what->pid };
	struct life *l;

	l = bpf_ringbuf_reserve(&lives, sizeof(*l), 0);
	if (!l) {
		__sync_fetch_and_add(&missed, 1);
		return;
	}
	*l = *what;
	l->time = stop.time;
	l->stopped = 0;
	if ((flags & FOLLOW_STOP) && may_be_continued(child ? child : bpf_get_current_task_btf()) &&
	    (child || !parent_stops_too()))
		l->stopped = hold(&stop, child);
	bpf_ringbuf_submit(l, BPF_RB_FORCE_WAKEUP);
}

#include "files.h"

/* A program whose loader is probed runs on: the loader reports the program's libraries before
 * any of the program's own code runs. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task, int old_pid)
{
	u32 pid = bpf_get_current_pid_tgid() >> 32;
	u32 *flags = bpf_map_lookup_elem(&followed, &pid), all;
	struct life l = { .pid = pid, .kind = LIFE_EXEC };

	if (!flags)
		return 0;
	watch_stops();
	executed(pid, task);
	l.flags = all = *flags;
	*flags = all & ~FOLLOW_PROBED;
	l.runs = begins_plain(&l.file);
	if (l.runs && !(all & (FOLLOW_KNOWN | FOLLOW_FIRST)))
		return 0;
	tell(&l, l.runs && !(all & FOLLOW_FIRST) ? 0 : all, 0);
	return 0;
}

/* A child does not inherit probes, since they are filtered by process. So a child whose parent
 * has probes is stopped before its first step: it may never exec. */
SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	u32 from = BPF_CORE_READ(parent, tgid), pid = BPF_CORE_READ(child, tgid);
	struct life l = { .pid = pid, .parent = from, .kind = LIFE_FORK };
	u32 *flags, inherited;

	if (from == pid) /* a thread */
		return 0;
	flags = bpf_map_lookup_elem(&followed, &from);
	if (!flags || !(*flags & FOLLOW_CHILDREN))
		return 0;
	watch_stops();
	inherited = *flags & ~(FOLLOW_KNOWN | FOLLOW_FIRST);
	/* vfork and posix_spawn: the child borrows its parent's memory until its exec, and the parent
	 * may wait for that. The child runs nothing to be measured. */
	if (BPF_CORE_READ(parent, mm) == BPF_CORE_READ(child, mm))
		inherited &= ~FOLLOW_PROBED;
	if (bpf_map_update_elem(&followed, &pid, &inherited, BPF_ANY)) {
		__sync_fetch_and_add(&missed, 1);
		return 0;
	}
	forked(pid, from);
	l.flags = inherited;
	if (inherited & FOLLOW_PROBED)
		tell(&l, handles_continue() ? 0 : inherited, child);
	return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_leave)
{
	continue_overdue();
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task)
{
	u32 pid = bpf_get_current_pid_tgid() >> 32;

	/* A process ends with its last thread, which need not be its first one. Its id may soon
	 * be that of an unrelated process. */
	if (BPF_CORE_READ((struct task_struct___end *)task, signal, live.counter) != 0)
		return 0;
	bpf_map_delete_elem(&followed, &pid);
	bpf_map_delete_elem(&programs, &pid);
	if (pid == tool)
		last_will();
	return 0;
}

/* The dynamic loader calls _dl_debug_state, for debuggers, before and after it changes the list
 * of libraries. After the change r_state is RT_CONSISTENT, and constructors have not run yet.
 * The cookie is the address of r_state, relative to the probed instruction. */
static __always_inline int libraries_changed(struct pt_regs *regs)
{
	u32 pid = bpf_get_current_pid_tgid() >> 32;
	u32 *flags = bpf_map_lookup_elem(&followed, &pid);
	u64 at = bpf_get_attach_cookie(regs);
	struct life l = { .pid = pid, .kind = LIFE_MAP };
	u64 r_state = REG_IP(regs) + at;
	int state = 0;

	ON_KERNEL_STACK();
	if (!flags)
		return 0;
	if (at && (bpf_probe_read_user(&state, sizeof(state), (void *)r_state) || state != 0))
		return 0;
	if (at && nothing_new(pid, r_state))
		return 0;
	l.flags = *flags;
	tell(&l, handles_continue() ? 0 : *flags, 0);
	return 0;
}

SEC("uprobe.multi/x")
int on_libraries_multi(struct pt_regs *regs)
{
	return libraries_changed(regs);
}

SEC("uprobe/x")
int on_libraries_perf(struct pt_regs *regs)
{
	return libraries_changed(regs);
}

char _license[] SEC("license") = "Dual BSD/GPL";
