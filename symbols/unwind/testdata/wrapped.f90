! wrapped.f90: the same MPI call by mpi_f08, by mpif.h, and from a procedure
! with a frame of variable size; the first argument says which.
module calls
contains
  subroutine f08(flag)
    use mpi_f08
    logical :: flag
    integer :: ierr
    call MPI_Finalized(flag, ierr)
  end subroutine

  subroutine variable(flag, n)
    integer, intent(in) :: n
    logical :: flag(n), copy(n)
    integer :: ierr
    external :: MPI_Finalized
    copy = flag
    call MPI_Finalized(copy(n), ierr)
    flag = copy
  end subroutine
end module

subroutine f77(flag)
  logical :: flag
  integer :: ierr
  external :: MPI_Finalized
  call MPI_Finalized(flag, ierr)
end subroutine

program wrapped
  use calls
  logical :: flag(10)
  character(10) :: how
  flag = .false.
  call get_command_argument(1, how)
  select case (how)
  case ('f08')
    call f08(flag(1))
  case ('f77')
    call f77(flag(1))
  case default
    call variable(flag, command_argument_count() + 6)
  end select
end program
