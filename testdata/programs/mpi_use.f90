! mpi_use.f90: calls by the bindings of module mpi. The comments say what each
! line moves on 3 ranks, as in mpi_p2p.c.
program p
  use mpi
  implicit none
  integer :: me, np, next, prev, ierr, q(2), s(MPI_STATUS_SIZE), ss(MPI_STATUS_SIZE, 2)
  double precision :: a(1000), b(1000)
  a = 0
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, np, ierr)
  next = mod(me + 1, np)
  prev = mod(me + np - 1, np)
  call MPI_Irecv(b, 10, MPI_DOUBLE_PRECISION, prev, 1, MPI_COMM_WORLD, q(1), ierr) != in 80
  call MPI_Send(a, 10, MPI_DOUBLE_PRECISION, next, 1, MPI_COMM_WORLD, ierr) != out 80
  call MPI_Wait(q(1), s, ierr)
  call MPI_Bcast(a, 10, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr) != out 160/80 0 0 in 0 80 80
  call MPI_Allreduce(MPI_IN_PLACE, b, 10, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr) != out 160 in 160
  call MPI_Recv_init(b, 10, MPI_DOUBLE_PRECISION, prev, 5, MPI_COMM_WORLD, q(1), ierr)
  call MPI_Send_init(a, 10, MPI_DOUBLE_PRECISION, next, 5, MPI_COMM_WORLD, q(2), ierr)
  call MPI_Startall(2, q, ierr) != out 80 in 80
  call MPI_Waitall(2, q, ss, ierr)
  call MPI_Request_free(q(1), ierr)
  call MPI_Request_free(q(2), ierr)
  call MPI_Scatter(a, 10, MPI_DOUBLE_PRECISION, b, 10, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr) != out 240 0 0 in 80
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call MPI_Finalize(ierr)
end program
