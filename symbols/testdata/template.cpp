// Regions in templates, member functions and lambdas.
extern "C" void ext(int);
struct A {
  int n;
  template <class T> void run(T by) {
#pragma omp parallel // begin member
    {
      ext(n + (int)by);
      ext(n);
    } // end member
  }
};
int main() {
  A a{1};
  a.run(1);
  a.run(2.5);
  auto f = [&](int k) {
#pragma omp parallel // begin lambda
    {
      ext(k + a.n);
      ext(k);
    } // end lambda
  };
  f(3);
  return 0;
}
