// mpi_truth.c: counts a program's MPI calls, per call site and thread.
//
//   mpicc -O2 -g -fPIC -shared -o mpi_truth.so mpi_truth.c -ldl
//   mpirun -n 4 env TRUTH_OUT=DIR LD_PRELOAD=./mpi_truth.so program
//
// Each process writes DIR/rank<R>.jsonl (DIR/pid<PID>.jsonl if it never was
// initialized): a line about the process, then one per operation, call site
// and thread. Fortran and C++ bindings end up here too. Some call PMPI_X (Open MPI's
// Fortran), some MPI_X, so both names are taken. Calls within another call of the
// same thread are not counted. The call
// site is where the user's code called, found by unwinding (.eh_frame) out of
// the libraries whose names begin with libmpi. What a binding calls for its own
// purposes (Open MPI's MPI_ALLTOALLW asks for the communicator's size) is no
// call of the user's: it is written down as a helper's.
//
// A process that a signal kills, or _exit ends, writes nothing; MPI_Abort
// writes what was until then.
#define _GNU_SOURCE
#include <ctype.h>
#include <dlfcn.h>
#include <link.h>
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <unwind.h>

enum { NAIVE, MINIMAL, ACCOUNTINGS };

// A process: its ranks in MPI_COMM_WORLD and in the communicator or window.
struct process {
	int world, local;
	bool inter; // the communicator connects two groups
};

enum { ANY = -2 };

struct message {
	bool exists;
	uint64_t bytes;
	struct process with;
};

// What one call, or one start of a persistent operation, moves.
struct volume {
	uint64_t out[ACCOUNTINGS], in[ACCOUNTINGS], read, written;
	unsigned sends, recvs, colls; // ompP's counters
	bool moves;                   // an operation that moves data, if only 0 bytes
	struct message to, from, data; // data: of a collective operation
	MPI_Comm comm;                 // of from
	MPI_Status *status;            // of a receive that has one
};

struct call {
	const char *op;
	void *site;
	bool outermost, helper;
	uint64_t began;
	struct volume v;
	MPI_Request *keep; // of a persistent operation that this call sets up
};

// What was exchanged with one process.
struct partner {
	struct partner *next;
	struct process is;
	uint64_t sends, recvs, out, in;
};

enum { BINS = 65 }; // of message sizes, by their number of bits

// Sums over the calls of one operation, call site and thread.
struct entry {
	struct entry *next;
	const char *op;
	void *site;
	bool helper;
	int thread;
	long tid;
	uint64_t calls, started, ns, min[ACCOUNTINGS], max[ACCOUNTINGS];
	struct volume sum;
	struct partner *partners;
	uint64_t sent[BINS], received[BINS], moved[BINS];
};

