// Collective operations, for mpi.c. The root goes round: else calls with one root would overlap,
// and the root would be ahead of the others.

#define TIMED(call) \
	double t = now(); \
	for (int i = 0; i < n; i++) \
		call; \
	return (now() - t) / n

static double barrier(long bytes, int n)
{
	(void)bytes;
	TIMED(MPI_Barrier(comm));
}

static double bcast(long bytes, int n)
{
	TIMED(MPI_Bcast(from, bytes, MPI_BYTE, i % ranks, comm));
}

static double reduce(long bytes, int n)
{
	TIMED(MPI_Reduce(from, to, bytes / sizeof(double), MPI_DOUBLE, MPI_SUM, i % ranks, comm));
}

static double allreduce(long bytes, int n)
{
	TIMED(MPI_Allreduce(from, to, bytes / sizeof(double), MPI_DOUBLE, MPI_SUM, comm));
}

static double scan(long bytes, int n)
{
	TIMED(MPI_Scan(from, to, bytes / sizeof(double), MPI_DOUBLE, MPI_SUM, comm));
}

static double gather(long bytes, int n)
{
	TIMED(MPI_Gather(from, bytes, MPI_BYTE, to, bytes, MPI_BYTE, i % ranks, comm));
}

static double scatter(long bytes, int n)
{
	TIMED(MPI_Scatter(from, bytes, MPI_BYTE, to, bytes, MPI_BYTE, i % ranks, comm));
}

static double allgather(long bytes, int n)
{
	TIMED(MPI_Allgather(from, bytes, MPI_BYTE, to, bytes, MPI_BYTE, comm));
}

static double alltoall(long bytes, int n)
{
	TIMED(MPI_Alltoall(from, bytes, MPI_BYTE, to, bytes, MPI_BYTE, comm));
}
