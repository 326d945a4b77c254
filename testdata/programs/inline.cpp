// Constructs that GCC makes plain instructions of. Behind //= stands how often
// each thread executes the construct (with "master": the primary thread).
#include <cstdio>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace {

template <class T> struct Field {
  std::vector<T> v;
  explicit Field(std::size_t n) : v(n, T(1)) {}
  T &at(std::size_t i) { return v.at(i); } // throws
};

template <class T> void step(Field<T> &f, Field<T> &g, int reps) {
#pragma omp parallel
  for (int r = 0; r < reps; r++) {
#pragma omp for //= 18
    for (std::size_t i = 0; i < f.v.size(); i++) f.at(i) += g.at(i);
#pragma omp for //= 18
    for (auto it = g.v.begin(); it < g.v.end(); ++it) *it += T(2);
#pragma omp master //= master 18
    f.at(0) = T(0);
#pragma omp barrier
#pragma omp for schedule(static, 7) //= 18
    for (long i = 0; i < long(f.v.size()); i++) {
      try {
        if (i % 100 == 0) g.at(f.v.size() + i) = T(1);
      } catch (const std::out_of_range &) {
        g.at(i) = T(3);
      }
    }
  }
}

template <class Body> void each(int n, Body body) {
#pragma omp parallel
  {
#pragma omp for //= 1
    for (int i = 0; i < n; i++) body(i);
#pragma omp single nowait //= 1
    body(0);
#pragma omp for //= 1
    for (auto &x : std::vector<int>(16, 3)) body(x);
  }
}

} // namespace

int main() {
  Field<double> f(1000), g(1000);
  Field<int> h(1000), k(1000);
  step(f, g, 9);
  step(h, k, 9);
  std::vector<double> out(1000);
  each(1000, [&](int i) { out[i] += f.v[i]; });
  return std::accumulate(out.begin(), out.end(), 0.0) < -1;
}
