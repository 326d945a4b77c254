// mpi_p2p.c [EDGES]: point-to-point calls of every kind, each on a line of its
// own, in a ring. With an argument also receives of a message from nobody.
//
// What each line moves is worked out by hand for 3 ranks. A comment at its end
// like "out A in B" says the bytes of every rank, "out A B C" those of ranks 0,
// 1 and 2, A/B naive and minimal where they differ; "n 3" how often it is called
// (else once per rank). A line without such a comment moves nothing.
#include <mpi.h>
#include <stdlib.h>

enum { MANY = 100000 }; // beyond any eager limit

static double a[MANY], b[MANY];
static MPI_Comm W;
static int me, np, next, prev;
static MPI_Request q[4];
static MPI_Status s[4];

static void blocking(void)
{
	MPI_Irecv(b, 10, MPI_DOUBLE, prev, 1, W, q); //= in 80
	MPI_Send(a, 10, MPI_DOUBLE, next, 1, W); //= out 80
	MPI_Wait(q, s);
	MPI_Irecv(b, MANY, MPI_DOUBLE, prev, 1, W, q); //= in 800000
	MPI_Send(a, MANY, MPI_DOUBLE, next, 1, W); //= out 800000
	MPI_Wait(q, s);
	MPI_Irecv(b, 20, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, W, q); //= in 80
	MPI_Ssend(a, 3, MPI_INT, next, 2, W); //= out 12
	MPI_Wait(q, s);
	int z;
	char *buffer = malloc(10000);
	MPI_Buffer_attach(buffer, 10000);
	MPI_Bsend(a, 7, MPI_CHAR, next, 3, W); //= out 7
	MPI_Recv(b, 7, MPI_CHAR, prev, 3, W, MPI_STATUS_IGNORE); //= in 7
	MPI_Buffer_detach(&buffer, &z);
	free(buffer);
	MPI_Irecv(b, 5, MPI_FLOAT, prev, 4, W, q); //= in 20
	MPI_Barrier(W);
	MPI_Rsend(a, 5, MPI_FLOAT, next, 4, W); //= out 20
	MPI_Waitall(1, q, s);
	MPI_Sendrecv(a, 2, MPI_DOUBLE, next, 5, b, 4, MPI_DOUBLE, prev, 5, W, s); //= out 16 in 32
	MPI_Sendrecv_replace(a, 6, MPI_INT, next, 6, prev, 6, W, s); //= out 24 in 24
	MPI_Irecv(b, 0, MPI_DOUBLE, me, 7, W, q);
	MPI_Send(a, 0, MPI_DOUBLE, me, 7, W);
	MPI_Wait(q, s);
}

static void nobody(void)
{
	MPI_Send(a, 10, MPI_DOUBLE, MPI_PROC_NULL, 1, W);
	MPI_Recv(b, 10, MPI_DOUBLE, MPI_PROC_NULL, 1, W, s);
	MPI_Sendrecv(a, 10, MPI_DOUBLE, MPI_PROC_NULL, 1, b, 10, MPI_DOUBLE, MPI_PROC_NULL, 1, W, s);
	MPI_Sendrecv_replace(a, 10, MPI_DOUBLE, MPI_PROC_NULL, 1, MPI_PROC_NULL, 1, W, s);
	MPI_Isend(a, 10, MPI_DOUBLE, MPI_PROC_NULL, 1, W, q);
	MPI_Irecv(b, 10, MPI_DOUBLE, MPI_PROC_NULL, 1, W, q + 1);
	MPI_Waitall(2, q, s);
	// A chain with open ends: the first rank receives from nobody.
	int up = me + 1 < np ? me + 1 : MPI_PROC_NULL, down = me > 0 ? me - 1 : MPI_PROC_NULL;
	MPI_Sendrecv(a, 10, MPI_DOUBLE, up, 2, b, 10, MPI_DOUBLE, down, 2, W, s); //= out 80 80 0 in 0 80 80
	MPI_Probe(MPI_PROC_NULL, 1, W, s);
}

static void no_message(void)
{
	MPI_Message m;
	MPI_Mprobe(MPI_PROC_NULL, 1, W, &m, s);
	MPI_Mrecv(b, 10, MPI_DOUBLE, &m, s);
}

