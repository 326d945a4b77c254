package regions

import (
	"path/filepath"
	"strings"
	"testing"

	"ompp-attach/event"
	"ompp-attach/internal/testbin"
)

// TestSplitOff: atomics are found in a .cold part of an outlined function, in a .cold part of an
// ordinary function, and in a lambda expression. They are found with the source and without it.
func TestSplitOff(t *testing.T) {
	const program = "cold.cpp"
	truth := readTruth(t, filepath.Join(testbin.Repo(t), "testdata", "programs", program))
	for _, compiler := range compilers(program) {
		for _, level := range []string{"-O0", "-O2", "-O3"} {
			t.Run(compiler+" "+level, func(t *testing.T) {
				t.Parallel()
				tab := build(t, program, compiler, level, "-g")
				for _, c := range truth {
					if c.Type != "ATOMIC" {
						continue
					}
					n := 0
					for i := range tab.Regions {
						r := &tab.Regions[i]
						if r.Construct != event.Atomic || r.Begin != c.Begin {
							continue
						}
						n++
						if r.Found&ByLine == 0 || strings.Contains(r.Why, "no code") || r.Function == "" {
							t.Errorf("%v: found by %v in %q: %s", c, r.Found.Names(), r.Function, r.Why)
						}
					}
					if n != 1 {
						t.Errorf("%v: %d regions", c, n)
					}
				}
			})
		}
	}
}

// TestSplitOffWithoutSource: without the source the locked instruction in the part is found.
func TestSplitOffWithoutSource(t *testing.T) {
	flags := []string{"-O2", "-g", "-fdebug-prefix-map=" + filepath.Dir(testbin.Program(t, "cold.cpp")) + "=/nowhere"}
	o := open(t, testbin.Build(t, "cold.cpp", testbin.Options{Flags: flags}))
	split := false // if nothing was split off, there is nothing to test
	o.Symbols(func(name string, _, _ uint64) { split = split || strings.HasSuffix(name, "._omp_fn.0.cold") })
	if !split {
		t.Skip("this compiler makes no .cold part of the outlined function")
	}
	for _, r := range table(t, o).Regions {
		if r.Construct != event.Atomic || r.At == 0 {
			continue
		}
		if name, _, _ := o.FuncAt(r.At); strings.HasSuffix(name, ".cold") && r.Function == "main" && r.Parent >= 0 {
			return
		}
	}
	t.Error("the atomic in the .cold part was not found")
}
