//go:build ignore

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Reports when and why threads of measured processes were off their cores.
#include "fold.h"
#include "sched.h"
#include <bpf/bpf_tracing.h>

const struct away_record *unused_away __attribute__((unused));
const struct watched *unused_watched __attribute__((unused));
const enum away_flag *unused_away_flag __attribute__((unused));

/* Processes whose threads are watched. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, u32);
	__type(value, struct watched);
} watching SEC(".maps");

/* A watched thread since it last left its core. */
struct away {
	u64 since;   /* that of the process; if it differs, an older thread had the same id */
	u64 off;     /* when it left its core; 0: it has one */
	u64 woken;   /* when it was last woken */
	u64 ready;   /* since when it has been in the queue of its core */
	u64 ran;     /* the scheduler's sum_exec_runtime at off, ns */
	u64 on;      /* when it last got a core */
	u64 ran_on;  /* sum_exec_runtime at on, ns */
	u32 asleep;  /* it went to sleep */
	u32 moves, lost;
	u32 pad;
};

/* By thread id. The map has all its memory from the start: none may be allocated while threads are
 * switched. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 32768);
	__type(key, u32);
	__type(value, struct away);
} aways SEC(".maps");

/* The processes that have had a core, turn by turn. A walk goes back only to the turn in which the
 * thread became ready, so it is short. */
#define TURNS 256
struct turn {
	u64 until;
	u32 pid; /* 0: it was idle */
	u32 pad;
	char name[NAME_BYTES];
};
struct turns {
	struct turn turn[TURNS];
	u32 next;
	u32 pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct turns);
} history SEC(".maps");

struct sched_entity { u64 sum_exec_runtime; } __attribute__((preserve_access_index));
struct task_struct___sched {
	unsigned int __state;
	struct sched_entity se;
	struct task_struct___sched *group_leader;
	char comm[NAME_BYTES];
} __attribute__((preserve_access_index));

#define STATE_DEAD 0x80 /* TASK_DEAD */

static __always_inline struct watched *watched(u32 pid)
{
	return pid ? bpf_map_lookup_elem(&watching, &pid) : 0;
}

/* Notes that a task leaves this core. */
static __always_inline struct turns *end_turn(struct task_struct *task, u64 now)
{
	struct task_struct___sched *leader = ((struct task_struct___sched *)task)->group_leader;
	u32 zero = 0;
	struct turns *h = bpf_map_lookup_elem(&history, &zero);
	struct turn *t;

	if (!h)
		return 0;
	t = &h->turn[(h->next - 1) & (TURNS - 1)];
	if (t->pid == task->tgid) { /* another thread of that process was here just before */
		t->until = now;
		return h;
	}
	t = &h->turn[h->next++ & (TURNS - 1)];
	t->until = now;
	t->pid = task->tgid;
	if (t->pid)
		bpf_probe_read_kernel(t->name, sizeof(t->name), leader->comm);
	return h;
}

/* The part of a turn that lay after a time, in ns. The turn is the i-th from the last one. */
static __always_inline u64 turn_since(struct turns *h, u32 i, u64 from)
{
	u64 begin = h->turn[(h->next - 2 - i) & (TURNS - 1)].until;
	u64 until = h->turn[(h->next - 1 - i) & (TURNS - 1)].until;

	if (begin < from)
		begin = from;
	return until > begin ? until - begin : 0;
}

/* A walk through the turns since a time, from the last one. */
struct walk {
	struct turns *h;
	struct away_record *r;
	u64 from, longest;
	u32 most; /* index of the longest turn */
	u32 pad;
};

static long add_turn(u32 i, struct walk *w)
{
	u64 t = turn_since(w->h, i, w->from);
	u32 at = (w->h->next - 1 - i) & (TURNS - 1), pid = w->h->turn[at].pid;

	if (!t)
		return 1;
	if (pid == w->r->pid)
		w->r->own += t;
	else if (pid)
		w->r->foreign += t;
	if (pid && t > w->longest) {
		w->longest = t;
		w->most = at;
	}
	return 0;
}

static long add_rival(u32 i, struct walk *w)
{
	u64 t = turn_since(w->h, i, w->from);

	if (w->h->turn[(w->h->next - 1 - i) & (TURNS - 1)].pid == w->r->by)
		w->r->by_time += t;
	return !t;
}

/* Finds the processes that have had this core since a time. The verifier would follow each turn of
 * plain loops (bpf_loop: Linux 5.17). */
static __always_inline void find_rivals(struct turns *h, struct away_record *r, u64 from)
{
	struct walk w = {.h = h, .r = r, .from = from};
	struct turn *t;

	bpf_loop(TURNS - 1, add_turn, &w, 0);
	if (!w.longest)
		return;
	t = &h->turn[w.most & (TURNS - 1)];
	r->by = t->pid;
	__builtin_memcpy(r->by_name, t->name, NAME_BYTES);
	bpf_loop(TURNS - 1, add_rival, &w, 0);
}

/* Writes that a thread got a core again. The thread's open constructs are written first, so that
 * the reader can tell in which of them the thread was. h may be NULL. */
