/* Makes MPI objects of all kinds, writes each one's handle and what MPI says of
 * it to the file DIR/rank<R>, and waits until DIR/stop exists. A line: property
 * name handle value. */
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static FILE *out;

static void property(const char *what, const char *name, unsigned long handle, long long value)
{
	fprintf(out, "%s %s %#lx %lld\n", what, name, handle, value);
}

/* MPICH's handles are ints: as longs they get the upper half that a register
 * may hold, too. */
#define HANDLE(h) ((unsigned long)(long)(h))

static void type(const char *name, MPI_Datatype t)
{
	MPI_Count size;
	if (t == MPI_DATATYPE_NULL)
		return; /* Fortran's sized types need not be there */
	MPI_Type_size_x(t, &size);
	property("TypeSize", name, HANDLE(t), size);
}

static void group(const char *name, MPI_Group g)
{
	int size;
	MPI_Group_size(g, &size);
	property("GroupSize", name, HANDLE(g), size);
}

static void comm(const char *name, MPI_Comm c)
{
	MPI_Group g;
	int v;
	MPI_Comm_size(c, &v);
	property("CommSize", name, HANDLE(c), v);
	MPI_Comm_rank(c, &v);
	property("CommRank", name, HANDLE(c), v);
	MPI_Comm_test_inter(c, &v);
	property("CommIsInter", name, HANDLE(c), v);
	if (v) {
		MPI_Comm_remote_size(c, &v);
		property("CommRemoteSize", name, HANDLE(c), v);
	}
	MPI_Comm_group(c, &g);
	group(name, g);
}

static void win(const char *name, MPI_Win w)
{
	MPI_Group g;
	int v;
	MPI_Win_get_group(w, &g);
	MPI_Group_size(g, &v);
	property("WinSize", name, HANDLE(w), v);
	MPI_Group_rank(g, &v);
	property("WinRank", name, HANDLE(w), v);
	MPI_Group_free(&g);
}

static void predefined(void)
{
#define T(t) type(#t, t)
	T(MPI_CHAR); T(MPI_SHORT); T(MPI_INT); T(MPI_LONG); T(MPI_LONG_LONG_INT); T(MPI_LONG_LONG);
	T(MPI_SIGNED_CHAR); T(MPI_UNSIGNED_CHAR); T(MPI_UNSIGNED_SHORT); T(MPI_UNSIGNED); T(MPI_UNSIGNED_LONG);
	T(MPI_UNSIGNED_LONG_LONG); T(MPI_FLOAT); T(MPI_DOUBLE); T(MPI_LONG_DOUBLE); T(MPI_WCHAR); T(MPI_C_BOOL);
	T(MPI_INT8_T); T(MPI_INT16_T); T(MPI_INT32_T); T(MPI_INT64_T); T(MPI_UINT8_T); T(MPI_UINT16_T);
	T(MPI_UINT32_T); T(MPI_UINT64_T); T(MPI_AINT); T(MPI_COUNT); T(MPI_OFFSET); T(MPI_C_COMPLEX);
	T(MPI_C_FLOAT_COMPLEX); T(MPI_C_DOUBLE_COMPLEX); T(MPI_C_LONG_DOUBLE_COMPLEX); T(MPI_BYTE); T(MPI_PACKED);
	T(MPI_FLOAT_INT); T(MPI_DOUBLE_INT); T(MPI_LONG_INT); T(MPI_2INT); T(MPI_SHORT_INT); T(MPI_LONG_DOUBLE_INT);
	T(MPI_CXX_BOOL); T(MPI_CXX_FLOAT_COMPLEX); T(MPI_CXX_DOUBLE_COMPLEX); T(MPI_CXX_LONG_DOUBLE_COMPLEX);
	T(MPI_INTEGER); T(MPI_REAL); T(MPI_DOUBLE_PRECISION); T(MPI_COMPLEX); T(MPI_LOGICAL); T(MPI_CHARACTER);
	T(MPI_DOUBLE_COMPLEX); T(MPI_2REAL); T(MPI_2DOUBLE_PRECISION); T(MPI_2INTEGER); T(MPI_INTEGER1);
	T(MPI_INTEGER2); T(MPI_INTEGER4); T(MPI_INTEGER8); T(MPI_REAL4); T(MPI_REAL8); T(MPI_REAL16);
	T(MPI_COMPLEX8); T(MPI_COMPLEX16); T(MPI_COMPLEX32);
}

