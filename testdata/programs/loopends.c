// loopends.c: static loops with what may follow their ends: another loop, a barrier, the end of the
// region, other code, cancellation, nested regions. For clang.
//   loopends ITERATIONS
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include "ompp.h"
static int a[1000], n; static omp_lock_t l;
__attribute__((noinline)) static void own(int m) {
#pragma omp for nowait
 for (int i = 0; i < m; i++) a[i]++;
#pragma omp for nowait
 for (int i = 0; i < m; i++) a[i]--;
}
__attribute__((noinline)) static void inner(void) {
#pragma omp parallel num_threads(2)
 {
#pragma omp for nowait
 for (int i = 0; i < n; i++) a[i] += 3;
#pragma omp for nowait
 for (int i = 0; i < n/2; i++) a[i] += 3;
 }
}
int main(int c, char **v) {
 n = atoi(v[1]); omp_init_lock(&l); omp_set_max_active_levels(2);
 for (int r = 0; r < 300; r++) {
 int z = r % 3 ? n : 0, last = 0;
#pragma omp parallel if(r % 5)
 {
#pragma omp for nowait
  for (int i = 0; i < z; i++) a[i] += 1;
#pragma omp for
  for (int i = 0; i < n - z; i++) a[i] += 2;
#pragma omp for nowait
  for (int i = 0; i < z; i++) { omp_set_lock(&l); a[3]++; omp_unset_lock(&l); }
#pragma omp barrier
  for (int k = 0; k < r % 4; k++) {
#pragma omp for nowait
   for (int i = 0; i < 90; i++) a[i] += k;
  }
#pragma omp for lastprivate(last)
  for (int i = 0; i < z; i++) last = i;
#pragma omp sections nowait
  {
   a[5]++;
#pragma omp section
   a[6]++;
  }
#pragma omp for nowait
  for (int i = 0; i < 4; i++) if (r % 50 == 0) inner();
#pragma omp for schedule(dynamic) nowait
  for (int i = 0; i < z; i++) a[i] += 1;
#pragma omp for nowait
  for (int i = 0; i < z; i++) {
#pragma omp critical
   a[2]++;
  }
 }
#pragma omp parallel
 {
  own(z);
#pragma omp single nowait
  a[9]++;
#pragma omp for
  for (int i = 0; i < z; i++) {
   a[i] += 2;
#pragma omp cancel for if(i == 7)
  }
#pragma omp for nowait
  for (int i = 0; i < n; i++) a[i] += 2;
 }
#pragma omp parallel
 {
#pragma omp for nowait
  for (int i = 0; i < n; i++) a[i] += 2;
  ompp_begin("marked");
#pragma omp for nowait
  for (int i = 0; i < n; i++) a[i] -= 2;
  ompp_end("marked");
#pragma omp for nowait
  for (int i = 0; i < n; i++) a[i] += 2;
#pragma omp atomic write
  a[11] = n;
#pragma omp for nowait
  for (int i = 0; i < n; i++) a[i] += 2;
 }
 own(z);
 }
 printf("%d\n", a[3] > 0);
}
