// OpenMP regions of every shape that matters to line tables. A comment
// "begin X" marks a directive, "end X" the last line of its block.
extern void ext(int);
extern void cold(void) __attribute__((cold, noreturn));
static inline int later(int x);
volatile int sink;

void plain(int n) {
#pragma omp parallel // begin plain
  {
    ext(n);
    ext(n + 1);
  } // end plain
}

void loop(int n) {
#pragma omp parallel for schedule(dynamic) \
    firstprivate(n) // begin loop -1
  for (int i = 0; i < n; i++) {
    ext(i);
  } // end loop
}

// The inlined function stands below the region: its lines are not the region's.
void inlines(int n) {
#pragma omp parallel // begin inlines
  {
    ext(n);
    sink = later(n);
  } // end inlines
}

void coldpart(int n) {
#pragma omp parallel // begin coldpart
  {
    if (n > 3)
      cold();
    ext(n);
    sink = n;
  } // end coldpart
}

void nested(int n) {
#pragma omp parallel // begin outer
  {
    ext(n);
#pragma omp parallel // begin inner
    {
      ext(n + 2);
      ext(n + 3);
    } // end inner
    ext(n + 4);
  } // end outer
}

void tasks(int n) {
#pragma omp parallel // begin taskteam
  {
#pragma omp task // begin task
    {
      ext(n);
      sink = n;
    } // end task
    ext(n + 1);
  } // end taskteam
}

void constructs(int n) {
#pragma omp critical(name) // begin critical
  {
    ext(n);
  } // end critical
#pragma omp barrier // begin barrier end barrier
}

static inline int later(int x) {
  ext(x + 100); // call later
  return x * 3;
}

int main(void) {
  plain(1);
  loop(2);
  inlines(3);
  coldpart(1);
  nested(5);
  tasks(6);
  constructs(7);
  return 0;
}
