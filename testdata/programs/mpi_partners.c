// mpi_partners.c: messages of many sizes between many pairs of 6 processes. The communicators and
// windows are made in every way of which all ranks' profiles together tell the members. Each call
// stands on a line of its own.
#include <mpi.h>
#include <stdlib.h>

enum { MANY = 40000, TAG = 7 };

static char a[MANY], b[MANY];
static MPI_Comm W;
static int me, np;

// A ring with messages that grow with the rank.
static void ring(MPI_Comm comm, int bytes)
{
	int rank, size;
	MPI_Request q[2];
	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	int next = (rank + 1) % size, prev = (rank + size - 1) % size;
	MPI_Sendrecv(a, bytes + rank, MPI_CHAR, next, TAG, b, MANY, MPI_CHAR, prev, TAG, comm, MPI_STATUS_IGNORE);
	MPI_Irecv(b, bytes + prev, MPI_CHAR, prev, TAG, comm, &q[0]);
	MPI_Isend(a, bytes + rank, MPI_CHAR, next, TAG, comm, &q[1]);
	MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
	MPI_Allreduce(a, b, bytes / 8, MPI_DOUBLE, MPI_SUM, comm);
}

// Several calls on one communicator, so that nothing depends on the call that is read first.
static void rings(MPI_Comm comm)
{
	for (int bytes = 8; bytes < MANY / 2; bytes *= 16)
		ring(comm, bytes);
}

static void blocking(void)
{
	MPI_Status s;
	int far = np - 1 - me;
	for (int i = 0; i < 3; i++) {
		if (me < far)
			MPI_Send(a, 100 << i, MPI_INT, far, TAG, W);
		else if (me > far)
			MPI_Recv(b, 100 << i, MPI_INT, far, TAG, W, &s);
		MPI_Sendrecv_replace(a, 1 << i, MPI_DOUBLE, (me + 2) % np, TAG, (me + np - 2) % np, TAG, W, &s);
	}
	int up = me + 1 < np ? me + 1 : MPI_PROC_NULL, down = me > 0 ? me - 1 : MPI_PROC_NULL;
	MPI_Sendrecv(a, 0, MPI_CHAR, up, TAG, b, 0, MPI_CHAR, down, TAG, W, &s);
}

// Rank 0 takes what comes. Who that was is known where there is a status.
static void anyone(void)
{
	MPI_Status s;
	MPI_Message m;
	MPI_Request q;
	if (me > 0) {
		for (int i = 0; i < 4; i++)
			MPI_Send(a, me, MPI_DOUBLE, 0, TAG + i, W);
		MPI_Sendrecv(a, 5, MPI_CHAR, 0, TAG + 4, b, 6, MPI_CHAR, 0, TAG + 4, W, &s);
		return;
	}
	for (int i = 1; i < np; i++) {
		MPI_Recv(b, 64, MPI_DOUBLE, MPI_ANY_SOURCE, TAG, W, &s);
		MPI_Recv(b, 64, MPI_DOUBLE, MPI_ANY_SOURCE, TAG + 1, W, MPI_STATUS_IGNORE);
		MPI_Irecv(b, 64, MPI_DOUBLE, MPI_ANY_SOURCE, TAG + 2, W, &q);
		MPI_Wait(&q, &s);
		MPI_Mprobe(MPI_ANY_SOURCE, TAG + 3, W, &m, &s);
		MPI_Mrecv(b, 64, MPI_DOUBLE, &m, &s);
		MPI_Sendrecv(a, 6, MPI_CHAR, i, TAG + 4, b, 5, MPI_CHAR, MPI_ANY_SOURCE, TAG + 4, W, &s);
	}
}

static void persistent(void)
{
	MPI_Comm other;
	MPI_Request q[3];
	MPI_Comm_split(W, me % 2, -me, &other);
	int rank, size;
	MPI_Comm_rank(other, &rank);
	MPI_Comm_size(other, &size);
	MPI_Recv_init(b, 77, MPI_CHAR, (rank + size - 1) % size, TAG, other, &q[0]);
	MPI_Send_init(a, 77, MPI_CHAR, (rank + 1) % size, TAG, other, &q[1]);
	MPI_Send_init(a, 99, MPI_CHAR, MPI_PROC_NULL, TAG, other, &q[2]);
	for (int i = 0; i < 4; i++) {
		MPI_Startall(3, q);
		MPI_Waitall(3, q, MPI_STATUSES_IGNORE);
	}
	MPI_Start(&q[0]);
	MPI_Start(&q[1]);
	MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
	for (int i = 0; i < 3; i++)
		MPI_Request_free(&q[i]);
	MPI_Comm_free(&other);
}

