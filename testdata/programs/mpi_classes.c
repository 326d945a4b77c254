/* A small imitation of MPICH's handles: 4 bits of class and kind, a size or an
 * index, objects that are built in, in one block, or in many. It is no MPI, but
 * its accessors have the shape of MPICH's, which other compilers and flags than
 * the packager's may thus be tried on. -DSWITCH: as in MPICH 3, by switch and
 * with a function for indirect objects. -DUNCHECKED: no handle is checked. Like mpi_handles.c it writes what holds
 * for its handles to DIR/rank0 and waits for DIR/stop. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int MPI_Datatype;
typedef int MPI_Comm;
typedef long MPI_Count;

enum { INVALID, BUILTIN, DIRECT, INDIRECT };
enum { COMM = 1, DATATYPE = 3 };
#define KIND(h) ((unsigned)(h) >> 30)
#define CLASS(h) (((h) >> 26) & 0xf)
#define INDEX(h) ((h) & 0x3ffffff)
#define HANDLE(kind, class, rest) ((int)((unsigned)(kind) << 30 | (class) << 26 | (rest)))

struct pool {
	void *avail;
	int initialized;
	void **blocks;
	int num_blocks;
	int kind, size;
};

struct datatype { int handle, refs; MPI_Count size; char rest[200]; };
struct comm { int handle, refs; short context; int rank, remote, size, kind; char rest[500]; };

struct datatype MPIR_Datatype_direct[8];
struct comm MPIR_Comm_direct[8], MPIR_Comm_builtin[3];
struct pool MPIR_Datatype_mem = { .kind = DATATYPE, .size = sizeof(struct datatype) };
struct pool MPIR_Comm_mem = { .kind = COMM, .size = sizeof(struct comm) };
static int state;

static char errors[64][100];
static int next_error;

/* -DQUIET: nothing but what is done tells that this is about errors. */
__attribute__((noinline)) static int MPIR_Err_create_code(int last, int fatal, const char *function, const char *format, ...)
{
	va_list v;
	va_start(v, format);
#ifdef QUIET
	for (int i = 0; function[i] && i < 30; i++)
		errors[next_error][i] = function[i];
	vsnprintf(errors[next_error] + 30, 70, format, v);
	next_error = (next_error + 1) % 64;
	va_end(v);
	return next_error << 8 | fatal;
#endif
	fprintf(stderr, "%s: ", function);
	vfprintf(stderr, format, v);
	va_end(v);
	return last + fatal + 1;
}

__attribute__((noinline)) static int give_up(const char *what)
{
#ifdef QUIET
	MPIR_Err_create_code(0, 1, __func__, what);
#else
	fprintf(stderr, "failed: %s\n", what);
#endif
	exit(1);
}

#define ASSERT(x) ((x) ? 0 : give_up(#x))

#ifdef SWITCH
__attribute__((noinline))
#else
inline
#endif
static void *indirect(int handle, struct pool *p)
{
	int block = (handle >> 12) & 0x3fff, index = handle & 0xfff;
	if (CLASS(handle) != p->kind || block >= p->num_blocks)
		return 0;
	return (char *)p->blocks[block] + index * p->size;
}

#ifdef SWITCH
static struct comm *comm_of(MPI_Comm c)
{
	switch (KIND(c)) {
	case DIRECT:
		return &MPIR_Comm_direct[INDEX(c)];
	case INDIRECT:
		return indirect(c, &MPIR_Comm_mem);
	case BUILTIN:
		ASSERT(INDEX(c) < 3);
		return &MPIR_Comm_builtin[INDEX(c)];
	default:
		return 0;
	}
}

static MPI_Count size_of(MPI_Datatype t)
{
	switch (KIND(t)) {
	case DIRECT:
		return MPIR_Datatype_direct[INDEX(t)].size;
	case INDIRECT:
		return ((struct datatype *)indirect(t, &MPIR_Datatype_mem))->size;
	case BUILTIN:
		return (t & 0x0000ff00) >> 8;
	default:
		return 0;
	}
}
#else
static struct comm *comm_of(MPI_Comm c)
{
	if (KIND(c) == DIRECT)
		return &MPIR_Comm_direct[INDEX(c)];
	if (KIND(c) == INDIRECT)
		return indirect(c, &MPIR_Comm_mem);
	if (KIND(c) == BUILTIN) {
		ASSERT(INDEX(c) < 3);
		return &MPIR_Comm_builtin[INDEX(c)];
	}
	return 0;
}

static MPI_Count size_of(MPI_Datatype t)
{
	MPI_Count size = 0;
	if (KIND(t) == DIRECT) {
		ASSERT(INDEX(t) < 8);
		size = MPIR_Datatype_direct[INDEX(t)].size;
	} else if (KIND(t) == INDIRECT) {
		struct datatype *d = indirect(t, &MPIR_Datatype_mem);
		ASSERT(d);
		size = d->size;
	} else if (KIND(t) == BUILTIN) {
		size = (t & 0x0000ff00) >> 8;
	}
	ASSERT(size >= 0);
	return size;
}
#endif

