//go:build ignore

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Reports the calls of MPI operations, one record each, when they return.
#include "mpi_args.h"
#include <bpf/bpf_tracing.h>
#include "mpi_requests.h"

/* The process whose open calls mpi_open_calls reports. */
u32 open_calls_of = 0;

const struct mpi_record *unused_record __attribute__((unused));
const struct mpi_stack_record *unused_stack_record __attribute__((unused));
const enum mpi_what *unused_what __attribute__((unused));
const enum mpi_row_flag *unused_row_flag __attribute__((unused));
const enum mpi_flag *unused_flag __attribute__((unused));

/* Handles a hit at an entry. Returns 1 if the call's return need not be hit. Only sessions can
 * make use of that answer. */
static __always_inline int on_entry(struct pt_regs *regs, struct task_struct *task, u64 cookie, int sleeps)
{
	u32 index = cookie;
	struct mpi_row *row = bpf_map_lookup_elem(&mpi_rows, &index);
	struct mpi_thread *t;
	struct mpi_record *c;
	u64 base;

	if (!row || not_measured(cookie) || is_silent())
		return 1;
	t = thread_of(task, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!t)
		return 1;
	c = &t->call;
	/* This call is made from inside the open one, by the library or by the program: it is
	 * ignored. If the open call's frame is not above this one's any more, the open call was
	 * left by longjmp or an exception. */
	if (c->start && REG_SP(regs) < c->sp)
		return 1;
	base = REG_IP(regs) - row->vaddr;
	__builtin_memset(c, 0, sizeof(*c));
	c->pid = task->tgid;
	c->tid = task->pid;
	c->row = index;
	c->sp = REG_SP(regs);
	t->probe = REG_IP(regs);
	know_process(t);
	c->site = take_arguments(regs, row, t);
	c->comm = word(t, row->comm);
	c->peer = word(t, row->peer);
	c->peer2 = word(t, row->peer2);
	c->tag = word(t, row->tag);
	c->recv_tag = word(t, row->recv_tag);
	t->status_at = 0;
	t->came = 0;
	look_at_data(row, t, base, sleeps);
	if (row->flags & (MPI_ROW_START | MPI_ROW_START_ALL | MPI_ROW_FORGET)) {
		u64 at = word(t, row->request);

		c->start = bpf_ktime_get_ns();
		if (row->flags & MPI_ROW_START)
			started(t, stored_handle(row->library, at), REG_BP(regs));
		if (row->flags & MPI_ROW_FORGET) {
			struct mpi_key key = { .handle = stored_handle(row->library, at), .pid = c->pid };

			if (row->flags & MPI_ROW_MATCHED) {
				u64 *birth = bpf_map_lookup_elem(&mpi_births, &key);

				c->birth = birth ? *birth : 0;
			}
			bpf_map_delete_elem(&mpi_requests, &key);
			bpf_map_delete_elem(&mpi_neighbors, &key);
			bpf_map_delete_elem(&mpi_births, &key);
		}
		if (row->flags & MPI_ROW_START_ALL) {
			struct mpi_library *l = bpf_map_lookup_elem(&mpi_libraries, &row->library);
			struct start_all s = { .at = at, .bp = REG_BP(regs), .n = count_of(row, word(t, row->requests)),
				.bytes = l && l->handle32 ? 4 : 8 };

			if (sleeps)
				bpf_loop(s.n, start_one, &s, 0);
			else
				started(t, 0, REG_BP(regs));
		}
	}
	if (row->flags & (MPI_ROW_GRAPH | MPI_ROW_GRID)) {
		c->np = word(t, row->send_count);
		c->in = word(t, row->recv_count);
		if (row->flags & MPI_ROW_GRID)
			c->np = c->in = 2 * c->np;
	}
	t->result_at = word(t, row->request);
	if (row->flags & MPI_ROW_MESSAGE && row->comm == MPI_NO_ARG) /* the call forgets the handle */
		c->birth = stored_handle(row->library, word(t, row->statuses));
	if (row->flags & MPI_ROW_MAKES_GROUP)
		t->result_at = word(t, row->status);
	if (row->flags & (MPI_ROW_COMM | MPI_ROW_WINDOW))
		t->base = base;
	t->wait = core_wait_of(task);
	if (row->flags & MPI_ROW_BEGINS)
		c->comm = base;
	c->start = bpf_ktime_get_ns();
	if (row->flags & (MPI_ROW_WAITS | MPI_ROW_MAKES_GROUP)) {
		ask_all(row, t, sleeps);
		c->start = bpf_ktime_get_ns();
	}
	if (!(row->flags & MPI_ROW_NO_RETURN))
		return 0;
	c->time = c->start;
	c->flags |= MPI_UNFINISHED;
	tell_all(REG_BP(regs), t, c);
	c->start = 0;
	return 1;
}

