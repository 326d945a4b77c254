/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Requests of receives from any source, or of any tag. The status of the call that completes such a
 * request tells the source and the tag. Part of mpi.bpf.c. */
#pragma once

static __always_inline struct mpi_row *row_of(struct mpi_record *c)
{
	u32 index = c->row;

	return bpf_map_lookup_elem(&mpi_rows, &index);
}

/* Notes the request that a call makes, or starts, if it receives from any source, or any tag. */
static __always_inline void note_wild(struct mpi_row *row, struct mpi_record *c)
{
	struct mpi_key key = { .handle = c->request, .pid = c->pid };
	struct mpi_library *l;
	s32 source;
	u32 one = 1;

	if (!row || row->recv_tag == MPI_NO_ARG || row->recv_type == MPI_NO_ARG || !c->request)
		return;
	source = row->peer2 == MPI_NO_ARG ? c->peer : c->peer2;
	if (source >= 0 && c->recv_tag != MPI_ANY_TAG) /* MPI_ANY_SOURCE is negative in all libraries */
		return;
	l = bpf_map_lookup_elem(&mpi_libraries, &row->library);
	if (!l || (source != l->any_source && c->recv_tag != MPI_ANY_TAG))
		return;
	wild = 1;
	bpf_map_update_elem(&mpi_wild, &key, &one, BPF_ANY);
}

/* Whether a request receives from any source, or any tag. Forgets the request: it is complete, or
 * will be when the open call returns. */
static __always_inline int forget_wild(struct mpi_record *c, u64 handle)
{
	struct mpi_key key = { .handle = handle, .pid = c->pid };

	return wild && bpf_map_delete_elem(&mpi_wild, &key) == 0;
}

/* Keeps a request of a receive from any source, or any tag, until the open call returns. n is the
 * number of its status. Requests for which there is no room do not tell from whom they received. */
static __always_inline void keep_wild(struct mpi_thread *t, u64 handle, u32 n)
{
	u32 at = t->came;

	if (!forget_wild(&t->call, handle) || at >= MPI_MOST_KEPT)
		return;
	asm volatile("" : "+r"(at));
	at &= MPI_MOST_KEPT - 1; /* changes nothing: for the verifier */
	t->requests[at] = handle;
	t->status_of[at] = n;
	t->came = at + 1;
}

/* Where the first of a call's statuses has the source, or 0. */
static __always_inline u64 statuses_at(struct mpi_row *row, struct mpi_library *l, struct mpi_thread *t)
{
	u64 at = word(t, row->statuses);

	return !at || at == l->status_ignore ? 0 : at + l->status_source;
}

/* Reports what a request received, as a status says. Losses are left to the call's record. */
static __always_inline void came(struct mpi_record *c, u64 handle, u64 status)
{
	struct { s32 source, tag; } told;
	struct mpi_record *r;

	if (bpf_probe_read_user(&told, sizeof(told), (void *)status) || told.source < 0)
		return;
	r = reserve(c->tid, sizeof(*r));
	if (!r) {
		drop(&mpi_dropped, c->row);
		return;
	}
	__builtin_memcpy(r, c, sizeof(*r));
	r->lost = 0;
	r->time = c->start;
	r->flags |= MPI_ASKED | MPI_CAME;
	r->request = handle;
	r->peer = told.source;
	r->recv_tag = told.tag;
	submit(r, sizeof(*r));
}

struct tell_wild {
	u64 statuses, size;
};

static long tell_one_wild(u32 i, struct tell_wild *s)
{
	struct mpi_thread *t = this_thread(0);

	if (!t)
		return 1;
	i &= MPI_MOST_KEPT - 1; /* changes nothing: for the verifier */
	came(&t->call, t->requests[i], s->statuses + t->status_of[i] * s->size);
	return 0;
}

/* Reports what the kept requests have received. The call has returned. */
static __always_inline void tell_wild(struct mpi_row *row, struct mpi_thread *t)
{
	struct mpi_library *l = bpf_map_lookup_elem(&mpi_libraries, &row->library);
	struct tell_wild s = {};

	if (!l)
		return;
	s.statuses = statuses_at(row, l, t);
	s.size = l->status_size;
	if (s.statuses)
		bpf_loop(t->came, tell_one_wild, &s, 0);
}