static void nonblocking(void)
{
	int index, done, count, indices[4];
	char *buffer = malloc(10000);
	MPI_Irecv(b, 1, MPI_DOUBLE, prev, 1, W, q); //= in 8
	MPI_Isend(a, 1, MPI_DOUBLE, next, 1, W, q + 1); //= out 8
	MPI_Waitany(2, q, &index, s);
	MPI_Waitsome(2, q, &count, indices, s);
	MPI_Waitall(2, q, s);
	MPI_Irecv(b, 2, MPI_DOUBLE, prev, 2, W, q); //= in 16
	MPI_Issend(a, 2, MPI_DOUBLE, next, 2, W, q + 1); //= out 16
	MPI_Test(q, &done, s);
	MPI_Testall(2, q, &done, s);
	MPI_Testany(2, q, &index, &done, s);
	MPI_Testsome(2, q, &count, indices, s);
	MPI_Waitall(2, q, s);
	MPI_Buffer_attach(buffer, 10000);
	MPI_Irecv(b, 3, MPI_DOUBLE, prev, 3, W, q); //= in 24
	MPI_Ibsend(a, 3, MPI_DOUBLE, next, 3, W, q + 1); //= out 24
	MPI_Waitall(2, q, s);
	MPI_Buffer_detach(&buffer, &count);
	free(buffer);
	MPI_Irecv(b, 4, MPI_DOUBLE, prev, 4, W, q); //= in 32
	MPI_Barrier(W);
	MPI_Irsend(a, 4, MPI_DOUBLE, next, 4, W, q + 1); //= out 32
	MPI_Waitall(2, q, s);
	MPI_Irecv(b, 5, MPI_DOUBLE, me, 99, W, q); //= in 40
	MPI_Cancel(q);
	MPI_Wait(q, s);
	MPI_Test_cancelled(s, &done);
}

static void probes(void)
{
	int there, n;
	MPI_Message m;
	MPI_Isend(a, 5, MPI_INT, next, 1, W, q); //= out 20
	MPI_Probe(prev, 1, W, s);
	MPI_Get_count(s, MPI_INT, &n);
	MPI_Iprobe(prev, 1, W, &there, s);
	MPI_Recv(b, n, MPI_INT, prev, 1, W, s); //= in 20
	MPI_Wait(q, s);
	MPI_Isend(a, 6, MPI_INT, next, 2, W, q); //= out 24
	MPI_Mprobe(MPI_ANY_SOURCE, 2, W, &m, s);
	MPI_Mrecv(b, 6, MPI_INT, &m, s); //= in 24
	MPI_Wait(q, s);
	MPI_Isend(a, 7, MPI_INT, next, 3, W, q); //= out 28
	MPI_Probe(prev, 3, W, s);
	MPI_Improbe(prev, 3, W, &there, &m, s);
	MPI_Imrecv(b, 7, MPI_INT, &m, q + 1); //= in 28
	MPI_Waitall(2, q, s);
}

static void persistent(void)
{
	char *buffer = malloc(10000);
	int z;
	MPI_Send_init(a, 10, MPI_DOUBLE, next, 1, W, q);
	MPI_Recv_init(b, 10, MPI_DOUBLE, prev, 1, W, q + 1);
	for (int i = 0; i < 5; i++) {
		MPI_Start(q + 1); //= n 5 in 400
		MPI_Start(q); //= n 5 out 400
		MPI_Waitall(2, q, s); //= n 5
	}
	for (int i = 0; i < 4; i++) {
		MPI_Startall(2, q); //= n 4 out 320 in 320
		MPI_Waitall(2, q, s); //= n 4
	}
	MPI_Request_free(q);
	MPI_Request_free(q + 1);
	MPI_Ssend_init(a, 3, MPI_INT, next, 2, W, q);
	MPI_Recv_init(b, 3, MPI_INT, prev, 2, W, q + 1);
	MPI_Buffer_attach(buffer, 10000);
	MPI_Bsend_init(a, 4, MPI_INT, next, 3, W, q + 2);
	MPI_Recv_init(b + 100, 4, MPI_INT, prev, 3, W, q + 3);
	MPI_Startall(4, q); //= out 28 in 28
	MPI_Waitall(4, q, s);
	for (int i = 0; i < 4; i++)
		MPI_Request_free(q + i); //= n 4
	MPI_Buffer_detach(&buffer, &z);
	free(buffer);
	MPI_Recv_init(b, 5, MPI_CHAR, prev, 4, W, q + 1);
	MPI_Rsend_init(a, 5, MPI_CHAR, next, 4, W, q);
	MPI_Start(q + 1); //= in 5
	MPI_Barrier(W);
	MPI_Start(q); //= out 5
	MPI_Waitall(2, q, s);
	MPI_Request_free(q);
	MPI_Request_free(q + 1);
	// A request's handle comes again with another size.
	for (int n = 1; n <= 3; n++) {
		MPI_Send_init(a, n, MPI_INT, next, 5, W, q); //= n 3
		MPI_Recv_init(b, n, MPI_INT, prev, 5, W, q + 1); //= n 3
		MPI_Startall(2, q); //= n 3 out 24 in 24
		MPI_Waitall(2, q, s); //= n 3
		MPI_Request_free(q); //= n 3
		MPI_Request_free(q + 1); //= n 3
	}
	MPI_Send_init(a, 10, MPI_DOUBLE, MPI_PROC_NULL, 6, W, q);
	MPI_Start(q);
	MPI_Wait(q, s);
	MPI_Request_free(q);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	W = MPI_COMM_WORLD;
	MPI_Comm_rank(W, &me);
	MPI_Comm_size(W, &np);
	next = (me + 1) % np;
	prev = (me + np - 1) % np;
	blocking();
	nobody();
	if (argc > 1)
		no_message();
	nonblocking();
	probes();
	persistent();
	MPI_Finalize();
	return 0;
}
