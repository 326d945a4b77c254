package gomp

import (
	"slices"
	"strings"
	"testing"

	"ompp-attach/probes/disasm"
	"ompp-attach/probes/probestest"
	"ompp-attach/symbols"
)

// singleSource has one single construct in each function.
const singleSource = `
#include <omp.h>
int n, m;
__attribute__((noipa)) void work(int i) { n += i; }
__attribute__((noipa)) void barrier(void) {
#pragma omp parallel
	{
#pragma omp single
		work(1);
		work(2);
	}
}
__attribute__((noipa)) void nowait(void) {
#pragma omp parallel
	{
#pragma omp single nowait
		work(1);
		work(2);
	}
}
__attribute__((noipa)) void last(void) {
#pragma omp parallel
	{
		work(2);
#pragma omp single
		work(1);
	}
}
int main(void) { barrier(); nowait(); last(); return 0; }`

func TestEndOfSingle(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64"} {
		for _, flags := range [][]string{{"-O0"}, {"-O2"}, {"-O3", "-fno-plt"}, {"-O2", "-no-pie"}, {"-O0", "-static"}, {"-O2", "-static"}} {
			if arch == "arm64" && slices.Contains(flags, "-fno-plt") {
				// Calls go through a register there: not followed,
				// single is taken for one with a barrier.
				continue
			}
			t.Run(arch+" "+strings.Join(flags, " "), func(t *testing.T) {
				o := probestest.Open(t, probestest.Compile(t, arch, singleSource, append(flags, "-fopenmp")...))
				for fn, want := range map[string]SingleEnd{"barrier": SingleBarrier, "nowait": SingleNowait, "last": SingleLast} {
					after := afterSingleStart(t, o, fn+"._omp_fn.0")
					if got := EndOfSingle(o, after); got != want {
						t.Errorf("%s: got %d, want %d (%#x)", fn, got, want, after)
					}
				}
			})
		}
	}
}

// afterSingleStart returns the return address of a function's call of GOMP_single_start.
func afterSingleStart(t *testing.T, o *symbols.Object, fn string) uint64 {
	t.Helper()
	entry := o.Symbol(fn)
	if len(entry) != 1 {
		// GCC numbers outlined functions per file or per function.
		o.Symbols(func(name string, vaddr, _ uint64) {
			if strings.HasPrefix(name, strings.TrimSuffix(fn, "0")) && !slices.Contains(entry, vaddr) {
				entry = append(entry, vaddr)
			}
		})
	}
	if len(entry) != 1 {
		t.Fatalf("%d functions %s", len(entry), fn)
	}
	body, err := disasm.Func(o, entry[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range body {
		var name string
		switch i.Control {
		case disasm.Call:
			if n, ok := o.PLT(i.Target); ok {
				name = n
			} else {
				name, _, _ = o.FuncAt(i.Target)
			}
		case disasm.CallIndirect:
			name, _ = o.GOT(i.Ref)
		}
		if strings.HasPrefix(name, "GOMP_single_start") {
			return i.Next()
		}
	}
	t.Fatalf("%s: no call of GOMP_single_start", fn)
	return 0
}
