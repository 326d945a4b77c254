! markers.f90: the markers of ompp.h in Fortran, 3 times.
! Counts: outer 3, inner 3 per thread, in which CRITICAL 3 per thread.
program markers
  implicit none
  integer :: i
  real :: x
  x = 0
  do i = 1, 3
    call ompp_begin('outer')
    !$omp parallel num_threads(2)
    call ompp_begin('inner')
    !$omp critical
    x = x + 1
    !$omp end critical
    call ompp_end('inner')
    !$omp end parallel
    call ompp_end('outer')
  end do
  call ompp_off()
  call ompp_begin('outer')
  call ompp_end('outer')
  call ompp_on()
  if (x /= 6) stop 1
end program