struct particle { int id; double x; char tag[5]; };

static void derived(void)
{
	MPI_Datatype t, particle, many[2000];
	MPI_Type_contiguous(7, MPI_DOUBLE, &t); MPI_Type_commit(&t); type("contiguous", t);
	MPI_Type_contiguous(0, MPI_DOUBLE, &t); MPI_Type_commit(&t); type("empty", t);
	MPI_Type_contiguous(1 << 30, MPI_DOUBLE, &t); MPI_Type_commit(&t); type("8GiB", t);
	MPI_Type_vector(3, 2, 5, MPI_INT, &t); MPI_Type_commit(&t); type("vector", t);
	MPI_Type_create_hvector(4, 1, 100, MPI_SHORT, &t); MPI_Type_commit(&t); type("hvector", t);
	int length[3] = {1, 1, 5}, start[2] = {1, 2}, whole[2] = {4, 6}, part[2] = {2, 3};
	MPI_Aint at[3] = {offsetof(struct particle, id), offsetof(struct particle, x), offsetof(struct particle, tag)};
	MPI_Datatype of[3] = {MPI_INT, MPI_DOUBLE, MPI_CHAR};
	MPI_Type_create_struct(3, length, at, of, &particle); MPI_Type_commit(&particle); type("struct", particle);
	MPI_Type_create_resized(particle, 0, 64, &t); MPI_Type_commit(&t); type("resized", t);
	MPI_Type_dup(MPI_INT, &t); type("dup", t);
	MPI_Type_dup(particle, &t); type("dup-of-struct", t);
	MPI_Type_create_subarray(2, whole, part, start, MPI_ORDER_C, MPI_FLOAT, &t); MPI_Type_commit(&t);
	type("subarray", t);
	MPI_Type_create_hindexed(3, length, at, MPI_INT, &t); MPI_Type_commit(&t); type("hindexed", t);
	MPI_Type_indexed(2, part, start, particle, &t); type("uncommitted", t);
	for (int i = 0; i < 2000; i++) { /* beyond a block of handles */
		MPI_Type_contiguous(i + 1, MPI_INT, &many[i]);
		if (i % 97 == 0)
			type("many", many[i]);
	}
	unsigned long was = HANDLE(many[1500]);
	MPI_Type_free(&many[1500]);
	MPI_Type_contiguous(3, MPI_DOUBLE, &t);
	type(HANDLE(t) == was ? "handle-again" : "another-handle", t);
}

static void degrees(const char *name, MPI_Comm c, int in, int out)
{
	comm(name, c);
	property("InDegree", name, HANDLE(c), in);
	property("OutDegree", name, HANDLE(c), out);
}

static void topologies(int rank, int size)
{
	MPI_Comm c;
	int dims[3] = {size, 1, 1}, periods[3] = {1, 0, 0}, ends[64], edges[128];
	MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 0, &c); degrees("3-dimensional", c, 6, 6);
	MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &c); degrees("1-dimensional", c, 2, 2);
	/* a star: each sends to rank 0 */
	for (int i = 0; i < size; i++)
		ends[i] = i;
	MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, rank == 0 ? size : 0, ends, MPI_UNWEIGHTED, 1, (int[]){0},
		MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &c);
	degrees("star", c, rank == 0 ? size : 0, 1);
	/* rank i's neighbours: 0 to i */
	int n = 0;
	for (int i = 0; i < size; i++) {
		for (int j = 0; j <= i; j++)
			edges[n++] = j;
		ends[i] = n;
	}
	MPI_Graph_create(MPI_COMM_WORLD, size, ends, edges, 0, &c); degrees("graph", c, rank + 1, rank + 1);
}

