/* A small imitation of Open MPI's handles: pointers to objects. It is no MPI,
 * but its accessors have the shape of Open MPI's, which other compilers and
 * flags than the packager's may thus be tried on. -DGROUPS: the sizes are in
 * groups that a function returns. -DUNCHECKED: no handle is checked. Like mpi_handles.c it writes what holds for
 * its handles to DIR/rank0 and waits for DIR/stop. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct object { void *class; volatile int32_t refs; };
struct group { struct object super; int count; int rank; };
struct datatype { struct object super; uint16_t flags, id; uint32_t used; size_t size; char rest[300]; };
struct communicator {
	struct object super;
	char name[64];
	int id, rank;
	uint32_t flags;
	struct group *local, *remote;
};

#define INTER 0x1
#define INVALID 0x10
#define FREED 0x20

typedef struct datatype *MPI_Datatype;
typedef struct communicator *MPI_Comm;
typedef struct group *MPI_Group;
typedef long MPI_Count;

struct datatype ompi_mpi_char = { .size = 1 }, ompi_mpi_int = { .size = 4 }, ompi_mpi_double = { .size = 8 };
struct datatype ompi_mpi_datatype_null;
struct communicator ompi_mpi_comm_null, ompi_mpi_comm_world;
struct communicator *ompi_mpi_comm_world_addr = &ompi_mpi_comm_world;
bool ompi_mpi_param_check = true;
int ompi_mpi_state;

__attribute__((noinline)) static void not_running(const char *function)
{
	fprintf(stderr, "%s: MPI is not initialised\n", function);
	abort();
}

__attribute__((noinline)) static int report(MPI_Comm c, int code, const char *function)
{
	fprintf(stderr, "%s: error %d on %d\n", function, code, c ? c->id : -1);
	return code;
}

#define RUNNING() if (ompi_mpi_state < 2 || ompi_mpi_state > 4) not_running(__func__)
#define FAIL(c, code) return report(c, code, __func__)
#ifdef UNCHECKED
#define ompi_mpi_param_check 0
#endif
#define CHECK_COMM(c, result) \
	if (ompi_mpi_param_check) { \
		RUNNING(); \
		if (!(c) || (c) == &ompi_mpi_comm_null || (c)->flags & (FREED | INVALID)) FAIL(&ompi_mpi_comm_world, 5); \
		if (!(result)) FAIL(c, 12); \
	}

#ifdef GROUPS
__attribute__((noinline)) static struct group *group_of(MPI_Comm c, bool remote) { return remote ? c->remote : c->local; }
static int size_of(MPI_Comm c) { return group_of(c, false)->count; }
static int remote_of(MPI_Comm c) { return c->flags & INTER ? group_of(c, true)->count : 0; }
#else
static int size_of(MPI_Comm c) { return c->local->count; }
static int remote_of(MPI_Comm c) { return c->flags & INTER ? c->remote->count : 0; }
#endif

int MPI_Type_size(MPI_Datatype t, int *size)
{
	if (ompi_mpi_param_check) {
		RUNNING();
		if (!t || t == &ompi_mpi_datatype_null)
			FAIL(&ompi_mpi_comm_world, 3);
		if (!size)
			FAIL(&ompi_mpi_comm_world, 12);
	}
	*size = t->size > 0x7fffffff ? -32766 : (int)t->size;
	return 0;
}

int MPI_Type_size_x(MPI_Datatype t, MPI_Count *size)
{
	if (ompi_mpi_param_check) {
		RUNNING();
		if (!t || t == &ompi_mpi_datatype_null)
			FAIL(&ompi_mpi_comm_world, 3);
		if (!size)
			FAIL(&ompi_mpi_comm_world, 12);
	}
	*size = t->size;
	return 0;
}

int MPI_Comm_size(MPI_Comm c, int *size)
{
	CHECK_COMM(c, size);
	*size = size_of(c);
	return 0;
}

int MPI_Comm_rank(MPI_Comm c, int *rank)
{
	CHECK_COMM(c, rank);
	*rank = c->rank;
	return 0;
}

int MPI_Comm_remote_size(MPI_Comm c, int *size)
{
	CHECK_COMM(c, size);
	*size = remote_of(c);
	return 0;
}

int MPI_Comm_test_inter(MPI_Comm c, int *flag)
{
	CHECK_COMM(c, flag);
	*flag = c->flags & INTER ? 1 : 0;
	return 0;
}

int MPI_Group_size(MPI_Group g, int *size)
{
	if (ompi_mpi_param_check && !size)
		FAIL(&ompi_mpi_comm_world, 12);
	*size = g->count;
	return 0;
}

static FILE *out;

static void comm(struct communicator *c, int size, int rank, int remote)
{
	*c = (struct communicator){ .rank = rank, .flags = 0x100 | (remote ? INTER : 0), .local = calloc(1, sizeof(struct group)) };
	c->remote = remote ? calloc(1, sizeof(struct group)) : c->local;
	c->remote->count = remote;
	c->local->count = size;
	fprintf(out, "CommSize - %#lx %d\nCommRank - %#lx %d\nCommIsInter - %#lx %d\nGroupSize - %#lx %d\n", (long)c, size,
		(long)c, rank, (long)c, remote > 0, (long)c->local, size);
	if (remote)
		fprintf(out, "CommRemoteSize - %#lx %d\n", (long)c, remote);
}

static void type(struct datatype *d, MPI_Count size)
{
	d->size = size;
	fprintf(out, "TypeSize - %#lx %ld\n", (long)d, size);
}

int main(int argc, char **argv)
{
	char name[4096], done[4096];
	if (argc < 2)
		return 2;
	ompi_mpi_state = 2;
	snprintf(name, sizeof name, "%s/part", argv[1]);
	snprintf(done, sizeof done, "%s/rank0", argv[1]);
	if (!(out = fopen(name, "w")))
		return 1;
	fprintf(out, "Process - 0 %ld\nWorld - 0 %ld\n", (long)getpid(), (long)&ompi_mpi_comm_world);
	comm(&ompi_mpi_comm_world, 4, 3, 0);
	type(&ompi_mpi_char, 1);
	type(&ompi_mpi_int, 4);
	type(&ompi_mpi_double, 8);
	for (int i = 0; i < 20; i++) {
		comm(malloc(sizeof(struct communicator)), i + 2, i, i % 3);
		type(calloc(1, sizeof(struct datatype)), 1000000000L * i);
	}
	fclose(out);
	rename(name, done);
	snprintf(name, sizeof name, "%s/stop", argv[1]);
	while (access(name, F_OK) != 0)
		usleep(10000);
	return 0;
}
