program main
  call work(10)
contains
  subroutine work(n)
    integer, intent(in) :: n
    integer :: i
    real(8) :: s
    s = 0
!$omp parallel ! begin team
    call ext(n)
!$omp single ! begin single
    call ext(n + 1)
!$omp end single ! end single
    call ext(n + 2)
!$omp end parallel ! end team
!$omp parallel do &  ! begin loop
!$omp reduction(+:s)
    do i = 1, n
      s = s + i
      call ext(i)
    end do ! end loop
    print *, s
  end subroutine
  subroutine ext(k)
    integer, intent(in) :: k
    integer, volatile :: z
    z = k
  end subroutine
end program
