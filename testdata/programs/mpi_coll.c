// mpi_coll.c [EDGES]: collective calls of every kind, each on a line of its own.
// The comments say what each moves on 3 ranks, as in mpi_p2p.c; d is 80 bytes.
// With an argument also neighbourhoods in which some have nobody for a neighbour.
#include <mpi.h>
#include <stdlib.h>

enum { MAX = 64, N = 10 };

static double a[MAX * N], b[MAX * N];
static int ns[MAX], ds[MAX], bytes[MAX]; // rank i has i+1 elements
static MPI_Datatype types[MAX];
static MPI_Comm W;
static int me, np;
static MPI_Request q[2];
static MPI_Status s[2];

static void rooted(void)
{
	int last = np - 1;
	MPI_Barrier(W);
	MPI_Bcast(a, N, MPI_DOUBLE, 0, W); //= out 160/80 0 0 in 0 80 80
	MPI_Bcast(a, N, MPI_DOUBLE, last, W); //= out 0 0 160/80 in 80 80 0
	MPI_Reduce(a, b, N, MPI_DOUBLE, MPI_SUM, 0, W); //= out 0 80 80 in 160/80 0 0
	MPI_Reduce(me == last ? MPI_IN_PLACE : a, b, N, MPI_DOUBLE, MPI_SUM, last, W); //= out 80 80 0 in 0 0 160/80
	MPI_Gather(a, N, MPI_DOUBLE, b, 2 * N, MPI_FLOAT, 0, W); //= out 80 in 240 0 0
	MPI_Gather(me == last ? MPI_IN_PLACE : a, N, MPI_DOUBLE, b, N, MPI_DOUBLE, last, W); //= out 80 in 0 0 240
	MPI_Scatter(a, N, MPI_DOUBLE, b, N, MPI_DOUBLE, 0, W); //= out 240 0 0 in 80
	MPI_Scatter(a, N, MPI_DOUBLE, me == last ? MPI_IN_PLACE : b, N, MPI_DOUBLE, last, W); //= out 0 0 240 in 80
	MPI_Gatherv(a, me + 1, MPI_DOUBLE, b, ns, ds, MPI_DOUBLE, 0, W); //= out 8 16 24 in 48 0 0
	MPI_Gatherv(me == last ? MPI_IN_PLACE : a, me + 1, MPI_DOUBLE, b, ns, ds, MPI_DOUBLE, last, W); //= out 8 16 24 in 0 0 48
	MPI_Scatterv(a, ns, ds, MPI_DOUBLE, b, me + 1, MPI_DOUBLE, 0, W); //= out 48 0 0 in 8 16 24
	MPI_Scatterv(a, ns, ds, MPI_DOUBLE, me == last ? MPI_IN_PLACE : b, me + 1, MPI_DOUBLE, last, W); //= out 0 0 48 in 8 16 24
	// What only the root needs is nothing elsewhere.
	if (me == 0)
		MPI_Gatherv(a, 1, MPI_DOUBLE, b, (int[]){1, 1, 1, 1, 1, 1, 1, 1}, ds, MPI_DOUBLE, 0, W); //= n 1 0 0 out 8 0 0 in 24 0 0
	else
		MPI_Gatherv(a, 1, MPI_DOUBLE, NULL, NULL, NULL, MPI_DATATYPE_NULL, 0, W); //= n 0 1 1 out 0 8 8
}

