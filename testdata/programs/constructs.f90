! constructs.f90: the constructs as Fortran spells them, workshare included.
!
!   constructs [REPS=1]
!
! Checks itself: count must come out as the formula at the end says.
program constructs
  use omp_lib
  implicit none
  integer, parameter :: n = 8
  real(8) :: a(n), b(n), total
  integer :: i, r, reps, threads
  integer :: count, want
  integer(omp_lock_kind) :: lock
  character(len=32) :: arg

  reps = 1
  if (command_argument_count() > 0) then
    call get_command_argument(1, arg)
    read (arg, *) reps
  end if
  call omp_set_dynamic(.false.)
  threads = omp_get_max_threads()
  call omp_init_lock(lock)
  count = 0

  do r = 1, reps
    a = 1
    b = 2
    total = 0

    !$omp parallel
    call hit()
    !$omp end parallel

    !$omp parallel do reduction(+:total)
    do i = 1, n
      total = total + a(i)
    end do
    !$omp end parallel do
    if (nint(total) /= n) stop 1

    !$omp parallel private(i)
    !$omp do schedule(dynamic,2)
    do i = 1, n
      call hit()
    end do
    !$omp end do
    !$omp do
    do i = 1, n
      call hit()
    end do
    !$omp end do nowait
    !$omp barrier
    !$omp workshare
    a = b + 1
    b = a * 2
    !$omp end workshare
    !$omp single
    call hit()
    !$omp end single
    !$omp master
    call hit()
    !$omp end master
    !$omp critical (ledger)
    call hit()
    !$omp end critical (ledger)
    !$omp critical
    call hit()
    !$omp end critical
    !$omp flush
    !$omp atomic
    total = total + 1
    call omp_set_lock(lock)
    call hit()
    call omp_unset_lock(lock)
    !$omp sections
    !$omp section
    call hit()
    !$omp section
    call hit()
    !$omp end sections
    !$omp end parallel
    if (nint(total) /= n + threads) stop 2

    !$omp parallel workshare
    a = b + 1
    b = a * 2
    !$omp end parallel workshare
    if (any(nint(b) /= 14)) stop 3

    !$omp parallel sections
    !$omp section
    call hit()
    !$omp section
    call hit()
    !$omp end parallel sections

    !$omp parallel do ordered schedule(dynamic)
    do i = 1, n
      !$omp ordered
      call hit()
      !$omp end ordered
    end do
    !$omp end parallel do
  end do
  call omp_destroy_lock(lock)

  want = reps * (threads + 2 * n + 1 + 1 + 3 * threads + 2 + 2 + n)
  if (count /= want) then
    print *, 'count', count, 'want', want
    stop 4
  end if
contains
  subroutine hit()
    !$omp atomic
    count = count + 1
  end subroutine
end program