/* Notes the communicator, window or group that a call has made. Groups are never forgotten: the
 * handle of a freed group may still name a group for others. Each call that gives the handle notes
 * it anew. */
static __always_inline void made(struct mpi_row *row, struct mpi_thread *t)
{
	struct mpi_record *c = &t->call;
	struct mpi_key key = { .handle = stored_handle(row->library, t->result_at), .pid = c->pid };

	bpf_map_update_elem(&mpi_births, &key, &c->time, BPF_ANY);
	if (row->flags & MPI_ROW_MAKES_GROUP)
		return;
	c->np = c->rank = 0;
	if (row->flags & MPI_ROW_WINDOW)
		return;
	c->np = evaluate(row->library, MPI_COMM_SIZE, key.handle, t->base);
	c->rank = evaluate(row->library, MPI_COMM_RANK, key.handle, t->base);
	if (evaluate(row->library, MPI_COMM_INTER, key.handle, t->base) != 0)
		c->flags |= MPI_INTER;
}

/* Takes what is known only when a call returns. */
static __always_inline void look_at_result(struct pt_regs *regs, struct mpi_row *row, struct mpi_thread *t)
{
	struct mpi_record *c = &t->call;
	s32 source;

	if (row->flags & MPI_ROW_SOME)
		tell_complete(row, t, REG_RET(regs));
	if (t->came && (u32)REG_RET(regs) == 0)
		tell_wild(row, t);
	if (row->flags & MPI_ROW_MESSAGE && row->comm != MPI_NO_ARG)
		took(row, t, REG_RET(regs));
	if (row->flags & MPI_ROW_BEGUN) /* MPI_Comm_idup: its communicator will be at result_at */
		c->request = stored_handle(row->library, row->flags & MPI_ROW_COMM ? word(t, row->status) : t->result_at);
	if ((row->flags & (MPI_ROW_BEGUN | MPI_ROW_KEEP)) == MPI_ROW_BEGUN)
		note_wild(row, c);
	if (row->flags & MPI_ROW_BEGINS) {
		u64 base = c->comm; /* put there by on_entry: these calls have no communicator */
		u64 world = evaluate(row->library, MPI_WORLD, 0, base);

		c->np = evaluate(row->library, MPI_COMM_SIZE, world, base);
		c->rank = evaluate(row->library, MPI_COMM_RANK, world, base);
		c->tag = t->result_at ? read_u32(t->result_at) : 0;
		c->comm = world;
	}
	if (row->flags & (MPI_ROW_KEEP | MPI_ROW_GRAPH | MPI_ROW_GRID) && (u32)REG_RET(regs) == 0) {
		struct mpi_key key = { .handle = stored_handle(row->library, t->result_at), .pid = c->pid };
		struct mpi_degrees d = { .in = c->in, .out = c->np };

		if (row->flags & MPI_ROW_KEEP)
			bpf_map_update_elem(&mpi_requests, &key, c, BPF_ANY);
		else
			bpf_map_update_elem(&mpi_neighbors, &key, &d, BPF_ANY);
	}
	if (row->flags & (MPI_ROW_COMM | MPI_ROW_WINDOW | MPI_ROW_MAKES_GROUP) && (u32)REG_RET(regs) == 0)
		made(row, t);
	if (t->status_at && (u32)REG_RET(regs) == 0 &&
	    !read_user(&source, sizeof(source), t->status_at)) {
		if (row->peer2 == MPI_NO_ARG)
			c->peer = source;
		else
			c->peer2 = source;
		/* int source, tag */
		if (row->flags & MPI_ROW_MATCHED)
			c->recv_tag = read_u32(t->status_at + sizeof(source));
	}
}

