/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Continues stopped processes when the tool cannot: when it has died, in whatever way, or gives
 * no sign of life any more. That needs bpf_send_signal_task (Linux 6.13). The kernel sends such a
 * signal only while a task with memory of its own runs (nmi_uaccess_okay). So the tracepoint of a
 * task's end has to come before the task gives up its memory (Linux 6.16). On older kernels a
 * process of the tool's, the guardian, has to do it. */
#pragma once

enum pid_type { PIDTYPE_PID, PIDTYPE_TGID };

/* Linux 6.13+. Without this function a child that does not exec is measured from a moment after its
 * start, since it cannot be stopped before its first step. */
extern int bpf_send_signal_task(struct task_struct *task, int sig, enum pid_type type, u64 value) __ksym __weak;
/* Linux 6.2+. */
extern struct task_struct *bpf_task_from_pid(s32 pid) __ksym __weak;
extern void bpf_task_release(struct task_struct *task) __ksym __weak;

/* The tool's process id. When that process ends, all stopped processes are continued. */
const volatile u32 tool = 0;

/* The longest time, in ns, for which a process may be stopped: without a sign of life of the tool
 * (most_silent), and in any case (most_stopped). */
const volatile u64 most_silent = 0, most_stopped = 0;

u64 heard = 0;  /* when the tool last gave a sign of life */
u32 silent = 0; /* the tool gave none for too long, and a process was continued for that */
u32 dead = 0;   /* the tool has ended */
u32 overdue = 0; /* a process was stopped too long, and could not be continued yet */

/* Whether nobody would continue a process: then it must not be stopped. */
static __always_inline int nobody_listens(void)
{
	return *(volatile u32 *)&dead || *(volatile u32 *)&silent;
}

#define EBUSY 16

/* A signal to a process, and what the kernel answered. */
struct signal {
	struct task_struct *task;
	int number, failed;
};

static long try_to_send(u32 n, struct signal *s)
{
	s->failed = bpf_send_signal_task(s->task, s->number, PIDTYPE_TGID, 0);
	return s->failed != -EBUSY;
}

/* Sends a signal to a process. The kernel sends it from an interrupt that the processor raises for
 * itself, and a processor has room for one such signal. If another signal still waits there, the
 * answer is -EBUSY, and the signal is sent again. The verifier would follow each turn of a plain
 * loop, and that took most of the time in which these programs were loaded. */
static __always_inline int send_to(struct task_struct *task, int number)
{
	struct signal s = { .task = task, .number = number };

	bpf_loop(1000, try_to_send, &s, 0);
	return s.failed;
}

/* Continues a process. Returns the kernel's refusal, or 0. That the process has ended is no
 * refusal. */
static __always_inline int go_on(u32 pid)
{
	struct task_struct *task;
	int failed;

	if (!bpf_send_signal_task || !bpf_task_from_pid)
		return 0;
	task = bpf_task_from_pid(pid);
	if (!task)
		return 0;
	failed = send_to(task, SIGCONT);
	bpf_task_release(task);
	return failed;
}

static long let_go(void *map, struct stop *stop, u64 *when, void *unused)
{
	if (*when)
		return 0;
	if (go_on(stop->pid))
		overdue = 1;
	else
		*when = bpf_ktime_get_ns();
	return 0;
}

/* Continues all stopped processes, and lets no further ones be stopped. Called when the tool's last
 * thread ends. That thread still holds the link of this program; links are closed after that. */
static __always_inline void last_will(void)
{
	if (!bpf_send_signal_task || !bpf_task_from_pid)
		return;
	*(volatile u32 *)&dead = 1;
	bpf_for_each_map_elem(&stopped, let_go, 0, 0);
}

/* The interval, in ns, at which a timer looks for processes that were stopped too long. */
#define WATCH_EVERY 500000000ULL

struct watchdog { struct bpf_timer timer; };

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct watchdog);
} watchdogs SEC(".maps");

static long too_long(void *map, struct stop *stop, u64 *when, void *unused)
{
	u64 now = bpf_ktime_get_ns(), since = stop->time > heard ? stop->time : heard;
	int unheard = now > since && now - since > most_silent;

	if (*when || !(unheard || (now > stop->time && now - stop->time > most_stopped)))
		return 0;
	if (unheard)
		silent = 1;
	return let_go(map, stop, when, unused);
}

/* Does what the timer could not. A timer that finds its processor idle cannot send a signal, as no
 * task with memory runs there. Then the next task that leaves a processor sends the signal. */
static __always_inline void continue_overdue(void)
{
	if (!*(volatile u32 *)&overdue)
		return;
	overdue = 0;
	bpf_for_each_map_elem(&stopped, too_long, 0, 0);
}

static int look(void *map, u32 *key, struct watchdog *w)
{
	bpf_for_each_map_elem(&stopped, too_long, 0, 0);
	bpf_timer_start(&w->timer, WATCH_EVERY, 0);
	return 0;
}

/* Starts the timer when the first process may be stopped. */
static __always_inline void watch_stops(void)
{
	static u32 begun;
	struct watchdog *w;
	u32 only = 0;

	if (!bpf_send_signal_task || !bpf_task_from_pid || begun)
		return;
	w = bpf_map_lookup_elem(&watchdogs, &only);
	if (!w)
		return;
	begun = 1;
	/* 1 is CLOCK_MONOTONIC. */
	if (bpf_timer_init(&w->timer, &watchdogs, 1) || bpf_timer_set_callback(&w->timer, look))
		return;
	bpf_timer_start(&w->timer, WATCH_EVERY, 0);
}
