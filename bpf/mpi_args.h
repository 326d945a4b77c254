/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a call's arguments say of the data that the call moves. */
#pragma once
#include "fold.h"

#define MAX_MPI_LIBRARIES 64
#define MAX_MPI_ROWS 16384

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAX_MPI_LIBRARIES);
	__type(key, u32);
	__type(value, struct mpi_library);
} mpi_libraries SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAX_MPI_ROWS);
	__type(key, u32);
	__type(value, struct mpi_row);
} mpi_rows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct mpi_key);
	__type(value, struct mpi_degrees);
} mpi_neighbors SEC(".maps");

/* When communicators, windows and groups were made, if that was seen. MPI uses handles again. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct mpi_key);
	__type(value, u64);
} mpi_births SEC(".maps");

/* Requests of receives from any source, or of any tag, that may not be complete yet. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct mpi_key);
	__type(value, u32);
} mpi_wild SEC(".maps");

/* Not 0 once there was such a request. Before that, no program looks for one. */
u32 wild = 0;

/* Room for a call's arguments: those in registers, the return address if it is on the stack, and 8
 * from the stack. */
#define MPI_STACK_ARGS 8
#define MPI_WORDS 16
#define MPI_CHUNK 64
#define MPI_MOST_KEPT 256

/* What is known of a thread, and room for what is read of its memory. */
struct mpi_thread {
	struct mpi_record call; /* the open call, if start is not 0 */
	struct mpi_record begun; /* room for what it starts: the stack is small */
	u64 words[MPI_WORDS];
	u64 probe;              /* the address of the open call's probe */
	u64 wait;               /* how long the thread had had no core when the open call began */
	u64 wait_seen;          /* the same, when last looked at for whether it has to be reported */
	u64 result_at;          /* where the open call puts its request, or the thread level */
	u64 base;               /* of the library, if the open call makes a communicator */
	u64 status_at;          /* where a receive from any source tells the source; 0: nowhere */
	u32 generation;         /* of wrappers: wrapped_changes when they were copied */
	u32 asked;              /* how many requests are kept */
	u32 came;               /* how many of these will tell what they received (mpi_wild.h) */
	struct mpi_wrappers wrappers;
	/* What formulas gave for predefined handles. */
	struct { u64 handle, size; } sizes[8];
	struct { u64 handle; s32 np, in, rank, pad; } comms[2];
	u64 counts[MPI_CHUNK], types[MPI_CHUNK];
	/* Requests that the open call waits for, as they were at its entry: handles of the library's
	 * size (MPI_ROW_SOME). */
	u64 requests[MPI_MOST_KEPT];
	u16 status_of[MPI_MOST_KEPT]; /* of requests that keep_wild keeps: the number of the status */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct mpi_thread);
} mpi_threads SEC(".maps");

static __always_inline struct mpi_thread *thread_of(struct task_struct *task, u64 flags)
{
	return bpf_task_storage_get(&mpi_threads, task, 0, flags);
}

static __always_inline struct mpi_thread *this_thread(u64 flags)
{
	return thread_of((struct task_struct *)bpf_get_current_task_btf(), flags);
}

/* The same in all libraries. */
#define MPI_ANY_TAG (-1)

/* A formula could not be evaluated. No size or number is as large. */
#define NOT_KNOWN (~0ULL)

/* mpi.StepOp */
enum step {
	HANDLE, CONST, BASE, ADD, ADD_BASE, MUL, AND, SHIFT_RIGHT, SIGN_EXTEND32, EQUAL,
	LOAD8, LOAD16, LOAD32, LOAD64, SAVE, ADD_SAVED, MUL_SAVED,
};

/* Evaluates a formula (mpi.Formula) of a library for a handle. It is not inlined, so that it is
 * verified once (Linux 5.6). */