static void symmetric(void)
{
	MPI_Allreduce(a, b, N, MPI_DOUBLE, MPI_SUM, W); //= out 160 in 160
	MPI_Allreduce(MPI_IN_PLACE, b, N, MPI_DOUBLE, MPI_MAX, W); //= out 160 in 160
	MPI_Allgather(a, N, MPI_DOUBLE, b, N, MPI_DOUBLE, W); //= out 240/80 in 240
	MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, N, MPI_DOUBLE, W); //= out 240/80 in 240
	MPI_Allgatherv(a, me + 1, MPI_DOUBLE, b, ns, ds, MPI_DOUBLE, W); //= out 24/8 48/16 72/24 in 48
	MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, ns, ds, MPI_DOUBLE, W); //= out 24/8 48/16 72/24 in 48
	MPI_Alltoall(a, N, MPI_DOUBLE, b, N, MPI_DOUBLE, W); //= out 240 in 240
	MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, N, MPI_DOUBLE, W); //= out 240 in 240
	int same[MAX], one[MAX];
	for (int i = 0; i < np; i++) {
		same[i] = me + 1;
		one[i] = 1;
	}
	// Everybody sends the peer i i+1 elements, and so receives me+1 from each.
	int apart[MAX];
	for (int i = 0; i < np; i++)
		apart[i] = i * (me + 1);
	MPI_Alltoallv(a, ns, ds, MPI_DOUBLE, b, same, apart, MPI_DOUBLE, W); //= out 48 in 24 48 72
	MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, b, one, ds, MPI_DOUBLE, W); //= out 24 in 24
	for (int i = 0; i < np; i++)
		apart[i] *= (int)sizeof(double);
	MPI_Alltoallw(a, ns, bytes, types, b, same, apart, types, W); //= out 48 in 24 48 72
	MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, b, one, bytes, types, W); //= out 24 in 24
	MPI_Reduce_scatter(a, b, ns, MPI_DOUBLE, MPI_SUM, W); //= out 40 32 24 in 16/8 32/16 48/24
	MPI_Reduce_scatter(MPI_IN_PLACE, b, ns, MPI_DOUBLE, MPI_SUM, W); //= out 40 32 24 in 16/8 32/16 48/24
	MPI_Reduce_scatter_block(a, b, N, MPI_DOUBLE, MPI_SUM, W); //= out 160 in 160/80
	MPI_Scan(a, b, N, MPI_DOUBLE, MPI_SUM, W); //= out 80 80 0 in 0 80 80
	MPI_Exscan(a, b, N, MPI_DOUBLE, MPI_SUM, W); //= out 80 80 0 in 0 80 80
	MPI_Reduce_local(a, b, N, MPI_DOUBLE, MPI_SUM);
}

static void nonblocking(void)
{
	int one[MAX];
	for (int i = 0; i < np; i++)
		one[i] = 1;
	MPI_Ibarrier(W, q);
	MPI_Wait(q, s);
	MPI_Ibcast(a, N, MPI_DOUBLE, 0, W, q); //= out 160/80 0 0 in 0 80 80
	MPI_Wait(q, s);
	MPI_Ireduce(a, b, N, MPI_DOUBLE, MPI_SUM, 0, W, q); //= out 0 80 80 in 160/80 0 0
	MPI_Wait(q, s);
	MPI_Igather(a, N, MPI_DOUBLE, b, N, MPI_DOUBLE, 0, W, q); //= out 80 in 240 0 0
	MPI_Wait(q, s);
	MPI_Iscatter(a, N, MPI_DOUBLE, b, N, MPI_DOUBLE, 0, W, q); //= out 240 0 0 in 80
	MPI_Wait(q, s);
	MPI_Igatherv(a, me + 1, MPI_DOUBLE, b, ns, ds, MPI_DOUBLE, 0, W, q); //= out 8 16 24 in 48 0 0
	MPI_Wait(q, s);
	MPI_Iscatterv(a, ns, ds, MPI_DOUBLE, b, me + 1, MPI_DOUBLE, 0, W, q); //= out 48 0 0 in 8 16 24
	MPI_Wait(q, s);
	MPI_Iallreduce(a, b, N, MPI_DOUBLE, MPI_SUM, W, q); //= out 160 in 160
	MPI_Wait(q, s);
	MPI_Iallgather(a, N, MPI_DOUBLE, b, N, MPI_DOUBLE, W, q); //= out 240/80 in 240
	MPI_Wait(q, s);
	MPI_Iallgatherv(a, me + 1, MPI_DOUBLE, b, ns, ds, MPI_DOUBLE, W, q); //= out 24/8 48/16 72/24 in 48
	MPI_Wait(q, s);
	MPI_Ialltoall(a, N, MPI_DOUBLE, b, N, MPI_DOUBLE, W, q); //= out 240 in 240
	MPI_Wait(q, s);
	MPI_Ialltoallv(a, one, ds, MPI_DOUBLE, b, one, ds, MPI_DOUBLE, W, q); //= out 24 in 24
	MPI_Wait(q, s);
	MPI_Ialltoallw(a, one, bytes, types, b, one, bytes, types, W, q); //= out 24 in 24
	MPI_Wait(q, s);
	MPI_Ireduce_scatter(a, b, ns, MPI_DOUBLE, MPI_SUM, W, q); //= out 40 32 24 in 16/8 32/16 48/24
	MPI_Wait(q, s);
	MPI_Ireduce_scatter_block(a, b, N, MPI_DOUBLE, MPI_SUM, W, q); //= out 160 in 160/80
	MPI_Wait(q, s);
	MPI_Iscan(a, b, N, MPI_DOUBLE, MPI_SUM, W, q); //= out 80 80 0 in 0 80 80
	MPI_Wait(q, s);
	MPI_Iexscan(a, b, N, MPI_DOUBLE, MPI_SUM, W, q); //= out 80 80 0 in 0 80 80
	MPI_Wait(q, s);
}

