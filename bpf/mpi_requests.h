/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Requests: which ones a call starts, waits for, or says are complete. Part of mpi.bpf.c. */
#pragma once
#include "mpi_tell.h"
#include "mpi_wild.h"

/* Persistent requests: the record of the call that prepared the request, which says what each
 * start moves. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 32768);
	__type(key, struct mpi_key);
	__type(value, struct mpi_record);
} mpi_requests SEC(".maps");

/* A handle that the library has stored at an address, or 0. */
static __always_inline u64 stored_handle(u32 library, u64 at)
{
	struct mpi_library *l = bpf_map_lookup_elem(&mpi_libraries, &library);

	if (!l || !at)
		return 0;
	return l->handle32 ? read_u32(at) : read_u64(at);
}

/* Reports that a persistent operation begins. */
static __always_inline void started(struct mpi_thread *t, u64 handle, u64 bp)
{
	struct mpi_record *call = &t->call;
	struct mpi_key key = { .handle = handle, .pid = call->pid };
	struct mpi_record *kept = bpf_map_lookup_elem(&mpi_requests, &key);
	struct mpi_record *r = &t->begun;

	__builtin_memcpy(r, kept ? kept : call, sizeof(*r));
	if (!kept) /* prepared before the measurement began */
		r->flags |= MPI_UNREAD_SEND | MPI_UNREAD_RECV | MPI_UNREAD_COMM;
	r->flags |= MPI_STARTED;
	r->tid = call->tid;
	r->sp = call->sp;
	r->site = call->site;
	r->time = r->start = call->start;
	r->request = handle;
	note_wild(row_of(r), r);
	tell_all(bp, t, r);
}

struct start_all {
	u64 at, bp;
	u32 n, bytes;
};

static long start_one(u32 i, struct start_all *s)
{
	struct mpi_thread *t = this_thread(0);
	u64 handle = 0;

	if (!t || !take_element(t->counts, s->at, i, s->n, s->bytes, &handle))
		return 1;
	started(t, handle, s->bp);
	return 0;
}

/* Reports a request that the open call waits for. No event is made of such a record, so the losses
 * are left to the record of the call. */
static __always_inline void asked_for(struct mpi_record *c, u64 handle)
{
	struct mpi_record *r = reserve(c->tid, sizeof(*r));

	if (!r) {
		drop(&mpi_dropped, c->row);
		return;
	}
	__builtin_memcpy(r, c, sizeof(*r));
	r->lost = 0;
	r->time = c->start;
	r->flags |= MPI_ASKED;
	r->request = handle;
	submit(r, sizeof(*r));
}

static long ask_one(u32 i, struct start_all *s)
{
	struct mpi_thread *t = this_thread(0);
	u64 handle = 0;

	if (!t)
		return 1;
	if (!take_element(t->counts, s->at, i, s->n, s->bytes, &handle)) {
		t->call.flags |= MPI_UNASKED;
		return 1;
	}
	asked_for(&t->call, handle);
	keep_wild(t, handle, i);
	return 0;
}

/* Keeps the requests of a call that waits until some of them are complete (MPI_ROW_SOME). At its
 * return the call tells which. */
static __always_inline void keep_requests(struct mpi_thread *t, u64 from, u32 n, u32 bytes, int sleeps)
{
	u64 size = (u64)n * bytes;

	t->asked = n;
	asm volatile("" : "+r"(size)); /* so that the value compared is the value used */
	if (n > MPI_MOST_KEPT || size > sizeof(t->requests) ||
	    (sleeps ? bpf_copy_from_user(t->requests, size, (void *)from) :
		      bpf_probe_read_user(t->requests, size, (void *)from)))
		t->call.flags |= MPI_UNASKED;
}

/* Notes the message that a call has taken. A call that looks for one may have found none: then
 * there is no status. */
static __always_inline void took(struct mpi_row *row, struct mpi_thread *t, u32 failed)
{
	u64 found = word(t, row->requests);
	s32 is = 1;

	if (failed || (found && read_user(&is, sizeof(is), found))) {
		t->call.flags |= MPI_UNASKED;
		return;
	}
	if (is)
		t->call.request = stored_handle(row->library, word(t, row->statuses));
	else
		t->status_at = 0;
}

struct tell_some {
	u64 which, statuses, status_size;
	u32 bytes, pad;
};

static long tell_one(u32 i, struct tell_some *s)
{
	struct mpi_thread *t = this_thread(0);
	u64 handle;
	u32 at;

	if (!t || bpf_probe_read_user(&at, sizeof(at), (void *)(s->which + 4 * (u64)i)))
		goto unread;
	if (at >= t->asked) /* MPI_UNDEFINED: there was none */
		return 1;
	asm volatile("" : "+r"(at));
	at &= MPI_MOST_KEPT - 1; /* changes nothing: for the verifier */
	handle = s->bytes == 8 ? t->requests[at] : ((u32 *)t->requests)[at];
	asked_for(&t->call, handle);
	if (s->statuses && forget_wild(&t->call, handle))
		came(&t->call, handle, s->statuses + i * s->status_size);
	return 0;
unread:
	if (t)
		t->call.flags |= MPI_UNASKED;
	return 1;
}

/* Reports the requests that a call says are complete. */
static __always_inline void tell_complete(struct mpi_row *row, struct mpi_thread *t, u32 failed)
{
	struct mpi_library *l = bpf_map_lookup_elem(&mpi_libraries, &row->library);
	struct tell_some s = { .which = word(t, row->recv_tag), .bytes = l && l->handle32 ? 4 : 8 };
	s32 n = 1;

	if (t->call.flags & MPI_UNASKED)
		return;
	if (wild && l) {
		s.statuses = statuses_at(row, l, t);
		s.status_size = l->status_size;
	}
	if (failed || (row->status != MPI_NO_ARG && read_user(&n, sizeof(n), word(t, row->status))))
		t->call.flags |= MPI_UNASKED;
	else if (n > 0 && n <= MPI_MOST_KEPT) /* MPI_UNDEFINED is less than 0 */
		bpf_loop(n, tell_one, &s, 0);
}

/* Most requests that are reported of a call. */
#define MPI_MOST_ASKED 1024

/* Reports the requests that a call waits for: all count as complete when the call returns. With
 * MPI_ROW_SOME it only keeps them, for tell_complete. Of a call that makes a group, it reports the
 * array of ints by which the call does. */
static __always_inline void ask_all(struct mpi_row *row, struct mpi_thread *t, int sleeps)
{
	struct mpi_library *l = bpf_map_lookup_elem(&mpi_libraries, &row->library);
	struct start_all s = { .at = word(t, row->request), .bytes = l && l->handle32 ? 4 : 8 };

	if (row->flags & MPI_ROW_MAKES_GROUP) {
		if (row->requests == MPI_NO_ARG)
			return;
		s.bytes = 4;
	}
	settle();
	if (row->requests == MPI_NO_ARG) {
		u64 handle = stored_handle(row->library, s.at);

		asked_for(&t->call, handle);
		keep_wild(t, handle, 0);
		return;
	}
	s.n = count_of(row, word(t, row->requests));
	if (row->flags & MPI_ROW_MAKES_GROUP)
		s.n = s.n > MPI_MOST_ASKED ? s.n : s.n * row->ints;
	if (row->flags & MPI_ROW_SOME) {
		keep_requests(t, s.at, s.n, s.bytes, sleeps);
		return;
	}
	if (!sleeps || s.n > MPI_MOST_ASKED) {
		t->call.flags |= MPI_UNASKED;
		return;
	}
	if (sleeps)
		bpf_loop(s.n, ask_one, &s, 0);
}