__noinline u64 evaluate(u64 library, u64 what, u64 handle, u64 base)
{
	u32 index = library;
	struct mpi_library *l = bpf_map_lookup_elem(&mpi_libraries, &index);
	u64 a, saved0 = 0, saved1 = 0;
	struct mpi_formula *f;
	struct mpi_case *c;
	u32 i;

	if (!l || what >= MPI_WHATS)
		return NOT_KNOWN;
	if (l->handle32)
		handle = (u32)handle;
	f = &l->formula[what];
	for (i = 0; i < MPI_MAX_CASES; i++) {
		if (i >= f->cases)
			return NOT_KNOWN;
		c = &f->is[i];
		if ((handle & c->mask) == c->equal)
			break;
	}
	/* The verifier must not know i: then it verifies what follows once, and not once for
	 * each case. */
	asm volatile("%0 += %1" : "+r"(i) : "r"((u32)unknown));
	if (i >= MPI_MAX_CASES)
		return NOT_KNOWN;
	c = &f->is[i];
	a = handle;
	for (i = 0; i < MPI_MAX_STEPS; i++) {
		struct mpi_step *s = &c->step[i];
		u64 v = s->value, loaded = 0;

		if (i >= c->steps)
			break;
		switch (s->op) {
		case HANDLE: a = handle; break;
		case CONST: a = v; break;
		case BASE: a = base + v; break;
		case ADD: a += v; break;
		case ADD_BASE: a += base + v; break;
		case MUL: a *= v; break;
		case AND: a &= v; break;
		case SHIFT_RIGHT: a >>= v & 63; break;
		case SIGN_EXTEND32: a = (s64)(s32)a; break;
		case EQUAL: a = a == v; break;
		case SAVE:
			if (v & 1)
				saved1 = a;
			else
				saved0 = a;
			break;
		case ADD_SAVED: a += v & 1 ? saved1 : saved0; break;
		case MUL_SAVED: a *= v & 1 ? saved1 : saved0; break;
#define LOAD(op, bytes) \
		case op: \
			if (bpf_probe_read_user(&loaded, bytes, (void *)(a + v))) \
				return NOT_KNOWN; \
			a = loaded; \
			break;
		LOAD(LOAD8, 1) LOAD(LOAD16, 2) LOAD(LOAD32, 4) LOAD(LOAD64, 8)
#undef LOAD
		default: return NOT_KNOWN;
		}
	}
	return a;
}

static __always_inline u64 word(struct mpi_thread *t, u8 where)
{
	return where == MPI_NO_ARG ? 0 : t->words[where & (MPI_WORDS - 1)];
}

/* Copies the arguments to where rows look for them. Returns the return address, or 0 if it is
 * taken at the call's return: reading it from the stack costs more than all else here. */
static __always_inline u64 take_arguments(struct pt_regs *regs, struct mpi_row *row, struct mpi_thread *t)
{
	u64 site;

#define TAKE(n, reg) t->words[n] = regs->reg;
	EACH_REG_ARG(TAKE)
#undef TAKE
	if (row->flags & MPI_ROW_ON_STACK) {
		/* The kernel checks a copy into a thread's state at length (hardened usercopy). */
		u64 stack[RETURN_ON_STACK + MPI_STACK_ARGS] = {};

		read_user(stack, sizeof(stack), REG_SP(regs));
		__builtin_memcpy(&t->words[REG_ARGS], stack, sizeof(stack));
	}
#if RETURN_ON_STACK
	else if (row->flags & MPI_ROW_SITE || !site_at_exit)
		t->words[REG_ARGS] = read_u64(REG_SP(regs));
	else
		return 0;
	site = t->words[REG_ARGS];
#else
	site = regs->regs[30];
#endif
	return site > REG_SP(regs) ? real_return_address(site) : site;
}

/* Whether a handle names an object that MPI itself has made. A formula's result for such a handle
 * never changes. A handle of the program's own may later name another object. */
static __always_inline int is_predefined(struct mpi_library *l, struct mpi_thread *t, u64 handle)
{
	if (l->handle32) /* MPICH's ABI: HANDLE_KIND_BUILTIN */
		return (u32)handle >> 30 == 1;
	return handle - t->wrappers.images[0].lo < t->wrappers.images[0].size ||
	       handle - t->wrappers.images[1].lo < t->wrappers.images[1].size;
}

