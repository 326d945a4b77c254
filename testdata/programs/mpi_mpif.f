! mpi_mpif.f: calls by the bindings of mpif.h. The comments say what each
! line moves on 3 ranks, as in mpi_p2p.c. 132 columns a line.
      program p
      implicit none
      include 'mpif.h'
      integer me, np, next, prev, ierr, q, s(MPI_STATUS_SIZE), op, i
      integer one(64), at(64), types(64)
      double precision a(1000), b(1000)
      external add
      do i = 1, 64
        one(i) = 1
        at(i) = i * 8
        types(i) = MPI_DOUBLE_PRECISION
      end do
      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, me, ierr)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, np, ierr)
      next = mod(me + 1, np)
      prev = mod(me + np - 1, np)
      call MPI_IRECV(b, 10, MPI_DOUBLE_PRECISION, prev, 1, MPI_COMM_WORLD, q, ierr) != in 80
      call MPI_SEND(a, 10, MPI_DOUBLE_PRECISION, next, 1, MPI_COMM_WORLD, ierr) != out 80
      call MPI_WAIT(q, s, ierr)
      call MPI_SENDRECV(a, 3, MPI_REAL, next, 2, b, 4, MPI_REAL, prev, 2, MPI_COMM_WORLD, s, ierr) != out 12 in 16
      call MPI_SEND(a, 10, MPI_DOUBLE_PRECISION, MPI_PROC_NULL, 3, MPI_COMM_WORLD, ierr)
      call MPI_BCAST(a, 10, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr) != out 160/80 0 0 in 0 80 80
      call MPI_ALLREDUCE(a, b, 10, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr) != out 160 in 160
      call MPI_GATHER(a, 10, MPI_DOUBLE_PRECISION, b, 10, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr) != out 80 in 240 0 0
      call MPI_ALLTOALLW(a, one, at, types, b, one, at, types, MPI_COMM_WORLD, ierr) != out 24 in 24
      call MPI_OP_CREATE(add, .true., op, ierr)
      call MPI_ALLREDUCE(a, b, 10, MPI_DOUBLE_PRECISION, op, MPI_COMM_WORLD, ierr) != out 160 in 160
      call MPI_OP_FREE(op, ierr)
      call MPI_FINALIZE(ierr)
      end

! An operation: what it calls is part of the library's work.
      subroutine add(x, y, n, t)
      implicit none
      integer n, t, i, bytes, ierr
      double precision x(n), y(n)
      call MPI_TYPE_SIZE(t, bytes, ierr) != n 0
      do i = 1, n
        y(i) = y(i) + x(i) * bytes / 8
      end do
      end