static void communicators(int rank, int size)
{
	MPI_Comm c, half, inter, many[300];
	comm("world", MPI_COMM_WORLD);
	comm("self", MPI_COMM_SELF);
	MPI_Comm_dup(MPI_COMM_WORLD, &c); comm("dup", c);
	MPI_Comm_split(MPI_COMM_WORLD, rank & 1, -rank, &half); comm("split", half);
	MPI_Comm_split(MPI_COMM_WORLD, rank == 0, rank, &c); comm("unequal-split", c);
	if (size > 1) {
		MPI_Intercomm_create(c, 0, MPI_COMM_WORLD, rank == 0 ? 1 : 0, 7, &inter); comm("inter", inter);
		MPI_Comm_dup(inter, &c); comm("dup-of-inter", c);
		MPI_Intercomm_merge(inter, rank == 0, &c); comm("merged", c);
	}
	topologies(rank, size);
	int dims[2] = {0, 0}, periods[2] = {1, 0};
	MPI_Dims_create(size, 2, dims);
	MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &c); comm("cart", c);
	for (int i = 0; i < 300; i++) {
		MPI_Comm_dup(half, &many[i]);
		if (i % 23 == 0)
			comm("many", many[i]);
	}
	unsigned long was = HANDLE(many[298]);
	MPI_Comm_free(&many[298]);
	MPI_Comm_split(MPI_COMM_WORLD, rank / 2, 0, &c);
	comm(HANDLE(c) == was ? "handle-again" : "another-handle", c);
}

static void groups(int size)
{
	MPI_Group world, g;
	int first[1] = {0};
	group("empty", MPI_GROUP_EMPTY);
	MPI_Comm_group(MPI_COMM_WORLD, &world); group("world", world);
	MPI_Group_incl(world, 1, first, &g); group("incl", g);
	MPI_Group_excl(world, 1, first, &g); group("excl", g);
	for (int i = 0; i < 40; i++) {
		MPI_Group_incl(world, i % (size + 1) > 0, first, &g);
		group("many", g);
	}
}

#define WINDOWS 10
static MPI_Win windows[WINDOWS];

static void make_windows(int rank, int size)
{
	static char memory[64];
	/* Open MPI 4.1 makes no windows of one process. */
	int member = size < 3 || rank < size - 1;
	MPI_Comm part;
	MPI_Comm_split(MPI_COMM_WORLD, member ? 0 : MPI_UNDEFINED, rank, &part);
	for (int i = 0; i < (member ? WINDOWS : 1); i++) {
		MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, i ? part : MPI_COMM_WORLD, &windows[i]);
		win(i ? "part" : "world", windows[i]);
	}
}

int main(int argc, char **argv)
{
	char name[4096], done[4096];
	int rank, size;
	if (argc < 2)
		return 2;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	snprintf(name, sizeof name, "%s/rank%d.part", argv[1], rank);
	if (!(out = fopen(name, "w")))
		MPI_Abort(MPI_COMM_WORLD, 1);
	fprintf(out, "Process - %#lx %ld\n", 0L, (long)getpid());
	property("World", "world", 0, HANDLE(MPI_COMM_WORLD));
	predefined();
	derived();
	communicators(rank, size);
	groups(size);
	if (size > 1)
		make_windows(rank, size);
	fclose(out);
	snprintf(done, sizeof done, "%s/rank%d", argv[1], rank);
	rename(name, done);
	snprintf(name, sizeof name, "%s/stop", argv[1]);
	while (access(name, F_OK) != 0)
		usleep(10000);
	for (int i = 0; i < WINDOWS && windows[i]; i++) /* MPICH over UCX aborts if they are left */
		MPI_Win_free(&windows[i]);
	MPI_Finalize();
	return 0;
}
