/* Constructs that GCC makes plain instructions of. Behind //= stands how often
 * each thread executes the construct (with "master": the primary thread). */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#define N 1000
static double a[N], b[N], c[N];
static volatile int zero = 0, one = 1, many = N;

__attribute__((noinline)) static void work(int i) { a[i] += b[i] * 0.5; }
static inline double twice(double x)
{
  return x * 2;
}

static void plain(void) {
#pragma omp parallel
  {
#pragma omp for //= 1
    for (int i = 0; i < N; i++) work(i);
  }
#pragma omp parallel
  {
    double x = twice(omp_get_thread_num());
#pragma omp for nowait //= 1
    for (int i = 0; i < N; i++) a[i] += x;
#pragma omp for //= 1
    for (int i = 0; i < N / 2; i++) b[i] = twice(a[i]);
#pragma omp barrier
  }
}

static void repeated(int reps, int n) {
#pragma omp parallel
  for (int r = 0; r < reps; r++) {
#pragma omp for //= 9
    for (int i = 0; i < n; i++) work(i);
#pragma omp for nowait //= 9
    for (int i = 0; i < n; i++) a[i] += twice(b[i]);
#pragma omp for //= 9
    for (int i = 0; i < n; i++) b[i] += c[i];
#pragma omp barrier
  }
#pragma omp parallel
  for (int r = 0; r < reps; r++) {
#pragma omp for nowait //= 9
    for (int i = 0; i < N; i++) a[i] += 1;
  }
}

static void bounds(int empty, int few, unsigned long large) {
#pragma omp parallel
  {
#pragma omp for //= 1
    for (int i = 0; i < empty; i++) work(i);
#pragma omp for nowait //= 1
    for (int i = 0; i < few; i++) work(i);
    if (empty)
#pragma omp critical
      c[1] = 1;
#pragma omp for schedule(static, 3) //= 1
    for (int i = 0; i < N; i++) c[i] += b[i];
#pragma omp for schedule(static, 1) nowait //= 1
    for (int i = few; i < 7; i++) work(i);
#pragma omp for //= 1
    for (unsigned long i = 0; i < large; i++) work(i % N);
#pragma omp for collapse(2) //= 1
    for (int i = 0; i < few + 3; i++)
      for (int j = 0; j < few + 5; j++) work(i * 8 + j);
#pragma omp for //= 1
    for (int i = N - 1; i >= 0; i -= 3) work(i);
#pragma omp for nowait //= 1
    for (int i = empty; i < empty; i++) work(i);
#pragma omp barrier
  }
}

static double reductions(int reps) {
  double s = 0, p = 1;
  int last = 0;
  for (int r = 0; r < reps; r++) {
#pragma omp parallel
    {
#pragma omp for reduction(+ : s) //= 9
      for (int i = 0; i < N; i++) s += a[i];
#pragma omp for reduction(+ : s) reduction(* : p) //= 9
      for (int i = 0; i < many; i++) { s += a[i]; p *= 1.0; }
#pragma omp for lastprivate(last) //= 9
      for (int i = 0; i < many; i++) last = i;
    }
  }
  return s + p + last;
}

static void masters(int reps) {
#pragma omp parallel
  for (int r = 0; r < reps; r++) {
#pragma omp master //= master 9
    c[0] += 1;
#pragma omp for //= 9
    for (int i = 0; i < N; i++) work(i);
#pragma omp single nowait //= 9
    c[1] += 1;
#pragma omp master //= master 9
    work(3);
#pragma omp for schedule(static, 5) //= 9
    for (int i = 0; i < N; i++) c[i] += b[i];
#pragma omp single nowait //= 9
    work(1);
#pragma omp single //= 9
    work(2);
  }
}

static void orphan(int n) {
#pragma omp for //= 9
  for (int i = 0; i < n; i++) work(i);
#pragma omp master //= master 9
  work(1);
#pragma omp for nowait //= 9
  for (int i = 0; i < n; i++) a[i] += 2;
}

__attribute__((noinline)) static void orphans(int reps) {
#pragma omp parallel
  for (int r = 0; r < reps; r++) {
    orphan(many);
#pragma omp barrier
  }
}

static void bodies(int n) {
#pragma omp parallel
  {
#pragma omp for //= 1
    for (int i = 0; i < n; i++) {
#pragma omp critical
      c[0] += i;
      switch (i % 9) {
      case 0: a[i] += 1; break;
      case 1: b[i] += 2; break;
      case 2: c[i] += 3; break;
      case 3: a[i] -= 4; break;
      case 4: work(i); break;
      case 5: b[i] *= 1.5; break;
      case 6: a[i] *= b[i]; break;
      default: a[i] = i;
      }
    }
    if (n > 10) {
#pragma omp for //= 1
      for (int i = 0; i < n; i++)
        for (int j = 0; j < 3; j++) a[i] += b[j];
    }
#pragma omp for nowait //= 1
    for (int i = 0; i < n; i++) {
#pragma omp atomic
      c[2] += i;
    }
#pragma omp sections
    {
      work(1);
#pragma omp section
      work(2);
    }
  }
}

static void combined(int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) work(i);
#pragma omp parallel for schedule(static, 2)
  for (int i = 0; i < n; i++) a[i] += 1;
}

static void byhand(int n) { /* no construct */
#pragma omp parallel
  {
    int t = omp_get_thread_num(), s = omp_get_num_threads();
    for (int i = t; i < n; i += s) work(i);
    for (int i = n / s * t; i < n / s * (t + 1); i++) a[i] += 1;
  }
}

int main(void) {
  plain();
  repeated(9, many);
  bounds(zero, one, many);
  double s = reductions(9);
  masters(9);
  orphans(9);
  bodies(many);
  combined(many);
  byhand(many);
  return s == 42;
}