#define FAIL(what, h) return MPIR_Err_create_code(0, 0, __func__, "**%s %d", what, h)
#ifdef UNCHECKED
#define CHECK_COMM(c, p) p = comm_of(c)
#define CHECK_TYPE(t, size) (void)0
#else
#define CHECK_COMM(c, p) \
	if (!state) FAIL("uninitialised", 0); \
	if (CLASS(c) != COMM || KIND(c) == INVALID) FAIL("comm", c); \
	if (!(p = comm_of(c)) || p->refs <= 0) FAIL("commnull", c)
#define CHECK_TYPE(t, size) \
	if (!state) FAIL("uninitialised", 0); \
	if (CLASS(t) != DATATYPE || KIND(t) == INVALID || t == 0x0c000000) FAIL("dtype", t); \
	if (!size) FAIL("argnull", t)
#endif

int MPI_Type_size_x(MPI_Datatype t, MPI_Count *size)
{
	CHECK_TYPE(t, size);
	*size = size_of(t);
	return 0;
}

int MPI_Type_size(MPI_Datatype t, int *size)
{
	MPI_Count wide;
	if (MPI_Type_size_x(t, &wide) != 0)
		FAIL("type_size", t);
	*size = wide > 0x7fffffff ? -32766 : (int)wide;
	return 0;
}

int MPI_Comm_size(MPI_Comm c, int *size)
{
	struct comm *p;
	CHECK_COMM(c, p);
	*size = p->size;
	return 0;
}

int MPI_Comm_rank(MPI_Comm c, int *rank)
{
	struct comm *p;
	CHECK_COMM(c, p);
	*rank = p->rank;
	return 0;
}

int MPI_Comm_remote_size(MPI_Comm c, int *size)
{
	struct comm *p;
	CHECK_COMM(c, p);
	*size = p->remote;
	return 0;
}

int MPI_Comm_test_inter(MPI_Comm c, int *flag)
{
	struct comm *p;
	CHECK_COMM(c, p);
	*flag = p->kind == 1;
	return 0;
}

int MPI_Initialized(int *flag)
{
	*flag = state != 0;
	return 0;
}

/* block makes p's next block of n objects. */
static void *block(struct pool *p, int n)
{
	p->blocks = realloc(p->blocks, (p->num_blocks + 1) * sizeof *p->blocks);
	return p->blocks[p->num_blocks++] = calloc(n, p->size);
}

static FILE *out;

static void comm(MPI_Comm h, struct comm *c, int size, int rank, int remote)
{
	*c = (struct comm){ .handle = h, .refs = 1, .rank = rank, .remote = remote, .size = size, .kind = remote > 0 };
	fprintf(out, "CommSize - %#lx %d\nCommRank - %#lx %d\nCommIsInter - %#lx %d\n", (long)h, size, (long)h, rank, (long)h, remote > 0);
	if (remote)
		fprintf(out, "CommRemoteSize - %#lx %d\n", (long)h, remote);
}

static void type(MPI_Datatype h, struct datatype *d, MPI_Count size)
{
	if (d)
		*d = (struct datatype){ .handle = h, .refs = 1, .size = size };
	fprintf(out, "TypeSize - %#lx %ld\n", (long)h, size);
}

int main(int argc, char **argv)
{
	char name[4096], done[4096];
	if (argc < 2)
		return 2;
	state = 1;
	snprintf(name, sizeof name, "%s/part", argv[1]);
	snprintf(done, sizeof done, "%s/rank0", argv[1]);
	if (!(out = fopen(name, "w")))
		return 1;
	fprintf(out, "Process - 0 %ld\nWorld - 0 %d\n", (long)getpid(), 0x44000000);
	type(0x4c000101, 0, 1);
	type(0x4c000405, 0, 4);
	type(0x4c00080b, 0, 8);
	type(0x4c001021, 0, 16);
	for (int i = 0; i < 8; i++) {
		comm(HANDLE(DIRECT, COMM, i), &MPIR_Comm_direct[i], 7 + i, i, i % 3);
		type(HANDLE(DIRECT, DATATYPE, i), &MPIR_Datatype_direct[i], i ? 100000000000 * i : 8);
	}
	for (int i = 0; i < 3; i++)
		comm(HANDLE(BUILTIN, COMM, i), &MPIR_Comm_builtin[i], 100 + i, 50 + i, 0);
	for (int b = 0; b < 3; b++) {
		struct comm *cs = block(&MPIR_Comm_mem, 20);
		struct datatype *ts = block(&MPIR_Datatype_mem, 20);
		for (int i = 0; i < 20; i++) {
			comm(HANDLE(INDIRECT, COMM, b << 12 | i), &cs[i], 1000 * b + i + 1, i, i % 2);
			type(HANDLE(INDIRECT, DATATYPE, b << 12 | i), &ts[i], 3000000000 * b + i);
		}
	}
	fclose(out);
	rename(name, done);
	snprintf(name, sizeof name, "%s/stop", argv[1]);
	while (access(name, F_OK) != 0)
		usleep(10000);
	return 0;
}
