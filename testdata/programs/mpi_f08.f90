! mpi_f08.f90: calls by the bindings of module mpi_f08. The comments say what
! each line moves on 3 ranks, as in mpi_p2p.c.
module sums
  use mpi_f08
contains
  ! What an operation of the user's calls is part of the library's work.
  subroutine add(x, y, n, t)
    use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
    type(c_ptr), value :: x, y
    integer :: n, bytes
    type(MPI_Datatype) :: t
    double precision, pointer :: from(:), to(:)
    call MPI_Type_size(t, bytes) != n 0
    call c_f_pointer(x, from, [n])
    call c_f_pointer(y, to, [n])
    to = to + from * bytes / 8
  end subroutine
end module

program p
  use mpi_f08
  use sums
  implicit none
  integer :: me, np, next, prev, i, ns(64), ds(64)
  double precision :: a(1000), b(1000)
  type(MPI_Request) :: q(2)
  type(MPI_Status) :: s(2)
  type(MPI_Datatype) :: t, types(64)
  type(MPI_Comm) :: half
  type(MPI_Op) :: op
  logical :: there
  a = 0
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, me)
  call MPI_Comm_size(MPI_COMM_WORLD, np)
  next = mod(me + 1, np)
  prev = mod(me + np - 1, np)
  do i = 1, np
    ns(i) = i
    ds(i) = (i - 1) * np
    types(i) = MPI_DOUBLE_PRECISION
  end do
  call MPI_Irecv(b, 10, MPI_DOUBLE_PRECISION, prev, 1, MPI_COMM_WORLD, q(1)) != in 80
  call MPI_Send(a, 10, MPI_DOUBLE_PRECISION, next, 1, MPI_COMM_WORLD) != out 80
  call MPI_Wait(q(1), s(1))
  call MPI_Isend(a, 3, MPI_INTEGER, next, 2, MPI_COMM_WORLD, q(1)) != out 12
  call MPI_Recv(b, 3, MPI_INTEGER, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE) != in 12
  call MPI_Waitall(1, q, MPI_STATUSES_IGNORE)
  call MPI_Test(q(1), there, s(1))
  call MPI_Sendrecv(a, 4, MPI_REAL, next, 3, b, 5, MPI_REAL, prev, 3, MPI_COMM_WORLD, s(1)) != out 16 in 20
  call MPI_Sendrecv_replace(a, 4, MPI_REAL, next, 3, prev, 3, MPI_COMM_WORLD, s(1)) != out 16 in 16
  call MPI_Send(a, 10, MPI_DOUBLE_PRECISION, MPI_PROC_NULL, 1, MPI_COMM_WORLD)
  ! Every other element: a binding may make a type of its own for it.
  call MPI_Irecv(b, 10, MPI_DOUBLE_PRECISION, prev, 4, MPI_COMM_WORLD, q(1)) != in 80
  call MPI_Send(a(1:20:2), 10, MPI_DOUBLE_PRECISION, next, 4, MPI_COMM_WORLD) != out 80
  call MPI_Wait(q(1), s(1))
  call MPI_Send_init(a, 10, MPI_DOUBLE_PRECISION, next, 5, MPI_COMM_WORLD, q(1))
  call MPI_Recv_init(b, 10, MPI_DOUBLE_PRECISION, prev, 5, MPI_COMM_WORLD, q(2))
  do i = 1, 3
    call MPI_Startall(2, q) != n 3 out 240 in 240
    call MPI_Waitall(2, q, s) != n 3
  end do
  call MPI_Request_free(q(1))
  call MPI_Request_free(q(2))
  call MPI_Barrier(MPI_COMM_WORLD)
  call MPI_Bcast(a, 10, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD) != out 160/80 0 0 in 0 80 80
  call MPI_Reduce(a, b, 10, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD) != out 0 80 80 in 160/80 0 0
  call MPI_Allreduce(a, b, 10, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD) != out 160 in 160
  call MPI_Allreduce(MPI_IN_PLACE, b, 10, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD) != out 160 in 160
  call MPI_Gatherv(a, me + 1, MPI_DOUBLE_PRECISION, b, ns, ds, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD) != out 8 16 24 in 48 0 0
  call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, 10, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD) != out 240/80 in 240
  call MPI_Alltoall(a, 10, MPI_DOUBLE_PRECISION, b, 10, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD) != out 240 in 240
  ns = 1
  call MPI_Alltoallw(a, ns, ds, types, b, ns, ds, types, MPI_COMM_WORLD) != out 24 in 24
  call MPI_Scan(a, b, 10, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD) != out 80 80 0 in 0 80 80
  call MPI_Iallreduce(a, b, 10, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, q(1)) != out 160 in 160
  call MPI_Wait(q(1), s(1))
  call MPI_Op_create(add, .true., op)
  call MPI_Allreduce(a, b, 10, MPI_DOUBLE_PRECISION, op, MPI_COMM_WORLD) != out 160 in 160
  call MPI_Op_free(op)
  call MPI_Type_vector(4, 1, 2, MPI_DOUBLE_PRECISION, t)
  call MPI_Type_commit(t)
  call MPI_Sendrecv(a, 1, t, next, 6, b, 1, t, prev, 6, MPI_COMM_WORLD, s(1)) != out 32 in 32
  call MPI_Type_free(t)
  call MPI_Comm_split(MPI_COMM_WORLD, merge(1, 0, me > 0), me, half)
  call MPI_Allreduce(a, b, 10, MPI_DOUBLE_PRECISION, MPI_SUM, half) != out 0 80 80 in 0 80 80
  call MPI_Comm_free(half)
  call MPI_Finalize()
end program
