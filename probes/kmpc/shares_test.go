package kmpc

import (
	"strings"
	"testing"

	"ompp-attach/internal/testbin"
	"ompp-attach/probes/disasm"
	"ompp-attach/probes/disasm/values"
	"ompp-attach/probes/probestest"
	"ompp-attach/symbols"
)

// shares has worksharing constructs, with what may follow those without a barrier. The line of a
// directive says whether the construct has one. Of constructs without one that are marked "unseen",
// this cannot be known.
const shares = `
#include <stdlib.h>
#include <omp.h>
static int a[1000]; extern int n, m, z; int n, m, z;
struct kept { int i; __attribute__((noinline)) ~kept() { if (i > 7000) abort(); a[i & 7]++; } };
__attribute__((noinline)) void work(int i) { a[i] += n; }
__attribute__((noinline)) void own(int k) {
#pragma omp for nowait
 for (int i = 0; i < k; i++) a[i]++;
}
__attribute__((noinline)) void ownWithBarrier(int k) {
#pragma omp for
 for (int i = 0; i < k; i++) a[i]++;
}
__attribute__((noinline)) void throws(int k) {
#pragma omp for nowait
 for (int i = 0; i < k; i++) try { if (a[i] == 7) throw 3; } catch (...) { work(i); }
#pragma omp for
 for (int i = 0; i < k; i++) a[i]++;
}
int main(int argc, char **argv) {
 n = atoi(argv[1]); m = n; z = argc - 2;
 int last = 0, sum = 0; struct kept kept = {3};
#pragma omp parallel
 {
#pragma omp for nowait
  for (int i = 0; i < n; i++) a[i]++;
#pragma omp for
  for (int i = 0; i < z; i++) a[i]--;
#pragma omp for nowait schedule(static, 3)
  for (int i = 0; i < n; i++) work(i);
#pragma omp for schedule(dynamic)
  for (int i = 0; i < z; i++) work(i);
#pragma omp for nowait schedule(dynamic, 2)
  for (int i = 0; i < n; i++) work(i);
#pragma omp for schedule(guided)
  for (long i = 0; i < z; i++) work(i);
#pragma omp for ordered nowait
  for (int i = 0; i < n; i++) {
#pragma omp ordered
   work(i);
  }
#pragma omp sections
  {
   work(1);
#pragma omp section
   work(2);
  }
#pragma omp sections nowait
  {
   work(1);
#pragma omp section
   work(2);
  }
#pragma omp for lastprivate(last)
  for (int i = 0; i < z; i++) last = i;
#pragma omp single nowait
  work(3);
#pragma omp for reduction(+:sum)
  for (int i = 0; i < z; i++) sum += a[i];
#pragma omp single
  work(4);
#pragma omp single nowait
  work(5);
  own(n);
  ownWithBarrier(z);
  own(z);
  ownWithBarrier(n);
#pragma omp for firstprivate(kept)
  for (int i = 0; i < n; i++) a[i] += kept.i;
#pragma omp for nowait
  for (int i = 0; i < n; i++) a[i] += 3;
  work(7);
#pragma omp for
  for (int i = 0; i < z; i++) a[i] += 3;
#pragma omp for nowait // unseen
  for (int i = 0; i < n; i++) {
#pragma omp parallel if(0)
   {
#pragma omp for
    for (int k = 0; k < 3; k++) work(k);
#pragma omp for nowait
    for (int k = 0; k < m; k++) work(k);
   }
  }
 }
#pragma omp parallel
 {
  throws(z);
#pragma omp for nowait // unseen
  for (int i = 0; i < n; i++) a[i]++;
#pragma omp for
  for (int i = 0; i < 0; i++) a[i]--;
#pragma omp for nowait // unseen
  for (int i = 0; i < n; i++) {
#pragma omp parallel if(0)
   {
#pragma omp for
    for (int k = 0; k < 3; k++) a[k]++;
   }
  }
#pragma omp for
  for (int i = 0; i < m; i++) a[i]--;
  for (int k = 0; k < z; k++) {
#pragma omp for nowait
   for (int i = 0; i < n; i++) a[i]++;
  }
 }
 return sum + last;
}
`

// Constructs without a barrier are told from those that have one, by their code.
func TestEndsWithoutBarrier(t *testing.T) {
	src := testbin.Source(t, "shares.cpp", shares)
	for _, compiler := range []string{"clang++-19", "clang++-14"} {
		for _, flags := range []string{"-O0", "-O3 -march=haswell", "-Oz", "-O2 -fno-plt -no-pie"} {
			t.Run(compiler+" "+flags, func(t *testing.T) {
				t.Parallel()
				o := probestest.Open(t, testbin.BuildFile(t, src, testbin.Options{Compiler: compiler, Flags: append(strings.Fields(flags), "-g")}))
				checkShares(t, o, strings.Split(shares, "\n"))
			})
		}
	}
}

// checkShares compares what the code says of each worksharing construct in a file with the line of
// its directive.
func checkShares(t *testing.T, o *symbols.Object, lines []string) {
	t.Helper()
	seen := 0
	o.Symbols(func(name string, vaddr, _ uint64) {
		body, err := disasm.Func(o, vaddr)
		if err != nil {
			return
		}
		values.Constants(body, func(i disasm.Inst, arg func(int) (uint64, bool)) {
			if i.Control != disasm.Call && i.Control != disasm.CallIndirect || !beginsShare(callee(o, i)) {
				return
			}
			at, _ := arg(0)
			id, ok := o.Ident(at)
			if !ok || id.Line == 0 {
				return // the address was kept elsewhere meanwhile
			}
			seen++
			text := lines[id.Line-1]
			if got, want := EndsWithoutBarrier(o, i.Next()), strings.Contains(text, "nowait"); got != want && !(want && strings.Contains(text, "unseen")) {
				t.Errorf("%s, %#x, line %d: %q: without a barrier: %v", name, i.Next(), id.Line, text, got)
			}
		})
	})
	if seen < 25 {
		t.Errorf("%d constructs, want some 25", seen)
	}
}
