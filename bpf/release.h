/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Ends stops that nobody else ends: when the tool dies, by whatever it may be, and
 * when it is not heard of any more. That takes bpf_send_signal_task (Linux 6.13);
 * without it a process of ours, the guardian, has to do. */
#pragma once

enum pid_type { PIDTYPE_PID, PIDTYPE_TGID };

/* Linux 6.13+. Without it a child that does not exec is measured from a moment
 * after its start. */
extern int bpf_send_signal_task(struct task_struct *task, int sig, enum pid_type type, u64 value) __ksym __weak;
/* Linux 6.2+. */
extern struct task_struct *bpf_task_from_pid(s32 pid) __ksym __weak;
extern void bpf_task_release(struct task_struct *task) __ksym __weak;

/* Our process; its end lets everybody go on. */
const volatile u32 tool = 0;

/* The longest that a process may be stopped, ns: where nothing is heard of the
 * tool, and at all. */
const volatile u64 most_silent = 0, most_stopped = 0;

u64 heard = 0;  /* when the tool last gave a sign of life */
u32 silent = 0; /* it has not since somebody was let go for that */
u32 dead = 0;

/* Whom nobody will continue must not be stopped. */
static __always_inline int nobody_listens(void)
{
	return *(volatile u32 *)&dead || *(volatile u32 *)&silent;
}

#define EBUSY 16

/* A processor has room for one signal that waits for its next interrupt, which it
 * sends itself. */
static __always_inline void send_to(struct task_struct *task, int sig)
{
	for (int i = 0; i < 1000; i++)
		if (bpf_send_signal_task(task, sig, PIDTYPE_TGID, 0) != -EBUSY)
			break;
}

static __always_inline void go_on(u32 pid)
{
	struct task_struct *task;

	if (!bpf_send_signal_task || !bpf_task_from_pid)
		return;
	task = bpf_task_from_pid(pid);
	if (!task)
		return;
	send_to(task, SIGCONT);
	bpf_task_release(task);
}

static long let_go(void *map, struct stop *stop, u64 *when, void *unused)
{
	if (!*when) {
		*when = bpf_ktime_get_ns();
		go_on(stop->pid);
	}
	return 0;
}

/* The tool's last thread ends: nobody will be stopped any more, and who is goes
 * on. That thread still holds this program's link; links go after that. */
static __always_inline void last_will(void)
{
	if (!bpf_send_signal_task || !bpf_task_from_pid)
		return;
	*(volatile u32 *)&dead = 1;
	bpf_for_each_map_elem(&stopped, let_go, 0, 0);
}

/* Looks every so often for who has been stopped too long. */
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

static int look(void *map, u32 *key, struct watchdog *w)
{
	bpf_for_each_map_elem(&stopped, too_long, 0, 0);
	bpf_timer_start(&w->timer, WATCH_EVERY, 0);
	return 0;
}

/* Begins to look, at the first process that may be stopped. */
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
	if (bpf_timer_init(&w->timer, &watchdogs, 1 /* CLOCK_MONOTONIC */) || bpf_timer_set_callback(&w->timer, look))
		return;
	bpf_timer_start(&w->timer, WATCH_EVERY, 0);
}
