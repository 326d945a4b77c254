package symbols

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestSourceFunctions(t *testing.T) {
	src := filepath.Join(t.TempDir(), "f.cpp")
	text := `
#include <cstdio>
namespace ns {
struct G { __attribute__((noinline)) int solve(int n) { return n + v; } int v; };
}
__attribute__((noinline)) int plain(int n) { if (n > 3) throw n; return n * 2; }
extern "C" int twin(int n) __attribute__((alias("_Z5plaini")));
int main(int c, char **) {
	ns::G g{c};
	int s = 0;
#pragma omp parallel reduction(+:s)
	s += g.solve(c);
	return plain(s) + twin(1);
}
`
	if err := os.WriteFile(src, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	o := open(t, compile(t, "g++", "-O2", "-g", "-fopenmp", src))
	names := map[string][]string{}
	for _, f := range o.Functions() {
		if _, ok := names[f.Names[0]]; ok {
			t.Errorf("%s occurs twice", f.Names[0])
		}
		names[f.Names[0]] = f.Names
		if x, ok := o.Definition(f.VAddr); !ok || x.File != src || x.Begin == 0 {
			t.Errorf("%s is at %+v, %t", f.Names[0], x, ok)
		}
	}
	if len(names) != 3 || names["main"] == nil {
		t.Errorf("functions %v", names)
	}
	if got := names["ns::G::solve"]; !slices.Equal(got, []string{"ns::G::solve", "ns::G::solve(int)", "_ZN2ns1G5solveEi"}) {
		t.Errorf("ns::G::solve: %q", got)
	}
	if got := names["plain"]; !slices.Contains(got, "twin") || !slices.Contains(got, "plain(int)") {
		t.Errorf("plain: %q", got)
	}
}
