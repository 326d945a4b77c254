! matrix.f90: every construct once per call, on a known line; the markers are
! explained in matrix.h.
program matrix
  use omp_lib
  implicit none
  integer, parameter :: calls = 3, n = 8
  integer :: a(64), b(64), flag = 0
  logical :: no = .false.
  integer(omp_lock_kind) :: lock
  integer(omp_nest_lock_kind) :: nest
  integer :: c

  call omp_init_lock(lock)
  call omp_init_nest_lock(nest)
  do c = 1, calls
    call m_parallel
    call m_parallel_for
    call m_parallel_sections
    call m_for
    call m_for_nowait
    call m_for_dynamic
    call m_for_guided
    call m_for_runtime
    call m_for_simd
    call m_ordered
    call m_doacross
    call m_loop
    call m_sections
    call m_workshare
    call m_single
    call m_single_nowait
    call m_copyprivate
    call m_master
    call m_masked
    call m_critical
    call m_barrier
    call m_atomic
    call m_flush
    call m_locks
    call m_reduction
    call m_cancel
    call m_teams
    call m_teams_parallel_for
    call m_target
    call m_tasks
    call m_scope
    call m_scope_task
  end do

contains
  subroutine work(i)
    integer, intent(in) :: i
    !$omp atomic
    a(mod(i, 64) + 1) = a(mod(i, 64) + 1) + 1
  end subroutine

  subroutine m_parallel
    !$omp parallel ! = parallel: PARALLEL 2
    call work(1)
    !$omp end parallel
    !$omp parallel if (no) ! = parallel if(0): PARALLEL 1
    call work(1)
    !$omp end parallel
    !$omp parallel num_threads(1) ! = parallel num_threads(1): PARALLEL 1
    call work(1)
    !$omp end parallel
  end subroutine

  subroutine m_parallel_for
    integer :: i
    !$omp parallel do ! = parallel for: PARALLEL LOOP 2
    do i = 1, n
      call work(i)
    end do
    !$omp parallel do schedule(dynamic) ! = parallel for schedule(dynamic): PARALLEL LOOP 2
    do i = 1, n
      call work(i)
    end do
  end subroutine

  subroutine m_parallel_sections
    !$omp parallel sections ! = parallel sections: PARALLEL SECTIONS 2
    !$omp section
    call work(1)
    !$omp section
    call work(2)
    !$omp end parallel sections
  end subroutine

  subroutine m_for
    integer :: i
    !$omp parallel
    !$omp do ! = for: LOOP 2
    do i = 1, n
      call work(i)
    end do
    !$omp end do
    call work(1)
    !$omp end parallel
  end subroutine

  subroutine m_for_nowait
    integer :: i
    !$omp parallel
    !$omp do ! = for nowait: LOOP 2
    do i = 1, n
      call work(i)
    end do
    !$omp end do nowait
    call work(1)
    !$omp end parallel
  end subroutine

  subroutine m_for_dynamic
    integer :: i
    !$omp parallel
    !$omp do schedule(dynamic) ! = for schedule(dynamic): LOOP 2
    do i = 1, n
      call work(i)
    end do
    !$omp end do
    call work(1)
    !$omp end parallel
  end subroutine

  subroutine m_for_guided
    integer :: i
    !$omp parallel
    !$omp do schedule(guided) ! = for schedule(guided) nowait: LOOP 2
    do i = 1, n
      call work(i)
    end do
    !$omp end do nowait
    call work(1)
    !$omp end parallel
  end subroutine

  subroutine m_for_runtime
    integer :: i
    !$omp parallel
    !$omp do schedule(runtime) ! = for schedule(runtime): LOOP 2
    do i = 1, n
      call work(i)
    end do
    !$omp end do
    call work(1)
    !$omp end parallel
  end subroutine

  subroutine m_for_simd
    integer :: i
    !$omp parallel
    !$omp do simd ! = for simd: LOOP 2
    do i = 1, n
      a(i) = a(i) + i
    end do
    !$omp end do simd
    call work(1)
    !$omp end parallel
  end subroutine

  subroutine m_ordered
    integer :: i
    !$omp parallel
    !$omp do ordered ! = for ordered: LOOP 2
    do i = 1, n
      call work(i)
      !$omp ordered ! = ordered: ORDERED 8
      call work(1)
      !$omp end ordered
    end do
    !$omp end do
    !$omp end parallel
  end subroutine

  subroutine m_doacross
    integer :: i
    !$omp parallel
    !$omp do ordered(1) schedule(static, 1) ! = for ordered(1): LOOP 2
    do i = 1, n
      !$omp ordered depend(sink: i - 1) ! = ordered depend(sink): ORDERED 7|8
      call work(i)
      !$omp ordered depend(source) ! = ordered depend(source): ORDERED 8
    end do
    !$omp end do
    !$omp end parallel
  end subroutine

  subroutine m_loop
    integer :: i
    !$omp parallel
    !$omp loop ! = loop: LOOP 2
    do i = 1, n
      call work(i)
    end do
    !$omp end loop
    call work(1)
    !$omp end parallel
  end subroutine

  subroutine m_sections
    !$omp parallel
    !$omp sections ! = sections: SECTIONS 2
    !$omp section
    call work(1)
    !$omp section
    call work(2)
    !$omp section
    call work(3)
    !$omp end sections
    call work(4)
    !$omp end parallel
  end subroutine

  subroutine m_workshare
    !$omp parallel
    !$omp workshare ! = workshare: WORKSHARE 2
    b = a + 1
    !$omp end workshare
    call work(1)
    !$omp end parallel
    !$omp parallel workshare ! = parallel workshare: PARALLEL WORKSHARE 2
    b = a + 2
    !$omp end parallel workshare
  end subroutine

  subroutine m_single
    !$omp parallel
    !$omp single ! = single: SINGLE 2
    call work(1)
    !$omp end single
    call work(2)
    !$omp end parallel
  end subroutine

  subroutine m_single_nowait
    !$omp parallel
    !$omp single ! = single nowait: SINGLE 2
    call work(1)
    !$omp end single nowait
    call work(2)
    !$omp end parallel
  end subroutine

  subroutine m_copyprivate
    integer :: x
    x = 0
    !$omp parallel firstprivate(x)
    !$omp single ! = single copyprivate: SINGLE 2
    x = 5
    !$omp end single copyprivate(x)
    call work(x)
    !$omp end parallel
  end subroutine

  subroutine m_master
    !$omp parallel
    !$omp master ! = master: MASTER 1
    call work(1)
    !$omp end master
    call work(2)
    !$omp end parallel
  end subroutine

  subroutine m_masked
    !$omp parallel
    !$omp masked filter(1) ! = masked filter(1): MASKED 1
    call work(1)
    !$omp end masked
    call work(2)
    !$omp end parallel
  end subroutine

  subroutine m_critical
    !$omp parallel
    !$omp critical ! = critical: CRITICAL 2
    call work(1)
    !$omp end critical
    !$omp critical(name) ! = critical(name): CRITICAL 2
    call work(2)
    !$omp end critical(name)
    !$omp end parallel
  end subroutine

  subroutine m_barrier
    !$omp parallel
    call work(1)
    !$omp barrier ! = barrier: BARRIER 2
    call work(2)
    !$omp end parallel
  end subroutine

  subroutine m_atomic
    !$omp parallel
    !$omp atomic ! = atomic: ATOMIC 2
    flag = flag + 1
    !$omp end parallel
  end subroutine

  subroutine m_flush
    !$omp parallel
    call work(1)
    !$omp flush ! = flush: FLUSH 2
    call work(2)
    !$omp end parallel
  end subroutine

  subroutine m_locks
    !$omp parallel
    call omp_set_lock(lock) ! = omp_set_lock: LOCK 2
    call work(1)
    call omp_unset_lock(lock)
    call omp_set_nest_lock(nest) ! = omp_set_nest_lock: NEST LOCK 2
    call work(2)
    call omp_unset_nest_lock(nest)
    !$omp end parallel
    if (omp_test_lock(lock)) then ! = omp_test_lock: LOCK 1
      call work(1)
      call omp_unset_lock(lock)
    end if
  end subroutine

  subroutine m_reduction
    integer :: i, s, t
    s = 0
    t = 0
    !$omp parallel
    !$omp do reduction(+: s) schedule(dynamic) ! = for reduction: LOOP 2
    do i = 1, n
      s = s + i
      call work(i)
    end do
    !$omp end do
    !$omp do reduction(+: s, t) schedule(dynamic) ! = for reduction of two, nowait: LOOP 2; its reduction: REDUCTION 2
    do i = 1, n
      s = s + i
      t = t + 1
      call work(i)
    end do
    !$omp end do nowait
    call work(1)
    !$omp end parallel
    flag = s + t
  end subroutine

  subroutine m_cancel
    !$omp parallel
    !$omp cancellation point parallel ! = cancellation point: CANCELLATION POINT 2
    call work(1)
    if (omp_get_thread_num() == 0) then
      !$omp cancel parallel ! = cancel: CANCEL 1
    end if
    !$omp barrier
    call work(2)
    !$omp end parallel
  end subroutine

  subroutine m_teams
    integer :: i
    !$omp teams num_teams(3) thread_limit(1) ! = teams: TEAMS 1|3
    !$omp distribute ! = distribute: DISTRIBUTE 3
    do i = 1, n
      call work(i)
    end do
    !$omp end teams
  end subroutine

  subroutine m_teams_parallel_for
    integer :: i
    !$omp teams distribute parallel do num_teams(2) thread_limit(2) ! = teams in a combined directive: TEAMS 1|2; distribute in it: DISTRIBUTE 2; parallel for in it: PARALLEL LOOP 4
    do i = 1, n
      call work(i)
    end do
  end subroutine

  subroutine m_target
    !$omp target map(tofrom: flag) ! = target: TARGET 1
    flag = flag + 1
    !$omp end target
    !$omp target data map(tofrom: a) ! = target data: TARGET DATA 1
    !$omp target update to(a) ! = target update: TARGET UPDATE 1
    call work(1)
    !$omp end target data
    !$omp target enter data map(to: a) ! = target enter data: TARGET ENTER DATA 1
    !$omp target exit data map(from: a) ! = target exit data: TARGET EXIT DATA 1
  end subroutine

  subroutine m_tasks
    integer :: i
    !$omp parallel
    !$omp single
    !$omp task ! = task: TASK 1; execution of a task: TASKEXEC 1
    call work(1)
    !$omp end task
    !$omp taskwait ! = taskwait: TASKWAIT 1
    !$omp taskgroup ! = taskgroup: TASKGROUP 1
    !$omp task untied ! = task untied: UTASK 1; execution of an untied task: UTASKEXEC 1
    call work(2)
    !$omp end task
    !$omp end taskgroup
    !$omp taskloop num_tasks(4) ! = taskloop: TASKLOOP 1
    do i = 1, n
      call work(i)
    end do
    !$omp taskyield ! = taskyield: TASKYIELD 1
    !$omp end single
    !$omp end parallel
  end subroutine

  subroutine m_scope
    !$omp parallel
    !$omp scope ! = scope: SCOPE 2
    call work(1)
    !$omp end scope
    call work(2)
    !$omp end parallel
  end subroutine

  subroutine m_scope_task
    integer :: s
    s = 0
    !$omp parallel
    !$omp scope reduction(task, +: s) ! = scope reduction(task): SCOPE 2
    s = s + 1
    !$omp end scope
    call work(3)
    !$omp end parallel
    flag = flag + s
  end subroutine
end program
