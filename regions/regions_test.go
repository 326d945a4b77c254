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

// compilers returns the compilers that can build a program; "" is the GNU compiler.
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
	return table(t, open(t, testbin.Build(t, program, testbin.Options{Compiler: compiler, Flags: flags})))
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

func isLock(r *Region) bool { return r.Construct == event.Lock || r.Construct == event.NestLock }

// TestLines: with the source, the table has every construct of the source, with the lines that
// Opari gives. A construct in a template or an inlined function may occur several times.
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
						if !strings.HasSuffix(r.File, "/"+filepath.Base(program)) {
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

// maskedParallel is the line of the region in constructs.c that clang 14 does not see.
const maskedParallel = 250

func TestNoOpenMP(t *testing.T) {
	o := open(t, testbin.Build(t, "plain.c", testbin.Options{NoOpenMP: true}))
	if _, err := Build(o); !errors.Is(err, ErrNoOpenMP) {
		t.Errorf("%v, want ErrNoOpenMP", err)
	}
}

// TestCalls: GCC's calls belong to the right constructs, as far as the calls' names tell. So At
// finds each construct by the return address that a probe sees.
func TestCalls(t *testing.T) {
	for _, program := range programs {
		for _, level := range []string{"-O0", "-O2", "-O3"} {
			t.Run(program+" "+level, func(t *testing.T) {
				t.Parallel()
				tab := build(t, program, "", level, "-g")
				for _, c := range readTruth(t, filepath.Join(testbin.Repo(t), "testdata", "programs", program)) {
					var calls []string
					for i := range tab.Regions {
						r := &tab.Regions[i]
						if r.Begin != c.Begin || r.Type() != c.Type {
							continue
						}
						for _, s := range r.Sites {
							calls = append(calls, s.Call)
							if at, ok := tab.At(s.Return); !s.Tail && (!ok || at.Begin != c.Begin) {
								t.Errorf("the call %s at %#x of %v is found as %s in line %d", s.Call, s.Addr, c, at.Type(), at.Begin)
							}
						}
					}
					checkCalls(t, c, strings.Join(calls, " "))
				}
			})
		}
	}
}

// checkCalls compares the calls of a construct with the calls that its clauses require.
func checkCalls(t *testing.T, c construct, calls string) {
	t.Helper()
	want := map[string]string{"SECTIONS": "GOMP_sections_start", "PARALLEL SECTIONS": "GOMP_parallel_sections",
		"PARALLEL": "GOMP_parallel", "PARALLEL LOOP": "GOMP_parallel", "SINGLE": "GOMP_single_start", "CRITICAL": "GOMP_critical_start",
		"BARRIER": "GOMP_barrier"}[c.Type]
	if c.Name != "" {
		want = "GOMP_critical_name_start"
	}
	if strings.Contains(c.Clauses, "copyprivate") {
		want = "GOMP_single_copy_start"
	}
	if c.Type == "LOOP" {
		for _, schedule := range []string{"dynamic", "guided", "runtime"} {
			if strings.Contains(c.Clauses, schedule) {
				want = schedule + "_start"
			} else if strings.Contains(calls, "_"+schedule) {
				t.Errorf("%v: %s is not of this construct", c, calls)
			}
		}
		nowait := strings.Contains(c.Clauses, "nowait")
		if nowait && (strings.Contains(calls, "GOMP_barrier") || strings.Contains(calls+" ", "GOMP_loop_end ")) {
			t.Errorf("%v has no barrier: %s", c, calls)
		}
	}
	if !strings.Contains(calls, want) {
		t.Errorf("%v: calls %q, want %s", c, calls, want)
	}
	if c.Type == "ORDERED" && strings.Contains(c.Clauses, "depend") != strings.Contains(calls, "doacross") {
		t.Errorf("%v: calls %q", c, calls)
	}
	if c.Type == "SINGLE" && strings.Contains(calls, "copy") != strings.Contains(c.Clauses, "copyprivate") {
		t.Errorf("%v: calls %q", c, calls)
	}
}

// hasSections reports whether a construct contains sections at its end.
func hasSections(c construct, truth []construct) bool {
	return slices.ContainsFunc(truth, func(x construct) bool { return x.Sections > 0 && x.Begin > c.Begin && x.End < c.End && c.End-x.End < 3 })
}

// TestWithoutSource: constructs with calls have the right first line, if GCC gives one. Their last
// line is wrong by one line at most.
func TestWithoutSource(t *testing.T) {
	for _, program := range programs {
		truth := readTruth(t, filepath.Join(testbin.Repo(t), "testdata", "programs", program))
		for _, compiler := range compilers(program) {
			for _, level := range []string{"-O0", "-O2", "-O3"} {
				t.Run(strings.Join([]string{program, compiler, level}, " "), func(t *testing.T) {
					t.Parallel()
					flags := []string{level, "-g", "-fdebug-prefix-map=" + filepath.Dir(testbin.Program(t, program)) + "=/nowhere"}
					tab := table(t, open(t, testbin.Build(t, program, testbin.Options{Compiler: compiler, Flags: flags})))
					if len(tab.Notes) == 0 || !strings.Contains(tab.Notes[0], "was not found") {
						t.Errorf("notes %q do not say that the source is missing", tab.Notes)
					}
					optimised := level != "-O0" && compiler != ""
					for i := range tab.Regions {
						withoutSource(t, &tab.Regions[i], truth, optimised)
					}
				})
			}
		}
	}
}

// TestFunctionsWithoutLines: without -g, only the construct's function says where the construct is.
// Clang names the function of its tasks without -g, and clang 14 that of its regions, too.
func TestFunctionsWithoutLines(t *testing.T) {
	for _, program := range []string{"constructs.c", "tasks.c"} {
		with := map[string]bool{}
		for _, r := range build(t, program, "", "-O0", "-g").Regions {
			with[r.Function] = true
		}
		for _, compiler := range compilers(program) {
			for _, level := range []string{"-O0", "-O2"} {
				t.Run(strings.Join([]string{program, compiler, level}, " "), func(t *testing.T) {
					t.Parallel()
					for _, r := range build(t, program, compiler, level).Regions {
						if r.At != 0 || r.Outlined != 0 && r.Found&ByCall == 0 {
							continue // no call tells the function: clang 14's parallel if(0)
						}
						if !with[r.Function] {
							t.Errorf("%s at %#x is in %q", r.Type(), r.Code, r.Function)
						}
					}
				})
			}
		}
	}
}

func withoutSource(t *testing.T, r *Region, truth []construct, clangOptimised bool) {
	t.Helper()
	const most = 1
	if isLock(r) || r.At != 0 || r.Implicit || r.Begin == 0 || r.BeginNear {
		return
	}
	for _, c := range truth {
		combined := strings.HasPrefix(c.Type, "PARALLEL") && strings.HasPrefix(r.Type(), "PARALLEL") ||
			strings.HasSuffix(c.Type, r.Type()) || r.Construct == event.Barrier
		if c.Begin != r.Begin || !combined {
			continue
		}
		allowed := most
		for _, in := range truth { // two ends of constructs follow one another
			if in.Begin > c.Begin && in.End <= c.End && c.End-in.End <= 2 || strings.HasSuffix(c.Type, "SECTIONS") {
				allowed = most + 1
			}
		}
		d := c.End - r.End
		switch {
		case r.Construct == event.Barrier:
		case clangOptimised && (c.Sections > 0 || hasSections(c, truth) || r.Construct == event.Loop):
			// Clang merges equal sections, and mixes the code of loops with the code after them.
			// The code that is left is in the construct or near it.
			if r.End < c.Begin {
				t.Errorf("%s %d-%d: want %v", r.Type(), r.Begin, r.End, c)
			}
		case d < -most || d > allowed:
			t.Errorf("%s %d-%d: want %v", r.Type(), r.Begin, r.End, c)
		}
		if r.Name != c.Name {
			t.Errorf("%s %d is named %q, want %q", r.Type(), r.Begin, r.Name, c.Name)
		}
		return
	}
	t.Errorf("%s %d-%d is no construct of the source", r.Type(), r.Begin, r.End)
}
