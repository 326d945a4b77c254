// mpich_yield.c: ranks of MPICH that wait let others run, as those of Open MPI do with
// mpi_yield_when_idle. MPICH's ch4 device has no such setting: its ranks poll UCX without end, and
// where there are more ranks than processors each of them waits for others' time slices.
//
//   LD_PRELOAD=mpich_yield.so mpirun.mpich -n 6 PROGRAM
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>

unsigned ucp_worker_progress(void *worker)
{
	static unsigned (*real)(void *);
	if (!real)
		real = (unsigned (*)(void *))dlsym(RTLD_NEXT, "ucp_worker_progress");
	unsigned events = real(worker);
	if (events == 0)
		sched_yield();
	return events;
}
