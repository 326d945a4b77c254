package directives

import (
	"ompp-attach/internal/hostile"
	"ompp-attach/internal/testbin"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestDirectives(t *testing.T) {
	// Each source marks its directives: "begin X" and "end X" comments.
	// words maps X to the directive's name.
	tests := []struct {
		name   string
		file   string
		source string
		words  map[string]string
	}{
		{"block and statement", "a.c", `
#pragma omp parallel // begin a
{
  x = "}"; c = '}'; /* } */ // end b }
#pragma omp single // begin s
  f(1,
    g[2]); // end s
} // end a
`, map[string]string{"a": "parallel", "s": "single"}},
		{"loop nests", "a.c", `
#pragma omp parallel for \
  schedule(static) // begin a -1
for (int i = 0; i < n; i++)
  for (j = 0; j < n; j++) {
    if (x) { y(); }
    else z();
  } // end a
#pragma omp for // begin b
for (;;)
  while (1)
    x += (y); // end b
`, map[string]string{"a": "parallel for", "b": "for"}},
		{"if else do try", "a.cc", `
#pragma omp task // begin a
if (x) y(); else if (z) { w(); }
else { v(); } // end a
#pragma omp task untied // begin b
do { x(); }
while (y); // end b
#pragma omp task // begin c
try { x(); }
catch (int) { y(); }
catch (...) { z(); } // end c
#pragma omp task // begin d
if constexpr (x) y(); // end d
z();
`, map[string]string{"a": "task", "b": "task", "c": "task", "d": "task"}},
		{"the statement is in another file", "loop.hh", `
#ifdef _OPENMP
#pragma omp parallel // begin a end a
#pragma omp for schedule(static) // begin b end b
#endif
`, map[string]string{"a": "parallel", "b": "for"}},
		{"stand-alone", "a.c", `
#pragma omp barrier // begin a end a
#pragma omp flush(x, \
   y) // begin b -1 end b
#pragma omp taskwait // begin c end c
#pragma omp ordered depend(sink: i-1) // begin d end d
#pragma omp ordered // begin e
{ x(); } // end e
#pragma omp cancel for // begin f end f
#pragma omp target enter data map(x) // begin g end g
#pragma omp target data map(x) // begin h
{ } // end h
`, map[string]string{"a": "barrier", "b": "flush", "c": "taskwait", "d": "ordered", "e": "ordered",
			"f": "cancel for", "g": "target enter data", "h": "target data"}},
		{"pragma after pragma", "a.c", `
#pragma omp parallel // begin a
#pragma omp critical ( lock ) // begin b
#pragma GCC ivdep
for (;;) ; // end a end b
#  pragma   omp	parallel   sections // begin c
{
#pragma omp section // begin d
  x(); // end d
#pragma omp section // begin e
  { y(); } // end e
} // end c
`, map[string]string{"a": "parallel", "b": "critical", "c": "parallel sections", "d": "section", "e": "section"}},
		{"expressions", "a.cpp", `
#pragma omp atomic // begin a
a[i] += b::c({1, 2}); // end a
#pragma omp critical // begin b
std::sort(v.begin(), v.end(), [](int a, int b) {
  return a < b; }); // end b
#pragma omp single // begin c
FOR_ALL(x, y) {
  z();
} // end c
#pragma omp atomic // begin d
n += 1'000'000; // end d
#pragma omp single // begin e
label: f(R"x(
}}" ;)x"); // end e
#pragma omp single // begin f
auto g = [&] { return 1; }; // end f
`, map[string]string{"a": "atomic", "b": "critical", "c": "single", "d": "atomic", "e": "single", "f": "single"}},
		{"conditionals", "a.c", `
#ifdef A
#pragma omp parallel for // begin a
for (;;) {
#else
for (;;) {
#endif
  x();
#if 0
}
#endif
} // end a
#ifdef B
int q() {
#else
#pragma omp parallel // begin b
{
#endif
#if X
  if (x) {
#elif Y
  if (y) {
#else
  {
#endif
  }
} // end b
`, map[string]string{"a": "parallel for", "b": "parallel"}},
		{"_Pragma", "a.c", `
_Pragma("omp parallel for schedule(static)") // begin a
for (;;) { } // end a
_Pragma("GCC unroll 4") for (;;) { }
`, map[string]string{"a": "parallel for"}},
		{"not a directive", "a.c", `
/* 
#pragma omp parallel */
// #pragma omp parallel \
#pragma omp parallel
char *s = "\
#pragma omp parallel";
#pragma ompx parallel
#pragma omp
#define X _Pragma("omp parallel")
`, nil},
		{"free-form", "a.f90", `
!$omp parallel private(i) ! begin a
  x = 'it''s !$omp' ! do
!$omp do schedule(dynamic,2) ! begin b
  do i = 1, n; do j = 1, n
    do while (x < 1)
    end do
  end do
  enddo
!$omp end do nowait ! end b
!$OMP DO ! begin c
  outer: do i = 1, n
    call f( &
      do)
  end do outer ! end c
  y = 1
!$omp critical (Foo) ! begin d
  z = 1
!$omp end critical (Foo) ! end d
!$omp barrier ! begin e end e
!$omp atomic ! begin f
  x = x &
   + 1 ! end f
!$omp end parallel ! end a
`, map[string]string{"a": "parallel", "b": "do", "c": "do", "d": "critical", "e": "barrier", "f": "atomic"}},
		{"more free-form", "a.F90", `
!$omp paralleldo & ! begin a
!$omp& reduction(+:s)
  do 10 i = 1, n
    do 10 j = 1, n
10 continue
!$omp endparalleldo ! end a
!$omp parallel sections ! begin b
!$omp section ! begin c
  call f(1) ! end c
!$omp section ! begin d
  call f(2)
  call f(2) ! end d
!$omp end parallel sections ! end b
!$omp atomic capture ! begin e
  v = x
  x = x + 1
!$omp end atomic ! end e
!$omp atomic ! begin g
  x = x + 1
!$omp end atomic ! end g
!$omp do simd simdlen(4) ! begin f
  do concurrent (i = 1:n)
  end do ! end f
!$omp flush ! begin h end h
`, map[string]string{"a": "parallel do", "b": "parallel sections", "c": "section", "d": "section",
			"e": "atomic", "f": "do simd", "g": "atomic", "h": "flush"}},
		{"fixed form", "a.f", `
c$omp parallel do private(i) ! begin a
c$omp+ shared(x)
      do i = 1, n
c     end do
        x(i) = 1 +
     &    2
      end do ! end a
      y = 1
C$OMP PARALLEL ! begin b
      DO 20 I = 1, N
   20 CONTINUE
*$omp master ! begin c
      x = 1
!$omp end master ! end c
C$OMP END PARALLEL ! end b
`, map[string]string{"a": "parallel do", "b": "parallel", "c": "master"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := testbin.MarksIn(tt.source)
			got := Parse(tt.file, tt.source)
			if len(got) != len(tt.words) {
				t.Errorf("%d directives, want %d: %+v", len(got), len(tt.words), got)
			}
			for name, words := range tt.words {
				d, ok := Enclosing(got, want.Begin[name], words)
				if !ok || d.Words != words || d.Begin != want.Begin[name] || d.End != want.End[name] {
					t.Errorf("%s: %+v, %t; want %q %d to %d", name, d, ok, words, want.Begin[name], want.End[name])
				}
			}
		})
	}
}

func TestCriticalName(t *testing.T) {
	for file, source := range map[string]string{
		"a.c":   "#pragma omp critical ( lock ) hint(x)\n;",
		"a.f90": "!$omp critical (LOCK)\n!$omp end critical (LOCK)",
	} {
		if ds := Parse(file, source); len(ds) != 1 || ds[0].Name != "lock" {
			t.Errorf("%s: %+v", file, ds)
		}
	}
}

func TestEnclosing(t *testing.T) {
	ds := Parse("a.c", `#pragma omp parallel
{
#pragma omp for
  for (;;) {
#pragma omp critical
    x();
  }
}
#pragma omp parallel for
for (;;) ;
`)
	tests := []struct {
		line       int
		words      string
		begin, end int
	}{
		{6, "critical", 5, 6}, {6, "for", 3, 7}, {6, "parallel", 1, 8}, {6, "", 5, 6},
		{7, "critical", 0, 0}, {8, "parallel", 1, 8}, {10, "parallel", 9, 10},
		{10, "parallel for", 9, 10}, {6, "parallel for", 0, 0}, {10, "for", 0, 0}, {99, "", 0, 0},
	}
	for _, tt := range tests {
		if d, _ := Enclosing(ds, tt.line, tt.words); d.Begin != tt.begin || d.End != tt.end {
			t.Errorf("line %d, %q: %d to %d, want %d to %d", tt.line, tt.words, d.Begin, d.End, tt.begin, tt.end)
		}
	}
}

func TestDeepNesting(t *testing.T) {
	before := hostile.ProcessorTime()
	Parse("a.c", strings.Repeat("#pragma omp parallel\n{", 20000))
	Parse("a.c", strings.Repeat("#pragma omp parallel\nif(x) ", 20000))
	Parse("a.f90", strings.Repeat("!$omp parallel\n!$omp do\ndo i=1,2\n", 20000))
	if d := hostile.ProcessorTime() - before; d > 3*time.Second {
		t.Errorf("deeply nested text took %v", d)
	}
}

func FuzzDirectives(f *testing.F) {
	for _, name := range []string{"regions.c", "template.cpp", "regions.f90"} {
		b, err := os.ReadFile(filepath.Join("..", "testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(filepath.Ext(name), string(b))
	}
	f.Add(".f", "c$omp parallel do\nc$omp& x\n      do 10 i=1,2\n   10 continue\n")
	f.Add(".c", " _Pragma(\")") // once sliced out of range
	f.Add(".c", "#if 0\n_Pragma(\"omp for\") R\"(\n#else\n#pragma omp for\\\n")
	f.Fuzz(func(t *testing.T, ext, text string) {
		var ds []Directive
		hostile.Within(func() { ds = Parse("a"+ext, text) })
		lines := strings.Count(text, "\n") + 1
		for _, d := range ds {
			if d.Begin < 1 || d.Last < d.Begin || d.End < d.Last || d.End > lines || d.Words == "" {
				t.Errorf("%+v in %d lines", d, lines)
			}
		}
	})
}