static void neighbours(void)
{
	MPI_Comm ring, star;
	int yes = 1, degree = me == 0 ? np - 1 : 1, peers[MAX], two[2] = {2, 3}, start[2] = {0, 5};
	MPI_Aint start_aint[2] = {0, 40};
	MPI_Cart_create(W, 1, &np, &yes, 0, &ring);
	MPI_Neighbor_allgather(a, N, MPI_DOUBLE, b, N, MPI_DOUBLE, ring); //= out 160/80 in 160
	MPI_Neighbor_alltoall(a, N, MPI_DOUBLE, b, N, MPI_DOUBLE, ring); //= out 160 in 160
	MPI_Neighbor_allgatherv(a, 2, MPI_DOUBLE, b, (int[]){2, 2}, start, MPI_DOUBLE, ring); //= out 32/16 in 32
	// The lower neighbour gets 2 and sends 3: it sends that to its upper one.
	MPI_Neighbor_alltoallv(a, two, start, MPI_DOUBLE, b, (int[]){3, 2}, start, MPI_DOUBLE, ring); //= out 40 in 40
	MPI_Neighbor_alltoallw(a, two, start_aint, types, b, (int[]){3, 2}, start_aint, types, ring); //= out 40 in 40
	MPI_Ineighbor_alltoall(a, N, MPI_DOUBLE, b, N, MPI_DOUBLE, ring, q); //= out 160 in 160
	MPI_Wait(q, s);
	MPI_Ineighbor_allgather(a, N, MPI_DOUBLE, b, N, MPI_DOUBLE, ring, q); //= out 160/80 in 160
	MPI_Wait(q, s);
	MPI_Comm_free(&ring);
	// Everybody is a neighbour of rank 0, and of no one else.
	for (int i = 0; i < degree; i++)
		peers[i] = me == 0 ? i + 1 : 0;
	MPI_Dist_graph_create_adjacent(W, degree, peers, MPI_UNWEIGHTED, degree, peers, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &star);
	MPI_Neighbor_allgather(a, N, MPI_DOUBLE, b, N, MPI_DOUBLE, star); //= out 160/80 80 80 in 160 80 80
	MPI_Neighbor_alltoall(a, N, MPI_DOUBLE, b, N, MPI_DOUBLE, star); //= out 160 80 80 in 160 80 80
	MPI_Comm_free(&star);
}

// In a row the ranks at the ends have one neighbour only.
static void edges(void)
{
	MPI_Comm row;
	int no = 0;
	MPI_Cart_create(W, 1, &np, &no, 0, &row);
	MPI_Neighbor_allgather(a, N, MPI_DOUBLE, b, N, MPI_DOUBLE, row); //= out 80 160/80 80 in 80 160 80
	MPI_Neighbor_alltoall(a, N, MPI_DOUBLE, b, N, MPI_DOUBLE, row); //= out 80 160 80 in 80 160 80
	MPI_Comm_free(&row);
}

// A user's operation that calls MPI itself: those calls are part of the library's.
static void add(void *x, void *y, int *n, MPI_Datatype *t)
{
	int size;
	MPI_Type_size(*t, &size); //= n 0
	for (int i = 0; i < *n; i++)
		((double *)y)[i] += ((double *)x)[i] * size / 8;
}

static void user_op(void)
{
	MPI_Op op;
	MPI_Op_create(add, 1, &op);
	MPI_Allreduce(a, b, N, MPI_DOUBLE, op, W); //= out 160 in 160
	MPI_Reduce(a, b, N, MPI_DOUBLE, op, 0, W); //= out 0 80 80 in 160/80 0 0
	MPI_Iallreduce(a, b, N, MPI_DOUBLE, op, W, q); //= out 160 in 160
	MPI_Wait(q, s);
	MPI_Op_free(&op);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_dup(MPI_COMM_WORLD, &W);
	MPI_Comm_rank(W, &me);
	MPI_Comm_size(W, &np);
	for (int i = 0; i < np; i++) {
		ns[i] = i + 1;
		ds[i] = i * np; // apart enough for each of these counts
		bytes[i] = i * np * (int)sizeof(double);
	}
	for (int i = 0; i < MAX; i++)
		types[i] = MPI_DOUBLE;
	rooted();
	symmetric();
	nonblocking();
	neighbours();
	if (argc > 1)
		edges();
	user_op();
	MPI_Comm_free(&W);
	MPI_Finalize();
	return 0;
}
