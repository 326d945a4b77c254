// libmpiwrap.c: a wrapper of MPI, as tools preload it. It passes calls on:
//
//   by default            to the library's other name, PMPI_X (MPI 4.0, 15.2)
//   -DNEXT='""' or '"P"'  to what the loader finds next under MPI_X or PMPI_X
//
// It makes one call of its own per process: MPI_Barrier in MPI_Finalize.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>

static volatile long calls, errors; // what follows a call keeps it from being a jump

#ifdef NEXT
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, NEXT #name))
#else
#define REAL(name) P##name
#endif

#define PASS(name, parameters, ...) \
	int name parameters \
	{ \
		calls++; \
		int error = REAL(name)(__VA_ARGS__); \
		errors += error != MPI_SUCCESS; \
		return error; \
	}

PASS(MPI_Init, (int *c, char ***v), c, v)
PASS(MPI_Init_thread, (int *c, char ***v, int need, int *have), c, v, need, have)
PASS(MPI_Comm_rank, (MPI_Comm c, int *r), c, r)
PASS(MPI_Comm_size, (MPI_Comm c, int *n), c, n)
PASS(MPI_Send, (const void *b, int n, MPI_Datatype t, int d, int tag, MPI_Comm c), b, n, t, d, tag, c)
PASS(MPI_Recv, (void *b, int n, MPI_Datatype t, int s, int tag, MPI_Comm c, MPI_Status *st), b, n, t, s, tag, c, st)
PASS(MPI_Irecv, (void *b, int n, MPI_Datatype t, int s, int tag, MPI_Comm c, MPI_Request *q), b, n, t, s, tag, c, q)
PASS(MPI_Wait, (MPI_Request *q, MPI_Status *st), q, st)
PASS(MPI_Send_init, (const void *b, int n, MPI_Datatype t, int d, int tag, MPI_Comm c, MPI_Request *q), b, n, t, d, tag, c, q)
PASS(MPI_Start, (MPI_Request *q), q)
PASS(MPI_Startall, (int n, MPI_Request *q), n, q)
PASS(MPI_Barrier, (MPI_Comm c), c)
PASS(MPI_Bcast, (void *b, int n, MPI_Datatype t, int r, MPI_Comm c), b, n, t, r, c)
PASS(MPI_Allreduce, (const void *b, void *o, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c), b, o, n, t, op, c)
PASS(MPI_Alltoallv, (const void *b, const int *bn, const int *bd, MPI_Datatype bt, void *o, const int *n, const int *d, MPI_Datatype t, MPI_Comm c), b, bn, bd, bt, o, n, d, t, c)

int MPI_Finalize(void)
{
	calls++;
	errors += REAL(MPI_Barrier)(MPI_COMM_WORLD); //= its own
	int error = REAL(MPI_Finalize)();
	errors += error != MPI_SUCCESS;
	return error;
}
