// loopways.cpp: static loops of libomp between all that may come before, within and behind them.
// That is nested regions, tasks, regions of one thread, other loops, cancellation, exceptions,
// templates, and functions called from several sites. For clang.
//   loopways ITERATIONS
#include <omp.h>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
static int a[1000]; static int n; static omp_lock_t l;
template <typename T> __attribute__((noinline)) void orphan(T m) {
#pragma omp for nowait
 for (T i = 0; i < m; i++) a[i]++;
}
__attribute__((noinline)) void two(int m) {
#pragma omp for nowait
 for (int i = 0; i < m; i++) a[i]++;
#pragma omp for nowait schedule(static,7)
 for (int i = 0; i < m; i++) a[i]++;
}
__attribute__((noinline)) void nest(int depth) {
#pragma omp parallel num_threads(2)
 {
#pragma omp for nowait
  for (int i = 0; i < n; i++) a[i]++;
#pragma omp for nowait
  for (int i = 0; i < 4; i++) if (depth > 0 && i == 3) nest(depth - 1);
#pragma omp for nowait
  for (int i = 0; i < n; i++) a[i]++;
 }
}
__attribute__((noinline)) void serial(int m) {
#pragma omp parallel if(0)
 {
#pragma omp for nowait
  for (int i = 0; i < m; i++) a[i]++;
#pragma omp for nowait
  for (int i = 0; i < m; i++) a[i]++;
 }
}
__attribute__((noinline)) void tasks() {
#pragma omp parallel
 {
#pragma omp for nowait
  for (int i = 0; i < 12; i++) {
#pragma omp task
   { nest(0); serial(5); }
   if (i % 3 == 0) {
#pragma omp taskwait
   }
   if (i % 4 == 0) {
#pragma omp taskyield
   }
  }
#pragma omp for nowait
  for (int i = 0; i < n; i++) a[i]++;
#pragma omp barrier
#pragma omp for nowait
  for (int i = 0; i < 6; i++) {
#pragma omp taskgroup
   {
#pragma omp task
    two(0), serial(3);
#pragma omp task if(0)
    serial(4);
   }
  }
#pragma omp for
  for (int i = 0; i < n; i++) a[i]++;
#pragma omp single
  {
#pragma omp taskloop grainsize(5)
   for (int i = 0; i < 20; i++) a[i]++;
  }
#pragma omp for nowait
  for (int i = 0; i < n; i++) a[i]++;
 }
}
__attribute__((noinline)) void kinds(int r) {
#pragma omp parallel
 {
#pragma omp for nowait
  for (int i = 0; i < n; i++) a[i]++;
#pragma omp for schedule(dynamic, 3) nowait
  for (int i = 0; i < n; i++) a[i]++;
#pragma omp for nowait
  for (int i = 0; i < n; i++) a[i]++;
#pragma omp for ordered schedule(static)
  for (int i = 0; i < 6; i++) {
#pragma omp ordered
   a[i]++;
  }
#pragma omp for nowait
  for (int i = 0; i < n; i++) a[i]++;
#pragma omp sections nowait
  {
   a[1]++;
#pragma omp section
   a[2]++;
#pragma omp section
   a[3]++;
  }
#pragma omp for nowait
  for (int i = 0; i < n; i++) a[i]++;
#pragma omp masked
  a[5]++;
#pragma omp for nowait
  for (int i = 0; i < n; i++) try { if (a[i] % 7 == 3) throw std::runtime_error("x"); } catch (const std::exception &) { a[i]++; }
#pragma omp for nowait
  for (int i = 0; i < n; i++) { omp_set_lock(&l); a[i]++; omp_unset_lock(&l); }
  if (omp_get_thread_num() == r % 2) a[7] = 3;
#pragma omp for nowait
  for (int i = 0; i < n; i++) a[i]++;
  orphan<int>(n); orphan<long>(n); two(n); orphan<int>(0); two(r % 3 ? n : 0);
  if (r % 2) {
#pragma omp for nowait
   for (int i = 0; i < n; i++) a[i]++;
  } else {
#pragma omp for nowait
   for (int i = 0; i < n; i++) a[i]--;
  }
#pragma omp for
  for (int i = 0; i < n; i++) {
   a[i]++;
#pragma omp cancel for if(i == 5)
  }
#pragma omp for nowait
  for (int i = 0; i < n; i++) a[i]++;
 }
}
__attribute__((noinline)) void cancels(int r) {
#pragma omp parallel
 {
#pragma omp for nowait
  for (int i = 0; i < n; i++) a[i]++;
#pragma omp for nowait
  for (int i = 0; i < n; i++) a[i]++;
  if (r % 2) {
#pragma omp cancel parallel
  }
#pragma omp for nowait
  for (int i = 0; i < n; i++) a[i]++;
 }
}
__attribute__((noinline)) void chain(int k) {
#pragma omp parallel
 for (int j = 0; j < k; j++) {
#pragma omp for nowait
  for (int i = 0; i < 64; i++) a[i] += j;
#pragma omp for nowait
  for (int i = 0; i < 64; i++) a[i] -= j;
 }
}
int main(int, char **v) {
 n = atoi(v[1]); omp_init_lock(&l); omp_set_max_active_levels(3);
 for (int r = 0; r < 12; r++) {
  omp_set_num_threads(1 + r % 4);
  kinds(r); cancels(r); nest(2); tasks(); serial(n); two(n); orphan<int>(n); chain(r % 4);
#pragma omp parallel for collapse(2)
  for (int i = 0; i < 5; i++) for (int j = 0; j < n; j++) a[j]++;
#pragma omp teams num_teams(2) thread_limit(2)
#pragma omp distribute parallel for
  for (int i = 0; i < n; i++) a[i]++;
 }
 omp_set_num_threads(2);
 kinds(1);
 printf("%d\n", a[3] > 0);
}
