# mpi_calls.py: MPI from Python by mpi4py: per rank 5 exchanges of 80 bytes, one
# broadcast and one reduction of 80 bytes, a barrier.
from array import array
from mpi4py import MPI

world = MPI.COMM_WORLD
me, np = world.Get_rank(), world.Get_size()
a, b = array("d", [1.0] * 10), array("d", [0.0] * 10)
for _ in range(5):
    world.Sendrecv([a, MPI.DOUBLE], dest=(me + 1) % np, recvbuf=[b, MPI.DOUBLE], source=(me - 1) % np)
world.Bcast([a, MPI.DOUBLE], root=0)
world.Allreduce([a, MPI.DOUBLE], [b, MPI.DOUBLE], op=MPI.SUM)
world.Barrier()
assert b[0] == np
