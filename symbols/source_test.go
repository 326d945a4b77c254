package symbols

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestSourceFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	src := filepath.Join(dir, "x.c")
	text := "int main(void) {\n#pragma omp parallel\n  { }\n  return 0;\n}\n"
	if err := os.WriteFile(src, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(dir, "x")
	run(t, "sh", "-c", "cd "+dir+" && gcc -g -fopenmp -c x.c && gcc -shared -o x x.o")
	check := func(state, file string, want bool) {
		t.Helper()
		o := open(t, bin)
		for range 2 { // the second answer comes from the cache
			if b, e, ok := o.SourceExtent(file, 2, "parallel"); ok != want || ok && (b != 2 || e != 3) {
				t.Errorf("%s: %d to %d, %t", state, b, e, ok)
			}
		}
	}
	check("absolute", src, true)
	check("relative to the compiler's directory", "x.c", true)
	check("missing", "y.c", false)
	o := open(t, bin)
	if _, ok := o.Directives(""); ok || len(o.Sources()) != 0 {
		t.Errorf("a place without a file has a source: %+v", o.Sources())
	}
	future := time.Now().Add(time.Hour)
	if err := os.Chtimes(src, future, future); err != nil {
		t.Fatal(err)
	}
	check("edited since", src, false)
}

// TestWithoutOpenMP: code is known to be without OpenMP only if GCC has noted its options.
func TestWithoutOpenMP(t *testing.T) {
	for _, c := range []struct {
		flags   []string
		without bool
	}{
		{[]string{"-g"}, true},
		{[]string{"-g", "-fopenmp"}, false},
		{[]string{"-g", "-gno-record-gcc-switches"}, false},
		{nil, false},
	} {
		o, err := OpenObject(compile(t, "gcc", append(c.flags, "-w", "-O1", "testdata/data.c")...))
		if err != nil {
			t.Fatal(err)
		}
		if got := o.WithoutOpenMP(o.Symbol("main")[0]); got != c.without {
			t.Errorf("%q: %t", c.flags, got)
		}
		o.Close()
	}
}