static __always_inline u64 type_size(struct mpi_row *row, struct mpi_library *l, struct mpi_thread *t, u64 type, u64 base)
{
	u32 at = (type ^ type >> 8) >> 3 & 7;
	u64 size;

	if (l->handle32)
		type = (u32)type;
	if (type && t->sizes[at].handle == type)
		return t->sizes[at].size;
	size = evaluate(row->library, MPI_TYPE_SIZE, type, base);
	if (size != NOT_KNOWN && is_predefined(l, t, type)) {
		t->sizes[at].handle = type;
		t->sizes[at].size = size;
	}
	return size;
}

static __always_inline u64 count_of(struct mpi_row *row, u64 v)
{
	s64 n = row->flags & MPI_ROW_WIDE ? (s64)v : (s32)v;

	return n > 0 ? n : 0;
}

/* The sum over an array of counts, perhaps with an array of types, which are read in chunks. */
struct sum {
	u64 counts, types, base, total, own;
	u32 n, library;
	u32 count_bytes, type_bytes;
	u32 rank; /* whose element goes to own */
	u32 unread;
};

/* Gives element i of an array of n elements in user memory, at from. The array is read in chunks.
 * Returns 0 if reading fails. Callers are callbacks of bpf_loop, which spares the verifier a loop
 * over the elements. */
static __always_inline int take_element(u64 *chunk, u64 from, u32 i, u32 n, u32 bytes, u64 *out)
{
	u32 at = i % MPI_CHUNK;
	u64 size = n - i < MPI_CHUNK ? n - i : MPI_CHUNK;

	size *= bytes;
	asm volatile("" : "+r"(size)); /* so that the value compared is the value used */
	if (at == 0 && (size > MPI_CHUNK * 8 || bpf_copy_from_user(chunk, size, (void *)(from + (u64)i * bytes))))
		return 0;
	*out = bytes == 8 ? chunk[at] : ((u32 *)chunk)[at];
	return 1;
}

static long add_element(u32 i, struct sum *s)
{
	struct mpi_thread *t = this_thread(0);
	u64 count = 0, type = 0, size = 1;

	if (!t || !take_element(t->counts, s->counts, i, s->n, s->count_bytes, &count) ||
	    (s->types && !take_element(t->types, s->types, i, s->n, s->type_bytes, &type)))
		goto unread;
	if (s->count_bytes == 4 ? (s32)count <= 0 : (s64)count <= 0)
		return 0;
	if (s->types)
		size = evaluate(s->library, MPI_TYPE_SIZE, type, s->base);
	if (size == NOT_KNOWN)
		goto unread;
	s->total += count * size;
	if (i == s->rank)
		s->own = count * size;
	return 0;
unread:
	s->unread = 1;
	return 1;
}

/* The sent or the received data: where its arguments are, and what they mean. */
struct side {
	u32 count, type;
	u32 array, types, own;
	u32 n; /* elements of an array */
	u64 base;
};

VERIFIED_ONCE u64 bytes_of_array(struct mpi_row *row, struct mpi_library *l, struct mpi_thread *t, struct side *of)
{
	struct sum s = {};
	u64 size = 1;

	if (!row || !l || !t || !of)
		return NOT_KNOWN;
	s.counts = word(t, of->count);
	s.types = of->types ? word(t, of->type) : 0;
	s.base = of->base;
	s.n = of->n;
	s.library = row->library;
	s.count_bytes = row->flags & MPI_ROW_WIDE ? 8 : 4;
	s.type_bytes = l->handle32 ? 4 : 8;
	s.rank = t->call.rank;
	bpf_loop(s.n, add_element, &s, 0);
	if (s.unread)
		return NOT_KNOWN;
	if (s.total && !of->types)
		size = evaluate(row->library, MPI_TYPE_SIZE, word(t, of->type), of->base);
	if (size == NOT_KNOWN)
		return size;
	if (of->own)
		t->call.own = s.own * size;
	return s.total * size;
}

static __always_inline u64 bytes_of(struct mpi_row *row, struct mpi_library *l, struct mpi_thread *t,
				    struct side of, u32 n, u64 base, int sleeps)
{
	u64 count = 1, size;