static __always_inline void on_return(struct pt_regs *regs, struct task_struct *task)
{
	u64 now = bpf_ktime_get_ns();
	struct mpi_thread *t = thread_of(task, 0);
	struct mpi_row *row;
	struct mpi_record *c;
	u32 index;

	/* Calls that are nested in the open one return with another stack pointer. */
	if (!t || !t->call.start || t->call.sp != REG_SP(regs) - 8 * RETURN_ON_STACK)
		return;
	c = &t->call;
	index = c->row;
	row = bpf_map_lookup_elem(&mpi_rows, &index);
	if (row && !is_silent()) {
		c->time = now;
		if (row->flags & (MPI_ROW_BEGINS | MPI_ROW_KEEP | MPI_ROW_GRAPH | MPI_ROW_GRID | MPI_ROW_COMM | MPI_ROW_WINDOW |
				  MPI_ROW_BEGUN | MPI_ROW_SOME | MPI_ROW_MAKES_GROUP | MPI_ROW_MESSAGE) || t->status_at || t->came)
			look_at_result(regs, row, t);
		if ((u32)REG_RET(regs) != 0)
			c->flags |= MPI_FAILED;
		c->site = REG_IP(regs);
		tell_all(REG_BP(regs), t, c);
	}
	c->start = 0;
}

static __always_inline int session(struct pt_regs *regs, int sleeps)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();

	ON_KERNEL_STACK();
	if (is_return(task))
		on_return(regs, task);
	else
		return on_entry(regs, task, uprobe_cookie(regs, task), sleeps);
	return 0;
}

/* One program for each kind of probe, as in probe.bpf.c. The programs that end in _sleeps may
 * sleep: they can read arrays of any length, even if pages of the arrays are not resident. */
SEC("uprobe.session/x")
int mpi_session(struct pt_regs *regs) { return session(regs, 0); }

SEC("uprobe.session.s/x")
int mpi_session_sleeps(struct pt_regs *regs) { return session(regs, 1); }

#define ENTRY(name, section, sleeps) \
SEC(section) \
int name(struct pt_regs *regs) \
{ \
	ON_KERNEL_STACK(); \
	on_entry(regs, (void *)bpf_get_current_task_btf(), bpf_get_attach_cookie(regs), sleeps); \
	return 0; \
}
ENTRY(mpi_entry_multi, "uprobe.multi/x", 0)
ENTRY(mpi_entry_multi_sleeps, "uprobe.multi.s/x", 1)
ENTRY(mpi_entry_perf, "uprobe/x", 0)
ENTRY(mpi_entry_perf_sleeps, "uprobe.s/x", 1)

#define RETURN(name, section) \
SEC(section) \
int name(struct pt_regs *regs) \
{ \
	ON_KERNEL_STACK(); \
	on_return(regs, (void *)bpf_get_current_task_btf()); \
	return 0; \
}
RETURN(mpi_return_multi, "uretprobe.multi/x")
RETURN(mpi_return_perf, "uretprobe/x")

/* Reports a call that is still open. */
static __always_inline void cut_off(u64 task, struct mpi_thread *t)
{
	t->call.time = bpf_ktime_get_ns();
	t->call.flags |= MPI_UNFINISHED;
	if (!t->call.site)
		t->call.site = site_of_open(task, t->call.sp, t->probe);
	tell(&t->call, 0);
	t->call.start = 0;
}

/* A thread ends inside a call (tp_btf: Linux 5.5). */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(mpi_exit, struct task_struct *task)
{
	struct mpi_thread *t = this_thread(0);

	if (t && t->call.start)
		cut_off(bpf_get_current_task(), t);
	return 0;
}

/* Reports the open calls of the process asked. */
SEC("iter/task")
int mpi_open_calls(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct mpi_thread *t;

	if (!task || task->tgid != open_calls_of)
		return 0;
	t = bpf_task_storage_get(&mpi_threads, task, 0, 0);
	if (t && t->call.start)
		cut_off(address_of(task), t);
	return 0;
}

char _license[] SEC("license") = "Dual BSD/GPL";