// Libraries use handles again.
static void splits(void)
{
	MPI_Comm c, d;
	for (int i = 1; i < 5; i++) {
		MPI_Comm_split(W, me % i, i % 2 ? me : -me, &c);
		rings(c);
		MPI_Comm_split(c, me < 3, 0, &d);
		rings(d);
		MPI_Comm_free(&d);
		MPI_Comm_free(&c);
	}
	MPI_Comm_split(W, me ? 1 : MPI_UNDEFINED, -me, &c);
	if (me) {
		rings(c);
		MPI_Comm_free(&c);
	}
	MPI_Comm_dup(W, &c);
	MPI_Comm_split(c, me / 2, 0, &d);
	rings(c);
	rings(d);
	MPI_Comm_free(&d);
	MPI_Comm_free(&c);
	MPI_Comm_split_type(W, MPI_COMM_TYPE_SHARED, -me, MPI_INFO_NULL, &c);
	rings(c);
	MPI_Comm_free(&c);
	MPI_Group world, even;
	int ranks[] = {4, 2, 0};
	MPI_Comm_group(W, &world);
	MPI_Group_incl(world, 3, ranks, &even);
	MPI_Comm_create(W, even, &c);
	if (c != MPI_COMM_NULL) {
		rings(c);
		MPI_Comm_free(&c);
	}
	MPI_Group_free(&even);
	MPI_Group_free(&world);
}

static void grids(void)
{
	int dims[] = {1, 2, 3}, wrap[] = {1, 1, 1};
	MPI_Comm grid, part;
	for (int i = 1; i < 3; i++) {
		dims[0] = i == 1 ? 1 : 3, dims[2] = i == 1 ? 3 : 1; // 1x2x3, 3x2x1
		MPI_Cart_create(W, 3, dims, wrap, 0, &grid);
		rings(grid);
		for (int keep = 1; keep < 8; keep++) {
			int remain[] = {keep & 1, keep >> 1 & 1, keep >> 2};
			MPI_Cart_sub(grid, remain, &part);
			rings(part);
			MPI_Comm_free(&part);
		}
		MPI_Comm_free(&grid);
	}
	int next = (me + 1) % np;
	int from = (me + np - 1) % np;
	MPI_Dist_graph_create_adjacent(W, 1, &from, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 1, &grid);
	rings(grid);
	MPI_Comm_free(&grid);
}

static void windows(void)
{
	MPI_Comm half;
	MPI_Win w;
	static double memory[16];
	MPI_Comm_split(W, me < 2, 0, &half);
	for (int i = 0; i < 2; i++) {
		int rank, size;
		MPI_Comm_rank(i ? half : W, &rank);
		MPI_Comm_size(i ? half : W, &size);
		// Open MPI 4.1 names a window's file in shared memory by a number that both halves'
		// communicators have: github.com/open-mpi/ompi/issues/9492. So they take turns.
		if (i && me >= 2)
			MPI_Barrier(W);
		MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, i ? half : W, &w);
		if (i && me < 2)
			MPI_Barrier(W);
		MPI_Win_fence(0, w);
		MPI_Put(a, 3, MPI_DOUBLE, (rank + 1) % size, 0, 3, MPI_DOUBLE, w);
		MPI_Win_fence(0, w);
		MPI_Get(b, 5, MPI_DOUBLE, (rank + size - 1) % size, 0, 5, MPI_DOUBLE, w);
		MPI_Win_fence(0, w);
		MPI_Accumulate(a, 1, MPI_DOUBLE, 0, 8, 1, MPI_DOUBLE, MPI_SUM, w);
		MPI_Win_fence(0, w);
		MPI_Win_free(&w);
	}
	MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	W = MPI_COMM_WORLD;
	MPI_Comm_rank(W, &me);
	MPI_Comm_size(W, &np);
	rings(W);
	rings(MPI_COMM_SELF);
	blocking();
	anyone();
	persistent();
	splits();
	grids();
	windows();
	MPI_Bcast(a, me < 0 ? 1 : 1000, MPI_CHAR, 2, W);
	MPI_Gather(a, 10, MPI_INT, b, 10, MPI_INT, 1, W);
	MPI_Finalize();
	return 0;
}