	if (of.type == MPI_NO_ARG)
		return 0;
	if (of.array) {
		if (!sleeps || t->call.flags & MPI_UNREAD_COMM)
			return NOT_KNOWN;
		of.n = n;
		of.base = base;
		return bytes_of_array(row, l, t, &of);
	}
	if (of.count != MPI_NO_ARG)
		count = count_of(row, word(t, of.count));
	if (row->partitions != MPI_NO_ARG)
		count *= (u32)word(t, row->partitions);
	if (!count)
		return 0;
	size = type_size(row, l, t, word(t, of.type), base);
	return size == NOT_KNOWN ? size : count * size;
}

/* Fills in the communicator's size and the own rank, or the numbers of neighbours. */
static __always_inline void look_at_comm(struct mpi_row *row, struct mpi_library *l, struct mpi_thread *t, u64 base)
{
	struct mpi_record *c = &t->call;
	u32 at = c->comm >> 6 & 1;
	u64 size = NOT_KNOWN, local = NOT_KNOWN, rank = 0;

	if (row->flags & MPI_ROW_NEIGHBORS) {
		struct mpi_key key = { .handle = c->comm, .pid = c->pid };
		struct mpi_degrees *d = bpf_map_lookup_elem(&mpi_neighbors, &key);

		if (d) {
			size = d->out;
			local = d->in;
		}
	} else if (c->comm && t->comms[at].handle == c->comm) {
		c->np = t->comms[at].np;
		c->in = t->comms[at].in;
		c->rank = t->comms[at].rank;
		return; /* predefined communicators are no intercommunicators */
	} else {
		size = local = evaluate(row->library, MPI_COMM_SIZE, c->comm, base);
		rank = evaluate(row->library, MPI_COMM_RANK, c->comm, base);
		if (evaluate(row->library, MPI_COMM_INTER, c->comm, base) == 1) {
			size = evaluate(row->library, MPI_COMM_REMOTE_SIZE, c->comm, base);
			c->flags |= MPI_INTER;
		}
	}
	if (size == NOT_KNOWN || local == NOT_KNOWN || rank == NOT_KNOWN) {
		c->flags |= MPI_UNREAD_COMM;
		return;
	}
	c->np = size;
	c->in = local;
	c->rank = rank;
	if (!(row->flags & MPI_ROW_NEIGHBORS) && c->np > 0 && !(c->flags & MPI_INTER) && is_predefined(l, t, c->comm)) {
		t->comms[at].handle = c->comm;
		t->comms[at].np = c->np;
		t->comms[at].in = c->in;
		t->comms[at].rank = c->rank;
	}
}

/* When the object of a handle was made, or when a call last gave the handle. 0: that was not
 * seen. */
static __always_inline u64 given_at(struct mpi_library *l, struct mpi_thread *t, u64 handle)
{
	struct mpi_key key = { .handle = l->handle32 ? (u32)handle : handle, .pid = t->call.pid };
	u64 *birth = bpf_map_lookup_elem(&mpi_births, &key);

	return birth ? *birth : 0;
}

/* When a call's communicator or window was made; 0: it is predefined, or that was not seen. */
static __always_inline u64 birth_of(struct mpi_library *l, struct mpi_thread *t)
{
	return is_predefined(l, t, t->call.comm) ? 0 : given_at(l, t, t->call.comm);
}

/* Notes where a receive from any source will tell the source. Other receives need no status. So if
 * the status is the row's only argument on the stack, this function reads it, not
 * take_arguments. */
static __always_inline void look_for_status(struct mpi_row *row, struct mpi_library *l, struct mpi_thread *t)
{
	s32 source = row->peer2 == MPI_NO_ARG ? t->call.peer : t->call.peer2;

	if (row->status == MPI_NO_ARG || row->flags & (MPI_ROW_WAITS | MPI_ROW_COMM | MPI_ROW_MAKES_GROUP))
		return;
	if (source != l->any_source && !(row->flags & MPI_ROW_MATCHED && t->call.recv_tag == MPI_ANY_TAG))
		return;
	if (row->status < REG_ARGS || row->flags & MPI_ROW_ON_STACK)
		t->status_at = word(t, row->status);
	else
		t->status_at = read_u64(t->call.sp + 8 * (row->status - REG_ARGS));
	if (!t->status_at || t->status_at == l->status_ignore)
		t->status_at = 0;
	else
		t->status_at += l->status_source;
}

