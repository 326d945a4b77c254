// mpi_objects.c: communicators, intercommunicators and datatypes that come and
// go, so that the same handles mean other sizes. The comments say what each line
// moves on 3 ranks, as in mpi_p2p.c; d is 80 bytes.
#include <mpi.h>
#include <stddef.h>
#include <stdlib.h>

enum { N = 10, MAX = 1000 };

static double a[MAX], b[MAX];
static MPI_Comm W = MPI_COMM_WORLD;
static int me, np;
static MPI_Request q[2];
static MPI_Status s[2];

static void churn(void)
{
	MPI_Comm c, d;
	for (int i = 0; i < 4; i++) {
		// All of them, then the ranks below i and the others.
		MPI_Comm_dup(W, &c); //= n 4
		MPI_Allreduce(a, b, N, MPI_DOUBLE, MPI_SUM, c); //= n 4 out 640 in 640
		MPI_Comm_split(c, me < i, -me, &d); //= n 4
		// Groups of 3; rank 0 and the others; rank 2 and the others; 3.
		MPI_Allreduce(a, b, N, MPI_DOUBLE, MPI_SUM, d); //= n 4 out 400 480 400 in 400 480 400
		MPI_Comm_free(&d); //= n 4
		MPI_Comm_free(&c); //= n 4
	}
	// Not everybody takes part.
	MPI_Comm_split(W, me == 0 ? MPI_UNDEFINED : 1, me, &c);
	if (c != MPI_COMM_NULL) {
		MPI_Allgather(a, N, MPI_DOUBLE, b, N, MPI_DOUBLE, c); //= n 0 1 1 out 0 160/80 160/80 in 0 160 160
		MPI_Bcast(a, N, MPI_DOUBLE, 0, c); //= n 0 1 1 out 0 80 0 in 0 0 80
		MPI_Comm_free(&c); //= n 0 1 1
	}
	MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_SELF);
	MPI_Reduce(a, b, N, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_SELF);
	MPI_Scan(a, b, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
	MPI_Allreduce(a, b, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
	MPI_Gather(a, N, MPI_DOUBLE, b, N, MPI_DOUBLE, 0, MPI_COMM_SELF); //= out 80 in 80
	MPI_Comm_split_type(W, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &c);
	MPI_Allreduce(a, b, N, MPI_DOUBLE, MPI_SUM, c); //= out 160 in 160
	MPI_Comm_free(&c);
}

// The left group is rank 0, the right one the others.
static void intercommunicators(void)
{
	MPI_Comm half, inter;
	int left = me == 0, one[MAX], at[MAX], mine[MAX];
	if (np < 2)
		return;
	MPI_Comm_split(W, left, me, &half);
	MPI_Intercomm_create(half, 0, W, left ? 1 : 0, 1, &inter);
	int remote;
	MPI_Comm_remote_size(inter, &remote);
	for (int i = 0; i < np; i++) {
		one[i] = 1;
		at[i] = i;
		// Both groups' vectors have as many elements: the left one's all for one.
		mine[i] = left ? np - 1 : 1;
	}
	int root = left ? MPI_ROOT : 0; // rank 0 is the root
	MPI_Bcast(a, N, MPI_DOUBLE, root, inter); //= out 160/80 0 0 in 0 80 80
	MPI_Reduce(a, b, N, MPI_DOUBLE, MPI_SUM, root, inter); //= out 0 80 80 in 160/80 0 0
	MPI_Gather(a, N, MPI_DOUBLE, b, N, MPI_DOUBLE, root, inter); //= out 0 80 80 in 160 0 0
	MPI_Scatter(a, N, MPI_DOUBLE, b, N, MPI_DOUBLE, root, inter); //= out 160 0 0 in 0 80 80
	MPI_Gatherv(a, 1, MPI_DOUBLE, b, one, at, MPI_DOUBLE, root, inter); //= out 0 8 8 in 16 0 0
	MPI_Scatterv(a, one, at, MPI_DOUBLE, b, 1, MPI_DOUBLE, root, inter); //= out 16 0 0 in 0 8 8
	root = left ? 0 : me == 1 ? MPI_ROOT : MPI_PROC_NULL; // rank 1 is
	MPI_Bcast(a, N, MPI_DOUBLE, root, inter); //= out 0 80 0 in 80 0 0
	MPI_Reduce(a, b, N, MPI_DOUBLE, MPI_SUM, root, inter); //= out 80 0 0 in 0 80 0
	MPI_Gather(a, N, MPI_DOUBLE, b, N, MPI_DOUBLE, root, inter); //= out 80 0 0 in 0 80 0
	MPI_Scatter(a, N, MPI_DOUBLE, b, N, MPI_DOUBLE, root, inter); //= out 0 80 0 in 80 0 0
	MPI_Ibcast(a, N, MPI_DOUBLE, root, inter, q); //= out 0 80 0 in 80 0 0
	MPI_Wait(q, s);
	MPI_Allreduce(a, b, N, MPI_DOUBLE, MPI_SUM, inter); //= out 160 80 80 in 160 80 80
	MPI_Allgather(a, N, MPI_DOUBLE, b, N, MPI_DOUBLE, inter); //= out 160/80 80 80 in 160 80 80
	MPI_Allgatherv(a, 1, MPI_DOUBLE, b, one, at, MPI_DOUBLE, inter); //= out 16/8 8 8 in 16 8 8
	MPI_Alltoall(a, N, MPI_DOUBLE, b, N, MPI_DOUBLE, inter); //= out 160 80 80 in 160 80 80
	MPI_Alltoallv(a, one, at, MPI_DOUBLE, b, one, at, MPI_DOUBLE, inter); //= out 16 8 8 in 16 8 8
	MPI_Reduce_scatter(a, b, mine, MPI_DOUBLE, MPI_SUM, inter); //= out 16 in 32/16 8 8
	MPI_Barrier(inter);
	MPI_Sendrecv(a, N, MPI_DOUBLE, left ? 0 : me == 1 ? 0 : MPI_PROC_NULL, 1, b, N, MPI_DOUBLE, left ? 0 : me == 1 ? 0 : MPI_PROC_NULL, 1, inter, s); //= out 80 80 0 in 80 80 0
	MPI_Comm merged;
	MPI_Intercomm_merge(inter, left, &merged);
	MPI_Allreduce(a, b, N, MPI_DOUBLE, MPI_SUM, merged); //= out 160 in 160
	MPI_Comm_free(&merged);
	MPI_Comm_free(&inter);
	MPI_Comm_free(&half);
}

struct particle {
	double x[3];
	int id;
	char kind;
};

static void datatypes(void)
{
	MPI_Datatype t, u;
	int next = (me + 1) % np, prev = (me + np - 1) % np;
	// The same handle, most likely, with sizes 8, 16, ... 48: 168 in all.
	for (int i = 1; i <= 6; i++) {
		MPI_Type_vector(i, 1, 3, MPI_DOUBLE, &t); //= n 6
		MPI_Type_commit(&t); //= n 6
		MPI_Sendrecv(a, 1, t, next, 1, b, 1, t, prev, 1, W, s); //= n 6 out 168 in 168
		MPI_Bcast(a, 2, t, 0, W); //= n 6 out 672/336 0 0 in 0 336 336
		MPI_Type_free(&t); //= n 6
	}
	// 24 + 4 + 1 bytes, whatever its extent.
	int lengths[3] = {3, 1, 1};
	MPI_Aint at[3] = {offsetof(struct particle, x), offsetof(struct particle, id), offsetof(struct particle, kind)};
	MPI_Datatype of[3] = {MPI_DOUBLE, MPI_INT, MPI_CHAR};
	MPI_Type_create_struct(3, lengths, at, of, &t);
	MPI_Type_create_resized(t, 0, sizeof(struct particle), &u);
	MPI_Type_commit(&u);
	MPI_Irecv(b, 4, u, prev, 2, W, q); //= in 116
	MPI_Send(a, 4, u, next, 2, W); //= out 116
	MPI_Wait(q, s);
	MPI_Type_free(&t);
	MPI_Type_free(&u);
	MPI_Type_contiguous(5, MPI_SHORT, &t);
	MPI_Type_dup(t, &u);
	MPI_Type_commit(&u);
	MPI_Gather(a, 2, u, b, 10, MPI_SHORT, 0, W); //= out 20 in 60 0 0
	MPI_Type_free(&u);
	MPI_Type_free(&t);
	int whole[2] = {8, 8}, part[2] = {2, 3}, corner[2] = {1, 1};
	MPI_Type_create_subarray(2, whole, part, corner, MPI_ORDER_C, MPI_FLOAT, &t);
	MPI_Type_commit(&t);
	MPI_Sendrecv_replace(a, 1, t, next, 3, prev, 3, W, s); //= out 24 in 24
	MPI_Type_free(&t);
	MPI_Type_contiguous(0, MPI_INT, &t);
	MPI_Type_commit(&t);
	MPI_Sendrecv(a, 7, t, next, 4, b, 7, t, prev, 4, W, s);
	MPI_Type_free(&t);
	// Predefined ones of every size; a pair's is without its gap.
	MPI_Bcast(a, 1, MPI_BYTE, 0, W); //= out 2/1 0 0 in 0 1 1
	MPI_Bcast(a, 1, MPI_SHORT, 0, W); //= out 4/2 0 0 in 0 2 2
	MPI_Bcast(a, 1, MPI_INT64_T, 0, W); //= out 16/8 0 0 in 0 8 8
	MPI_Bcast(a, 1, MPI_LONG_DOUBLE, 0, W); //= out 32/16 0 0 in 0 16 16
	MPI_Bcast(a, 1, MPI_C_DOUBLE_COMPLEX, 0, W); //= out 32/16 0 0 in 0 16 16
	MPI_Allreduce(a, b, 1, MPI_DOUBLE_INT, MPI_MAXLOC, W); //= out 24 in 24
	char packed[100];
	int position = 0;
	MPI_Pack(a, 3, MPI_DOUBLE, packed, sizeof packed, &position, W);
	MPI_Bcast(packed, position, MPI_PACKED, 0, W); //= out 48/24 0 0 in 0 24 24
	position = 0;
	MPI_Unpack(packed, sizeof packed, &position, b, 3, MPI_DOUBLE, W);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(W, &me);
	MPI_Comm_size(W, &np);
	churn();
	intercommunicators();
	datatypes();
	MPI_Finalize();
	return 0;
}
