package inline

import (
	"testing"

	"ompp-attach/event"
	"ompp-attach/internal/testbin"
	"ompp-attach/probes/probestest"
)

const followed = `
#include <omp.h>
extern void other(void);
int n = 100, a[100], b[100];
void f(int c)
{
#pragma omp parallel
	{
BODY
	}
}
int main(int argc, char **argv) { f(argc); return a[3]; }
void __attribute__((noinline)) other(void) { __asm__ volatile (""); }
`

// Where other events tell that a loop begins: only if nothing but the loop follows them,
// on all ways.
func TestAfter(t *testing.T) {
	const loop, second = "#pragma omp for\nfor (int i = 0; i < n; i++) a[i] += i;\n", "#pragma omp for\nfor (int i = 0; i < n; i++) b[i] ^= a[n - 1 - i];\n"
	const nowait = "#pragma omp for nowait\nfor (int i = 0; i < n / 2; i++) b[n - 1 - i] *= a[i];\n"
	for _, c := range []struct {
		name, body              string
		regions, barriers, none int // loops that a region tells, a barrier, nothing
	}{
		{"first in its region", loop, 1, 0, 0},
		{"behind a barrier, too", loop + second, 1, 1, 0},
		{"behind an explicit barrier", "other();\n#pragma omp barrier\n" + loop, 0, 1, 0},
		{"behind a call", "other();\n" + loop, 0, 0, 1},
		{"behind a barrier and a call", loop + "other();\n" + second, 1, 0, 1},
		{"behind a loop of the thread's own", "for (int i = 0; i < n; i++) b[i] += c * i;\n#pragma omp barrier\n" + loop, 0, 1, 0},
		{"a loop of the thread's own in between", "for (volatile int i = 0; i < n; i++);\n" + loop, 0, 0, 1},
		{"behind a loop without a barrier", nowait + second, 1, 0, 1},
		{"behind an atomic", "#pragma omp atomic\nn += 1;\n" + loop, 0, 0, 1},
		{"behind a critical", "#pragma omp critical\nn += 1;\n" + loop, 0, 0, 1},
		{"on one way only", "if (c > 7) {\n" + loop + "}\n", 0, 0, 1},
		{"repeated", "for (int k = 0; k < c; k++) {\n" + loop + "}\n", 0, 0, 1},
		{"behind a master", "#pragma omp master\nn += 1;\n" + loop, 0, 0, 1},
		{"behind a barrier and a master", loop + "#pragma omp master\nn += 1;\n" + second, 1, 0, 1},
		{"behind a masked", "#pragma omp masked\nn += 1;\n" + loop, 0, 0, 1},
		{"in a target region", "#pragma omp target map(a, n)\n{\n" + loop + "}\n", 0, 0, 1},
		{"behind a single", "#pragma omp single\nother();\n" + loop, 0, 1, 0},
		{"behind an array", "int big[1000] = {0};\nbig[c] = 1; __asm__ volatile (\"\" : : \"r\"(big) : \"memory\");\n" + loop, 0, 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := testbin.Source(t, "a.c", probestest.Body(followed, c.body))
			o := probestest.Open(t, testbin.BuildFile(t, src, testbin.Options{Compiler: "gcc"}))
			if o.Arch() != "amd64" {
				t.Skip("constructs without calls are found on x86-64 only")
			}
			x := analyse(o)
			regions, barriers, none := 0, 0, 0
			for i := range x.Constructs {
				k := &x.Constructs[i]
				switch {
				case k.After.Region:
					regions++
					if got, ok := x.BeginsAfter(k.Fn); !ok || got.Identity != k.Identity {
						t.Errorf("behind the beginning of %#x: %+v", k.Fn, got)
					}
				case k.After.Barrier != 0:
					barriers++
					if got, ok := x.BeginsAfter(k.After.Barrier); !ok || got.Identity != k.Identity {
						t.Errorf("behind the barrier at %#x: %+v", k.After.Barrier, got)
					}
				case k.Construct == event.Loop:
					none++
				}
			}
			if regions != c.regions || barriers != c.barriers || none != c.none {
				t.Errorf("told by regions %d, by barriers %d, by none %d; want %d, %d, %d", regions, barriers, none, c.regions, c.barriers, c.none)
			}
			for _, k := range x.Untold().Constructs {
				if (len(k.Enter) == 0) != k.Told() {
					t.Errorf("%d points at the beginning of a loop that is told: %t", len(k.Enter), k.Told())
				}
			}
		})
	}
}
