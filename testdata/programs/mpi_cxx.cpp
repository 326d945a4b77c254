// mpi_cxx.cpp: the C++ bindings that MPI-3 removed and libraries still bring,
// and the C ones from C++. The comments say what each line moves on 3 ranks, as
// in mpi_p2p.c.
#include <mpi.h>
#include <stdexcept>

namespace {
double a[1000], b[1000];

template <class T> MPI_Datatype type();
template <> MPI_Datatype type<double>() { return MPI_DOUBLE; }
template <> MPI_Datatype type<int>() { return MPI_INT; }

template <class T> __attribute__((noinline)) void ring(int next, int prev)
{
	MPI_Sendrecv(a, 5, type<T>(), next, 1, b, 5, type<T>(), prev, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //= n 2 out 60 in 60
}

struct guard {
	~guard() { MPI_Barrier(MPI_COMM_WORLD); }
};
}

int main(int argc, char **argv)
{
	MPI::Init(argc, argv);
	int me = MPI::COMM_WORLD.Get_rank(), np = MPI::COMM_WORLD.Get_size();
	int next = (me + 1) % np, prev = (me + np - 1) % np;
	MPI::Request q = MPI::COMM_WORLD.Irecv(b, 10, MPI::DOUBLE, prev, 1);
	MPI::COMM_WORLD.Send(a, 10, MPI::DOUBLE, next, 1);
	q.Wait();
	MPI::COMM_WORLD.Bcast(a, 10, MPI::DOUBLE, 0);
	MPI::COMM_WORLD.Allreduce(a, b, 10, MPI::DOUBLE, MPI::SUM);
	ring<double>(next, prev);
	ring<int>(next, prev);
	try {
		guard g;
		throw std::runtime_error("through a call of MPI");
	} catch (const std::runtime_error &) {
	}
	MPI::Finalize();
	return 0;
}
