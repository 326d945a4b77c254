! Constructs that GCC makes plain instructions of. Behind != stands how often
! each thread executes the construct (with "master": the primary thread).
module shapes
   implicit none
   integer, parameter :: n = 1000
   real(8) :: a(n), b(n), c(n)
contains
   subroutine work(i)
      integer, intent(in) :: i
      a(i) = a(i) + b(i)*0.5d0
   end subroutine work

   subroutine orphan(m)
      integer, intent(in) :: m
      integer :: i
      !$omp do != 9
      do i = 1, m
         call work(i)
      end do
      !$omp end do
   end subroutine orphan
end module shapes

program inline
   use shapes
   implicit none
   integer :: i, j, r, m
   real(8) :: s
   character(8) :: arg
   call get_command_argument(1, arg)
   m = n
   if (len_trim(arg) > 0) read (arg, *) m
   a = 1; b = 2; c = 3; s = 0
   !$omp parallel private(r)
   do r = 1, 9
      !$omp do != 9
      do i = 1, m
         call work(i)
      end do
      !$omp end do
      !$omp master != master 9
      c(1) = c(1) + 1
      !$omp end master
      !$omp do schedule(static, 4) != 9
      do i = 1, m
         b(i) = b(i) + c(i)
      end do
      call orphan(m)
   end do
   !$omp end parallel
   !$omp parallel
   !$omp do collapse(2) != 1
   do i = 1, 10
      do j = 1, 20
         call work(i*j)
      end do
   end do
   !$omp do reduction(+:s) != 1
   do i = m, 1, -2
      s = s + a(i)
   end do
   !$omp do != 1
   do i = 1, m - n
      call work(i)
   end do
   !$omp end do nowait
   !$omp end parallel
   !$omp parallel do
   do i = 1, m
      call work(i)
   end do
   !$omp end parallel do
   if (s < 0) print *, s
end program inline