static __always_inline void came_back(struct watched *w, struct away *a, struct task_struct *task, struct turns *h, u64 at)
{
	struct thread_state *t = may_have_folded() ? bpf_task_storage_get(&threads, task, 0, 0) : 0;
	struct away_record *r;

	if (t && !t->busy && !is_settled(t))
		settle_state(t, address_of(task), 0, 0);
	r = half_full(task->pid) ? 0 : reserve(task->pid, sizeof(*r));
	if (!r) {
		a->lost++;
		__sync_fetch_and_add(&w->lost, 1);
		if (a->off)
			__sync_fetch_and_add(&w->lost_time, at - a->off);
		return;
	}
	__builtin_memset(r, 0, sizeof(*r));
	r->time = at;
	r->pid = task->tgid;
	r->tid = task->pid;
	r->flags = REC_AWAY;
	r->lost = a->lost;
	r->off = a->off;
	if (a->off && a->asleep)
		r->woken = a->woken > a->off ? a->woken : a->off;
	r->moves = a->moves;
	if (h && a->off)
		find_rivals(h, r, a->ready);
	a->lost = 0;
	__sync_fetch_and_add(&w->written, 1);
	submit(r, sizeof(*r));
}

/* The state of a watched thread. is_new is set if there was none. */
static __always_inline struct away *away_of(struct watched *w, u32 tid, int *is_new)
{
	struct away *a = bpf_map_lookup_elem(&aways, &tid);
	struct away first = {};

	*is_new = 0;
	if (a && a->since == w->since)
		return a;
	*is_new = 1;
	first.since = w->since;
	if (bpf_map_update_elem(&aways, &tid, &first, BPF_ANY)) {
		__sync_fetch_and_add(&w->lost, 1);
		return 0;
	}
	return bpf_map_lookup_elem(&aways, &tid);
}

/* A watched thread gets this core. */
static __always_inline void put_on(struct watched *w, struct task_struct *to, struct turns *h, u64 now)
{
	u64 ran = ((struct task_struct___sched *)to)->se.sum_exec_runtime;
	int is_new;
	struct away *a = away_of(w, to->pid, &is_new);

	if (!a)
		return;
	if (!a->off && !is_new) { /* Linux did not tell that it left its core */
		a->off = a->ready = a->on + (ran - a->ran_on);
		a->asleep = a->woken > a->off;
		if (a->asleep)
			a->ready = a->woken;
		__sync_fetch_and_add(&w->unseen, 1);
	}
	if (a->off < now)
		came_back(w, a, to, h, now);
	a->off = 0;
	a->on = now;
	a->ran_on = ran;
}

/* A watched thread leaves this core. */
static __always_inline void take_off(struct watched *w, struct task_struct *from, int asleep, u64 now)
{
	struct task_struct___sched *task = (void *)from;
	u64 ran = task->se.sum_exec_runtime;
	int is_new;
	struct away *a = away_of(w, from->pid, &is_new);

	if (!a)
		return;
	if (a->off) {
		/* Linux does not always tell of a switch (counters.h). The scheduler's account
		 * tells how long the thread has had a core since. */
		u64 had = ran - a->ran;

		__sync_fetch_and_add(&w->unseen, 1);
		if (had < now - a->off)
			came_back(w, a, from, 0, now - had);
	}
	a->off = a->ready = now;
	a->ran = ran;
	a->asleep = asleep;
	a->moves = 0;
}

/* Runs whenever a CPU changes threads (tp_btf: 5.5). */
SEC("tp_btf/sched_switch")
int BPF_PROG(sched_changes, _Bool preempt, struct task_struct *from, struct task_struct *to)
{
	u64 now = bpf_ktime_get_ns();
	struct turns *h = end_turn(from, now);
	struct watched *w = watched(from->tgid);
	u32 state = ((struct task_struct___sched *)from)->__state, tid = from->pid;

	if (state & STATE_DEAD)
		bpf_map_delete_elem(&aways, &tid);
	else if (w)
		take_off(w, from, !preempt && state, now);
	w = watched(to->tgid);
	if (w)
		put_on(w, to, h, now);
	return 0;
}

/* A thread is woken. */
SEC("tp_btf/sched_waking")
int BPF_PROG(sched_wakes, struct task_struct *task)
{
	u32 tid = task->pid;
	struct away *a = watched(task->tgid) ? bpf_map_lookup_elem(&aways, &tid) : 0;

	if (a)
		a->woken = a->ready = bpf_ktime_get_ns();
	return 0;
}

/* A thread gets another core's queue. */
SEC("tp_btf/sched_migrate_task")
int BPF_PROG(sched_moves, struct task_struct *task)
{
	u32 tid = task->pid;
	struct away *a = watched(task->tgid) ? bpf_map_lookup_elem(&aways, &tid) : 0;

	if (a) {
		a->moves++;
		a->ready = bpf_ktime_get_ns();
	}
	return 0;
}

char _license[] SEC("license") = "Dual BSD/GPL";