// A persistent operation, by its request.
struct persistent {
	struct persistent *next;
	MPI_Request request;
	const char *op;
	struct volume v;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct entry *entries;
static struct persistent *persistents;
static __thread int depth;
static int world_rank = -1, world_size;

static uint64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void fatal(const char *why, const char *what)
{
	fprintf(stderr, "truth: %s %s\n", why, what);
	abort();
}

static void *need(void *p)
{
	if (!p)
		fatal("no", "memory");
	return p;
}

static int thread_num(void)
{
	static int (*get)(void);
	static bool looked;
	if (!looked) {
		get = (int (*)(void))dlsym(RTLD_DEFAULT, "omp_get_thread_num");
		looked = true;
	}
	return get ? get() : 0;
}

// The user's frame

static bool in_mpi(void *address, Dl_info *info)
{
	if (!dladdr(address, info) || !info->dli_fname)
		return false;
	const char *slash = strrchr(info->dli_fname, '/');
	return strncmp(slash ? slash + 1 : info->dli_fname, "libmpi", 6) == 0;
}

struct walk {
	void *first; // the shim's caller
	void *site;
	bool begun;
	bool helped; // a binding's function that is not of the operation's name
	const char *op;
};

// of_operation tells whether a binding's function is one of op's:
// mpi_send_, MPI_SEND, ompi_send_f, pmpi_send_f08ts_ are MPI_Send's.
static bool of_operation(const char *function, const char *op)
{
	const char *name = strchr(op, '_') + 1;
	size_t n = strlen(name);
	if (n > 2 && strcmp(name + n - 2, "_c") == 0) // mpi_send_f08ts_large_
		n -= 2;
	for (; *function; function++)
		if (strncasecmp(function, name, n) == 0)
			return true;
	return false;
}

static _Unwind_Reason_Code on_frame(struct _Unwind_Context *context, void *arg)
{
	struct walk *w = arg;
	void *ip = (void *)_Unwind_GetIP(context);
	w->begun |= ip == w->first;
	if (!w->begun)
		return _URC_NO_REASON;
	Dl_info info;
	if (!in_mpi((char *)ip - 1, &info)) {
		w->site = ip;
		return _URC_END_OF_STACK;
	}
	// A function without a symbol of its own tells nothing.
	if (info.dli_sname && !of_operation(info.dli_sname, w->op))
		w->helped = true;
	return _URC_NO_REASON;
}

// find_site finds where the user called, and whether it was the user.
static void find_site(struct call *c, void *caller)
{
	Dl_info info;
	c->site = caller;
	if (!in_mpi((char *)caller - 1, &info))
		return;
	struct walk w = {.first = caller, .site = caller, .op = c->op};
	_Unwind_Backtrace(on_frame, &w);
	c->site = w.site;
	c->helper = w.helped;
}

// Counting

static struct entry *entry_of(const char *op, const struct call *c)
{
	long tid = syscall(SYS_gettid);
	int thread = thread_num();
	for (struct entry *e = entries; e; e = e->next)
		if (e->op == op && e->site == c->site && e->helper == c->helper && e->tid == tid && e->thread == thread)
			return e;
	struct entry *e = need(calloc(1, sizeof *e));
	*e = (struct entry){.next = entries, .op = op, .site = c->site, .helper = c->helper, .tid = tid, .thread = thread};
	return entries = e;
}

// Partners

static struct process in_group(MPI_Group group, int rank, bool inter)
{
	struct process p = {ANY, ANY, inter};
	MPI_Group world;
	if (rank != MPI_ANY_SOURCE) {
		p.local = rank;
		PMPI_Comm_group(MPI_COMM_WORLD, &world);
		PMPI_Group_translate_ranks(group, 1, &rank, world, &p.world);
		PMPI_Group_free(&world);
	}
	return p;
}

static struct process in_comm(MPI_Comm comm, int rank)
{
	struct process p = {ANY, ANY, false};
	int inter;
	MPI_Group group;
	if (comm == MPI_COMM_NULL)
		return p;
	PMPI_Comm_test_inter(comm, &inter);
	if (inter)
		PMPI_Comm_remote_group(comm, &group);
	else
		PMPI_Comm_group(comm, &group);
	p = in_group(group, rank, inter);
	PMPI_Group_free(&group);
	return p;
}

static struct process in_window(MPI_Win win, int rank)
{
	MPI_Group group;
	PMPI_Win_get_group(win, &group);
	struct process p = in_group(group, rank, false);
	PMPI_Group_free(&group);
	return p;
}

static struct partner *partner_of(struct entry *e, struct process is)
{
	struct partner *p = e->partners;
	while (p && (p->is.world != is.world || p->is.local != is.local || p->is.inter != is.inter))
		p = p->next;
	if (!p) {
		p = need(calloc(1, sizeof *p));
		*p = (struct partner){.next = e->partners, .is = is};
		e->partners = p;
	}
	return p;
}

static int bits(uint64_t n) { return n ? 64 - __builtin_clzll(n) : 0; }

static void add_messages(struct entry *e, const struct volume *v)
{
	if (v->to.exists) {
		struct partner *p = partner_of(e, v->to.with);
		p->sends++;
		p->out += v->to.bytes;
		e->sent[bits(v->to.bytes)]++;
	}
	if (v->from.exists) {
		struct partner *p = partner_of(e, v->from.with);
		p->recvs++;
		p->in += v->from.bytes;
		e->received[bits(v->from.bytes)]++;
	}
	if (v->data.exists)
		e->moved[bits(v->data.bytes)]++;
}

// add counts a call of op, or (ns < 0) a start of it by the call.
static void add(const char *op, const struct call *c, const struct volume *v, int64_t ns)
{
	struct entry *e = entry_of(op, c);
	bool first = !e->sum.moves;
	for (int a = 0; a < ACCOUNTINGS && v->moves; a++) {
		uint64_t bytes = v->out[a] + v->in[a] + v->read + v->written;
		if (first || bytes < e->min[a])
			e->min[a] = bytes;
		if (first || bytes > e->max[a])
			e->max[a] = bytes;
		e->sum.out[a] += v->out[a];
		e->sum.in[a] += v->in[a];
	}
	e->sum.moves |= v->moves;
	e->sum.read += v->read;
	e->sum.written += v->written;
	e->sum.sends += v->sends;
	e->sum.recvs += v->recvs;
	e->sum.colls += v->colls;
	add_messages(e, v);
	if (ns < 0) {
		e->started++;
		return;
	}
	e->calls++;
	e->ns += (uint64_t)ns;
}

// enter returns whether the volume of the call is wanted.
static bool enter(struct call *c, const char *op, void **real, void *caller)
{
	*c = (struct call){.op = op};
	if (!*real) {
		char name[80];
		snprintf(name, sizeof name, "P%s", op);
		*real = dlsym(RTLD_NEXT, name);
		if (!*real)
			fatal("not found:", name);
	}
	c->outermost = depth++ == 0;
	if (c->outermost)
		find_site(c, caller);
	return c->outermost;
}

static void begin(struct call *c) { c->began = now(); }

static void end(struct call *c)
{
	uint64_t ended = now();
	if (c->outermost) {
		// A receive from any source tells the source if it has a status.
		if (c->v.from.exists && c->v.from.with.local == ANY && c->v.status && c->v.status != MPI_STATUS_IGNORE)
			c->v.from.with = in_comm(c->v.comm, c->v.status->MPI_SOURCE);
		pthread_mutex_lock(&mutex);
		if (c->keep) {
			struct persistent *p = need(malloc(sizeof *p));
			*p = (struct persistent){persistents, *c->keep, c->op, c->v};
			persistents = p;
			c->v = (struct volume){0};
		}
		add(c->op, c, &c->v, (int64_t)(ended - c->began));
		pthread_mutex_unlock(&mutex);
	}
	depth--;
}

// A persistent operation counts each time that it is started, where it is.
static void start(struct call *c, MPI_Request request)
{
	pthread_mutex_lock(&mutex);
	for (struct persistent *p = persistents; p; p = p->next)
		if (p->request == request) {
			add(p->op, c, &p->v, -1);
			break;
		}
	pthread_mutex_unlock(&mutex);
}

static void forget(MPI_Request request)
{
	pthread_mutex_lock(&mutex);
	for (struct persistent **p = &persistents; *p; p = &(*p)->next)
		if ((*p)->request == request) {
			struct persistent *gone = *p;
			*p = gone->next;
			free(gone);
			break;
		}
	pthread_mutex_unlock(&mutex);
}

static void print_sizes(FILE *f, const char *name, const uint64_t *n)
{
	int last = BINS;
	while (last > 0 && !n[last - 1])
		last--;
	fprintf(f, ",\"%s\":[", name);
	for (int i = 0; i < last; i++)
		fprintf(f, "%s%lu", i ? "," : "", n[i]);
	fprintf(f, "]");
}

static void print(FILE *f, const struct entry *e)
{
	Dl_info info;
	struct link_map *map = NULL;
	const char *object = "";
	uintptr_t address = (uintptr_t)e->site;
	if (dladdr1((char *)e->site - 1, &info, (void **)&map, RTLD_DL_LINKMAP) && map) {
		object = info.dli_fname;
		address -= map->l_addr;
	}
	const struct volume *v = &e->sum;
	fprintf(f, "{\"op\":\"%s\",\"object\":\"%s\",\"return\":%lu,\"helper\":%s,\"thread\":%d,\"tid\":%ld"
		",\"calls\":%lu,\"started\":%lu,\"ns\":%lu,\"sends\":%u,\"recvs\":%u,\"colls\":%u"
		",\"out\":[%lu,%lu],\"in\":[%lu,%lu],\"min\":[%lu,%lu],\"max\":[%lu,%lu],\"read\":%lu,\"written\":%lu",
		e->op, object, address, e->helper ? "true" : "false", e->thread, e->tid, e->calls, e->started, e->ns, v->sends, v->recvs, v->colls,
		v->out[0], v->out[1], v->in[0], v->in[1], e->min[0], e->min[1], e->max[0], e->max[1], v->read, v->written);
	fprintf(f, ",\"partners\":[");
	for (const struct partner *p = e->partners; p; p = p->next)
		fprintf(f, "%s{\"world\":%d,\"local\":%d,\"inter\":%s,\"sends\":%lu,\"recvs\":%lu,\"out\":%lu,\"in\":%lu}", p == e->partners ? "" : ",",
			p->is.world, p->is.local, p->is.inter ? "true" : "false", p->sends, p->recvs, p->out, p->in);
	fprintf(f, "]");
	print_sizes(f, "sent", e->sent);
	print_sizes(f, "received", e->received);
	print_sizes(f, "moved", e->moved);
	fprintf(f, "}\n");
}

static void write_out(void)
{
	const char *dir = getenv("TRUTH_OUT");
	if (!dir || (!entries && world_rank < 0))
		return;
	char path[4096];
	if (world_rank >= 0)
		snprintf(path, sizeof path, "%s/rank%d.jsonl", dir, world_rank);
	else
		snprintf(path, sizeof path, "%s/pid%d.jsonl", dir, getpid());
	FILE *f = fopen(path, "w");
	if (!f)
		fatal("cannot write", path);
	char program[4096];
	ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
	program[n > 0 ? n : 0] = 0;
	fprintf(f, "{\"rank\":%d,\"size\":%d,\"pid\":%d,\"program\":\"%s\"}\n", world_rank, world_size, getpid(), program);
	pthread_mutex_lock(&mutex);
	for (struct entry *e = entries; e; e = e->next)
		print(f, e);
	pthread_mutex_unlock(&mutex);
	if (fclose(f))
		fatal("cannot write", path);
}

__attribute__((destructor)) static void finish(void) { write_out(); }

// who_am_i runs while MPI is initialized, at a depth at which nothing counts.
static void who_am_i(void)
{
	PMPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
	PMPI_Comm_size(MPI_COMM_WORLD, &world_size);
}

// The interposed functions

#define CALL(...) CALL_NAMED(__VA_ARGS__)
#define CALL_NAMED(name, params, args, ...)                                     \
	int PMPI_##name params                                                  \
	{                                                                       \
		static int(*real) params;                                       \
		struct call c;                                                  \
		struct volume *v = &c.v;                                        \
		if (enter(&c, "MPI_" #name, (void **)&real, __builtin_return_address(0))) { \
			(void)v;                                                \
			__VA_ARGS__;                                            \
		}                                                               \
		begin(&c);                                                      \
		int result = real args;                                         \
		end(&c);                                                        \
		return result;                                                  \
	}                                                                       \
	int MPI_##name params __attribute__((alias("PMPI_" #name)));

#include "mpi_volumes.h"

#define N(name) name
#define INT int
#define DISP int
#include "mpi_moving.h"
#undef N
#undef INT
#undef DISP

#if MPI_VERSION >= 4
#define N(name) name##_c
#define INT MPI_Count
#define DISP MPI_Aint
#include "mpi_moving.h"
CALL(Isendrecv, (const void *sb, int sn, MPI_Datatype st, int dest, int stag, void *rb, int rn, MPI_Datatype rt, int source, int rtag, MPI_Comm comm, MPI_Request *q),
	(sb, sn, st, dest, stag, rb, rn, rt, source, rtag, comm, q), sent(v, comm, dest, sn, st), received(v, comm, source, rn, rt))
#endif

#include "mpi_once.h"

// Calls that move nothing are passed on as they came: GCC copies registers and
// this many bytes of the stack.
enum { STACK_BYTES = 128 };
#define OTHER(name)                                                             \
	void truth_##name(void) __asm__("PMPI_" #name);                         \
	void truth_##name(void)                                                 \
	{                                                                       \
		static void *real;                                              \
		struct call c;                                                  \
		void *args = __builtin_apply_args();                            \
		enter(&c, "MPI_" #name, &real, __builtin_return_address(0));    \
		begin(&c);                                                      \
		void *result = __builtin_apply((void (*)())real, args, STACK_BYTES); \
		end(&c);                                                        \
		__builtin_return(result);                                       \
	}                                                                       \
	__asm__(".globl MPI_" #name "\n.set MPI_" #name ", PMPI_" #name "\n");
#include "mpi_other.h"
