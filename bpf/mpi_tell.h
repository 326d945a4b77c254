/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions that write the records of MPI calls, for the tool to read. Part of mpi.bpf.c. */
#pragma once
#include "mpi_args.h"

/* Records dropped, by row. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAX_MPI_ROWS);
	__type(key, u32);
	__type(value, u64);
} mpi_dropped SEC(".maps");

/* Processes that have language bindings. wrapped_changes says how often the map has changed. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, u32);
	__type(value, struct mpi_wrappers);
} mpi_wrapped SEC(".maps");

u32 wrapped_changes = 0;

/* Copies what is known of the process to a new thread's state, and again when that may have
 * changed. */
static __always_inline void know_process(struct mpi_thread *t)
{
	struct mpi_wrappers *w;

	if (t->generation == wrapped_changes)
		return;
	w = bpf_map_lookup_elem(&mpi_wrapped, &t->call.pid);
	__builtin_memset(&t->wrappers, 0, sizeof(t->wrappers));
	__builtin_memset(t->sizes, 0, sizeof(t->sizes));
	__builtin_memset(t->comms, 0, sizeof(t->comms));
	if (w)
		t->wrappers = *w;
	t->generation = wrapped_changes;
}

/* Whether an address lies in a language binding of this process. */
static __always_inline int is_wrapper(struct mpi_thread *t, u64 addr)
{
	int i;

	for (i = 0; i < MPI_WRAPPERS; i++) {
		if (addr - t->wrappers.is[i].lo < t->wrappers.is[i].size)
			return 1;
		if (!t->wrappers.is[i].size)
			break;
	}
	return 0;
}

/* Writes a call's record. own says that the current thread makes the call. */
static __always_inline void tell(const struct mpi_record *c, int own)
{
	struct mpi_record *r = reserve(c->tid, sizeof(*r));

	if (!r) {
		drop(&mpi_dropped, c->row);
		return;
	}
	__builtin_memcpy(r, c, sizeof(*r));
	r->lost = own ? take_lost() : 0;
	submit(r, sizeof(*r));
}

/* Writes the record of a call by a language binding, with the stack that holds the binding's frame
 * and its caller's. Pages of the stack that nobody has touched yet are not there and cannot be
 * read. Then only the words before the first such page are read. */
static __always_inline void tell_with_stack(u64 bp, const struct mpi_record *c, u32 size)
{
	struct mpi_stack_record *r = reserve(c->tid, sizeof(*r) + size);
	u64 from = c->sp + 8 * RETURN_ON_STACK;
	u32 at, end;

	if (!r) {
		drop(&mpi_dropped, c->row);
		return;
	}
	__builtin_memcpy(&r->call, c, sizeof(*c));
	r->call.lost = take_lost();
	r->bp = bp;
	if (bpf_probe_read_user(r + 1, size, (void *)from)) {
		for (at = 0; at < size; at += MPI_STACK_PIECE)
			if (bpf_probe_read_user((void *)(r + 1) + at, MPI_STACK_PIECE, (void *)(from + at)))
				break;
		for (end = at + MPI_STACK_PIECE; at < end && at < size; at += 8)
			if (bpf_probe_read_user((void *)(r + 1) + at, 8, (void *)(from + at)))
				break;
	}
	submit(r, sizeof(*r) + size);
}

/* Reports a thread's time without a core, before its call's record. */
static __always_inline void tell_wait_before(struct mpi_thread *t, struct mpi_record *c)
{
	u64 total = core_wait(), inside = total - t->wait;
	struct thread_state *s;

	if (total < CORE_WAIT_STEP || total == t->wait_seen)
		return;
	s = this_thread_state(BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!s)
		return;
	t->wait_seen = total;
	if (total - s->wait_told < CORE_WAIT_STEP)
		return;
	/* such records are written at the call's entry */
	if (c->flags & (MPI_STARTED | MPI_UNFINISHED))
		inside = 0;
	tell_core_wait(s, (u64)c->pid << 32 | c->tid, c->time, total, inside);
}

VERIFIED_ONCE int tell_all(u64 bp, struct mpi_thread *t, struct mpi_record *c)
{
	if (!t || !c)
		return 0;
	settle();
	tell_wait_before(t, c);
	if (!is_wrapper(t, c->site))
		tell(c, 1);
	else if (t->wrappers.deep)
		tell_with_stack(bp, c, MPI_DEEP_STACK_BYTES);
	else
		tell_with_stack(bp, c, MPI_STACK_BYTES);
	return 0;
}
