// mpich_leave.c: ranks of MPICH end although others have gone.
//
// MPI_Finalize of MPICH 4.0.2 closes its endpoints of UCX, and then waits for the other ranks
// without making progress. Over TCP, to close an endpoint may need the other side's progress: of
// 15 jobs on two nodes some 5 never ended. So endpoints are left open here. All messages have been
// received by then, and the end of the process closes the connections.
//
//   LD_PRELOAD=mpich_leave.so mpirun.mpich -hosts a,b PROGRAM
#include <stddef.h>

void *ucp_disconnect_nb(void *endpoint)
{
	(void)endpoint;
	return NULL; /* closed at once */
}
