package regions

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ompp-attach/event"
	"ompp-attach/internal/testbin"
	"ompp-attach/symbols"
)

var programs = []string{"constructs.c", "constructs.cpp", "constructs.f90", "timed.c", "demo/plate.c"}

// compilers that can build a program; "" is the GNU one.
func compilers(program string) []string {
	switch filepath.Ext(program) {
	case ".f90":
		return []string{""}
	case ".cpp":
		return []string{"", "clang++-14", "clang++-19"}
	}
	return []string{"", "clang-14", "clang-19"}
}

func build(t testing.TB, program, compiler string, flags ...string) *Table {
	t.Helper()
	o := open(t, testbin.Build(t, program, testbin.Options{Compiler: compiler, Flags: flags}))
	// A checkout may be newer than the cached binary, which is of the same text.
	o.SearchSources(filepath.Join(testbin.Repo(t), "testdata", "programs"))
	return table(t, o)
}

func open(t testing.TB, path string) *symbols.Object {
	t.Helper()
	o, err := symbols.OpenObject(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.Close() })
	return o
}

func table(t testing.TB, o *symbols.Object) *Table {
	t.Helper()
	tab, err := Build(o)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func isLock(r *Region) bool { return r.Kind == event.Lock || r.Kind == event.NestLock }

// TestLines: with the source, every construct that it has is in the table,
// once or, in templates and inlined functions, more often, with Opari's lines.
func TestLines(t *testing.T) {
	for _, program := range programs {
		want := readTruth(t, filepath.Join(testbin.Repo(t), "testdata", "programs", program))
		for _, compiler := range compilers(program) {
			for _, level := range []string{"-O0", "-O2", "-O3"} {
				t.Run(strings.Join([]string{program, compiler, level}, " "), func(t *testing.T) {
					t.Parallel()
					tab := build(t, program, compiler, level, "-g")
					var got []construct
					for i := range tab.Regions {
						r := &tab.Regions[i]
						if isLock(r) {
							continue
						}
						if !strings.HasSuffix(r.File, "/"+program) {
							t.Errorf("%s in file %q", r.Type(), r.File)
						}
						if r.BeginNear || r.EndNear || r.Found&BySource == 0 {
							t.Errorf("%s %d-%d is not placed by the source", r.Type(), r.Begin, r.End)
						}
						c := construct{Type: r.Type(), Name: r.Name, Begin: r.Begin, End: r.End, Sections: r.Sections}
						if !slices.Contains(got, c) {
							got = append(got, c)
						}
					}
					var missing []construct
					for _, c := range want {
						c.Clauses = ""
						if c.Type == "MASKED" && strings.HasSuffix(compiler, "-14") {
							continue // not compiled
						}
						if program == "constructs.c" && c.Begin == maskedParallel && strings.HasSuffix(compiler, "-14") {
							continue
						}
						missing = append(missing, c)
					}
					if diff := cmp.Diff(missing, got); diff != "" {
						t.Errorf("constructs (-want +got):\n%s", diff)
					}
				})
			}
		}
	}
}

// maskedParallel is the line of the region in constructs.c that clang 14 does
// not see.
const maskedParallel = 250

func TestNoOpenMP(t *testing.T) {
	o := open(t, testbin.Build(t, "plain.c", testbin.Options{NoOpenMP: true}))
	if _, err := Build(o); !errors.Is(err, ErrNoOpenMP) {
		t.Errorf("%v, want ErrNoOpenMP", err)
	}
}