/* Fills in a call's volumes. sleeps says that arrays can be read. */
static __always_inline void look_at_data(struct mpi_row *row, struct mpi_thread *t, u64 base, int sleeps)
{
	struct mpi_library *l = bpf_map_lookup_elem(&mpi_libraries, &row->library);
	struct mpi_record *c = &t->call;
	u32 flags = row->flags;
	struct side send = { row->send_count, row->send_type,
		flags & MPI_ROW_SEND_COUNTS, flags & MPI_ROW_SEND_TYPES, flags & MPI_ROW_SEND_OWN };
	struct side recv = { row->recv_count, row->recv_type,
		flags & MPI_ROW_RECV_COUNTS, flags & MPI_ROW_RECV_TYPES, flags & MPI_ROW_RECV_OWN };
	int same = recv.count == send.count && recv.type == send.type;
	int root, sends = 1, receives = 1;

	if (!l)
		return;
	if (l->handle32)
		c->comm = (u32)c->comm;
	if (flags & (MPI_ROW_SIZES | MPI_ROW_NEIGHBORS))
		look_at_comm(row, l, t, base);
	if (flags & MPI_ROW_BIRTH)
		c->own = birth_of(l, t);
	if (flags & MPI_ROW_MATCHED && row->comm != MPI_NO_ARG)
		c->birth = flags & MPI_ROW_MAKES_GROUP && flags & MPI_ROW_GROUP ? given_at(l, t, c->comm) : birth_of(l, t);
	if (flags & MPI_ROW_GROUP) /* also predefined groups: the empty one, all of the world */
		c->own = given_at(l, t, word(t, row->recv_tag));
	look_for_status(row, l, t);
	if (row->send_buf != MPI_NO_ARG && word(t, row->send_buf) == l->in_place)
		c->flags |= MPI_IN_PLACE_SEND;
	if (row->recv_buf != MPI_NO_ARG && word(t, row->recv_buf) == l->in_place)
		c->flags |= MPI_IN_PLACE_RECV;
	/* Arguments that MPI ignores may be garbage. */
	if (flags & (MPI_ROW_SEND_AT_ROOT | MPI_ROW_RECV_AT_ROOT)) {
		root = c->peer == l->root || (!(c->flags & (MPI_INTER | MPI_UNREAD_COMM)) && c->peer == c->rank);
		sends = root || !(flags & MPI_ROW_SEND_AT_ROOT);
		receives = root || !(flags & MPI_ROW_RECV_AT_ROOT);
	}
	if (row->peer != MPI_NO_ARG && c->peer == l->proc_null) {
		sends = 0;
		if (row->peer2 == MPI_NO_ARG)
			receives = 0;
	}
	if (row->peer2 != MPI_NO_ARG && c->peer2 == l->proc_null)
		receives = 0;
	if (c->flags & MPI_IN_PLACE_SEND && !same)
		sends = 0;
	if (c->flags & MPI_IN_PLACE_RECV && !same)
		receives = 0;
	if (sends)
		c->send = bytes_of(row, l, t, send, flags & MPI_ROW_LOCAL ? c->in : c->np, base, sleeps);
	if (receives && sends && same)
		c->recv = c->send;
	else if (receives)
		c->recv = bytes_of(row, l, t, recv, flags & (MPI_ROW_NEIGHBORS | MPI_ROW_LOCAL) ? c->in : c->np, base, sleeps);
	if (c->send == NOT_KNOWN) {
		c->send = 0;
		c->flags |= MPI_UNREAD_SEND;
	}
	if (c->recv == NOT_KNOWN) {
		c->recv = 0;
		c->flags |= MPI_UNREAD_RECV;
	}
}
