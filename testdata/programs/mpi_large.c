// mpi_large.c: the large-count calls of MPI 4. The comments say what each line
// moves on 3 ranks, as in mpi_p2p.c; d is 80 bytes.
#include <mpi.h>
#include <stdlib.h>

enum { N = 10, MAX = 64 };

static double a[MAX * N], b[MAX * N];

int main(int argc, char **argv)
{
	MPI_Comm W = MPI_COMM_WORLD;
	MPI_Request q[2];
	MPI_Status s[2];
	MPI_Count n = N, ns[MAX], none[MAX] = {0};
	MPI_Aint at[MAX];
	MPI_Datatype types[MAX], t;
	int me, np;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(W, &me);
	MPI_Comm_size(W, &np);
	int next = (me + 1) % np, prev = (me + np - 1) % np;
	for (int i = 0; i < np; i++) {
		ns[i] = i + 1;
		at[i] = i * np;
		types[i] = MPI_DOUBLE;
	}
	MPI_Irecv_c(b, n, MPI_DOUBLE, prev, 1, W, q); //= in 80
	MPI_Send_c(a, n, MPI_DOUBLE, next, 1, W); //= out 80
	MPI_Wait(q, s);
	MPI_Isend_c(a, n, MPI_INT, next, 2, W, q); //= out 40
	MPI_Recv_c(b, n, MPI_INT, prev, 2, W, s); //= in 40
	MPI_Wait(q, s);
	MPI_Sendrecv_c(a, n, MPI_INT, next, 3, b, n, MPI_INT, prev, 3, W, s); //= out 40 in 40
	MPI_Send_init_c(a, n, MPI_INT, next, 4, W, q);
	MPI_Recv_init_c(b, n, MPI_INT, prev, 4, W, q + 1);
	MPI_Startall(2, q); //= out 40 in 40
	MPI_Waitall(2, q, s);
	MPI_Request_free(q);
	MPI_Request_free(q + 1);
	MPI_Bcast_c(a, n, MPI_DOUBLE, 0, W); //= out 160/80 0 0 in 0 80 80
	MPI_Allreduce_c(a, b, n, MPI_DOUBLE, MPI_SUM, W); //= out 160 in 160
	MPI_Gather_c(a, n, MPI_DOUBLE, b, n, MPI_DOUBLE, 0, W); //= out 80 in 240 0 0
	MPI_Gatherv_c(a, me + 1, MPI_DOUBLE, b, ns, at, MPI_DOUBLE, 0, W); //= out 8 16 24 in 48 0 0
	MPI_Allgatherv_c(a, me + 1, MPI_DOUBLE, b, ns, at, MPI_DOUBLE, W); //= out 24/8 48/16 72/24 in 48
	MPI_Reduce_scatter_c(a, b, ns, MPI_DOUBLE, MPI_SUM, W); //= out 40 32 24 in 16/8 32/16 48/24
	MPI_Alltoallw_c(a, none, at, types, b, none, at, types, W);
	MPI_Ibcast_c(a, n, MPI_DOUBLE, 0, W, q); //= out 160/80 0 0 in 0 80 80
	MPI_Wait(q, s);
	// More than an int can count, to nobody and in elements of no size.
	MPI_Send_c(a, (MPI_Count)5 << 31, MPI_DOUBLE, MPI_PROC_NULL, 5, W);
	MPI_Type_contiguous(0, MPI_INT, &t);
	MPI_Type_commit(&t);
	MPI_Sendrecv_c(a, (MPI_Count)5 << 31, t, next, 6, b, (MPI_Count)5 << 31, t, prev, 6, W, s);
	MPI_Type_free(&t);
	// Alone and in place, nothing is touched, and 10 GiB go from the process to itself.
	MPI_Allgather_c(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, (MPI_Count)5 << 31, MPI_BYTE, MPI_COMM_SELF); //= out 10737418240 in 10737418240
	MPI_Finalize();
	return 0;
}
