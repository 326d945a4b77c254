package handles

import (
	"strings"
	"testing"

	"ompp-attach/internal/testbin"
	"ompp-attach/mpi"
	"ompp-attach/symbols"
)

// installed are the MPI libraries that a machine may have.
var installed = map[string]string{
	"Open MPI": "/usr/lib/x86_64-linux-gnu/libmpi.so.40",
	"MPICH":    sharedMPICH,
}

func loadsOf(c mpi.Case) (n int) {
	for _, s := range c.Steps {
		if s.Op >= mpi.StepLoad8 && s.Op <= mpi.StepLoad64 {
			n++
		}
	}
	return n
}

// TestLoads: formulas have few loads, because each load is a call of the kernel at every call of
// MPI.
func TestLoads(t *testing.T) {
	// By class of handles, as few as possible: Open MPI's objects, and MPICH's
	// that are built in, in the first block, in others.
	want := map[string]map[string][]int{
		"Open MPI": {"TypeSize": {1}, "CommSize": {2}, "CommRank": {1}, "CommRemoteSize": {2}, "CommIsInter": {1}, "GroupSize": {1}, "World": {1}},
		"MPICH": {"TypeSize": {0, 1, 4}, "CommSize": {1, 1, 4}, "CommRank": {1, 1, 4}, "CommRemoteSize": {1, 1, 4},
			"CommIsInter": {1, 1, 4}, "GroupSize": {1, 1, 4}, "World": {0}},
	}
	for name, file := range installed {
		t.Run(name, func(t *testing.T) {
			o, err := symbols.OpenObject(file)
			if err != nil {
				t.Skipf("%s is not installed: %v", name, err)
			}
			defer o.Close()
			f, err := Derive(o)
			if err != nil {
				t.Error(err)
			}
			for what, formula := range f.named() {
				checkBounds(t, formula)
				if len(formula) != len(want[name][what]) {
					t.Errorf("%s: %d cases: %v", what, len(formula), formula)
					continue
				}
				for i, c := range formula {
					if n := loadsOf(c); n > want[name][what][i] {
						t.Errorf("%s: case %d loads %d times: %v", what, i, n, c)
					}
				}
			}
		})
	}
}

// TestSpecialCase: one handle has another formula than all others.
func TestSpecialCase(t *testing.T) {
	for _, level := range []string{"-O0", "-O2"} {
		bin := testbin.BuildFile(t, "testdata/accessors.c", testbin.Options{NoOpenMP: true, Flags: []string{level}})
		o, err := symbols.OpenObject(bin)
		if err != nil {
			t.Fatal(err)
		}
		defer o.Close()
		choice, _ := o.DataSymbol("choice")
		const base = 0x10000
		words := map[uint64]uint64{base + choice: 5, 0x44000001 + 4: 7, 0x44000002: 9}
		read := func(addr uint64, _ int) (uint64, error) { return words[addr], nil }
		for name, want := range map[string][2]uint64{"special": {1, 5}, "special_memory": {7, 9}} {
			f, err := derive(o, newCode(o), name)
			if err != nil {
				t.Errorf("%s %s: %v", level, name, err)
			}
			for i, want := range want {
				if v, ok := f.Eval(uint64(0x44000001+i), base, read); v != want || !ok {
					t.Errorf("%s %s: handle %d: %d, %v; want %d: %v", level, name, i, v, ok, want, f)
				}
			}
		}
	}
}

// TestRefused: a result that does not follow from the handle gives no formula.
func TestRefused(t *testing.T) {
	for _, level := range []string{"-O0", "-O2"} {
		bin := testbin.BuildFile(t, "testdata/accessors.c", testbin.Options{NoOpenMP: true, Flags: []string{level}})
		o, err := symbols.OpenObject(bin)
		if err != nil {
			t.Fatal(err)
		}
		defer o.Close()
		for name, why := range map[string]string{
			"by_kind":           "two results that nothing in the handle tells apart",
			"by_choice":         "two results that nothing in the handle tells apart",
			"elsewhere":         "it depends on what strtol does",
			"written_elsewhere": "it depends on what getloadavg does",
			"by_loop":           "a path is longer than",
			"divided":           "is not understood",
			"exclusive":         "its result is no sum of products and loads",
			"by_pointer":        "it depends on what a function that is called through a pointer does",
			"failing":           "no path through it succeeds",
			"endless":           "a path is longer than",
			"absent":            "not in the file",
			"asserted":          "",
			"undefined":         "",
			"locked":            "",
		} {
			f, err := derive(o, newCode(o), name)
			switch {
			case why == "" && (err != nil || len(f) != 1 || loadsOf(f[0]) != 1):
				t.Errorf("%s %s: %v, %v; want one load", level, name, f, err)
			case why != "" && (err == nil || !strings.Contains(err.Error(), why)):
				t.Errorf("%s %s: %v, %v; want %q", level, name, f, err, why)
			}
		}
	}
}
