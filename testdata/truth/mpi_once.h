// mpi_once.h: functions without a large-count form that are more than passed on.

CALL(Barrier, (MPI_Comm comm), (comm), v->colls++)
CALL(Ibarrier, (MPI_Comm comm, MPI_Request *q), (comm, q), v->colls++)
CALL(Fetch_and_op, (const void *b, void *rb, MPI_Datatype t, int target, MPI_Aint d, MPI_Op op, MPI_Win win), (b, rb, t, target, d, op, win),
	put(v, win, target, op != MPI_NO_OP, t), got(v, win, target, 1, t))
CALL(Compare_and_swap, (const void *b, const void *cb, void *rb, MPI_Datatype t, int target, MPI_Aint d, MPI_Win win), (b, cb, rb, t, target, d, win),
	put(v, win, target, 1, t), got(v, win, target, 1, t))
CALL(Start, (MPI_Request *q), (q), start(&c, *q))
CALL(Startall, (int n, MPI_Request *q), (n, q),
	for (int i = 0; i < n; i++) start(&c, q[i]))
CALL(Request_free, (MPI_Request *q), (q), forget(*q))
CALL(Abort, (MPI_Comm comm, int code), (comm, code), write_out())

// The process learns its rank when there is one.
static int initialized(struct call *c, int result)
{
	if (result == MPI_SUCCESS)
		who_am_i();
	end(c);
	return result;
}

int PMPI_Init(int *argc, char ***argv)
{
	static int (*real)(int *, char ***);
	struct call c;
	enter(&c, "MPI_Init", (void **)&real, __builtin_return_address(0));
	begin(&c);
	return initialized(&c, real(argc, argv));
}
int MPI_Init(int *argc, char ***argv) __attribute__((alias("PMPI_Init")));

int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	static int (*real)(int *, char ***, int, int *);
	struct call c;
	enter(&c, "MPI_Init_thread", (void **)&real, __builtin_return_address(0));
	begin(&c);
	return initialized(&c, real(argc, argv, required, provided));
}
int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) __attribute__((alias("PMPI_Init_thread")));
