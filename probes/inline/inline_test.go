package inline_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ompp-attach/event"
	"ompp-attach/internal/testbin"
	"ompp-attach/probes/disasm"
	"ompp-attach/probes/inline"
	"ompp-attach/symbols"
)

// directives returns the lines of the program's static loops and masters. The program marks each
// with the number of its executions.
func directives(t *testing.T, src string) map[int]event.Construct {
	t.Helper()
	f, err := os.Open(filepath.Join(testbin.Repo(t), "testdata", "programs", src))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := map[int]event.Construct{}
	sc := bufio.NewScanner(f)
	for line := 1; sc.Scan(); line++ {
		text, _, marked := strings.Cut(sc.Text(), "= ")
		switch {
		case !marked || !strings.HasPrefix(text, "#pragma"):
		case strings.Contains(text, " for "):
			out[line] = event.Loop
		case strings.Contains(text, " master "):
			out[line] = event.Master
		}
	}
	return out
}

func open(t *testing.T, src, flags string) *symbols.Object {
	t.Helper()
	o, err := symbols.OpenObject(testbin.Build(t, src, testbin.Options{Flags: strings.Fields(flags)}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.Close() })
	return o
}

// At every level of optimisation each construct of the source is found, or named as not seen. Where
// GCC moves no code, all are found.
func TestEveryDirectiveIsAccountedFor(t *testing.T) {
	want := directives(t, "inline.c")
	if len(want) < 20 {
		t.Fatalf("only %d directives", len(want))
	}
	for flags, all := range map[string]bool{"-g -O0": true, "-g -O1": false, "-g -O2": false, "-g -O3": false, "-g -Os": false, "-g -O2 -fno-plt -no-pie": false} {
		t.Run(flags, func(t *testing.T) {
			x := inline.Of(open(t, "inline.c", flags))
			for line, kind := range want {
				if slices.ContainsFunc(x.Constructs, func(c inline.Construct) bool { return c.Construct == kind && c.Begin == line && c.Exact }) {
					continue
				}
				named := regexp.MustCompile(fmt.Sprintf(`lines? (\d+, )*%d\b`, line)).MatchString
				if all || !slices.ContainsFunc(x.Unseen, func(u inline.Unseen) bool { return named(u.What) }) &&
					!slices.ContainsFunc(x.Constructs, func(c inline.Construct) bool { return slices.ContainsFunc(c.Notes, named) }) {
					t.Errorf("%s of line %d: neither found nor named", kind, line)
				}
			}
			if len(x.Loops) != 2 {
				t.Errorf("%d parallel loops, want 2", len(x.Loops))
			}
		})
	}
}

// No point is at an instruction that the kernel refuses, and none is used twice.
func TestPoints(t *testing.T) {
	for _, flags := range []string{"-g -O0", "-g -O2", "-O3", "-O2 -s"} {
		o := open(t, "inline.c", flags)
		seen := map[uint64]bool{}
		points := inline.Of(o).Points(event.Gomp)
		if len(points) < 20 {
			t.Errorf("%s: only %d points", flags, len(points))
		}
		for _, p := range points {
			i, err := disasm.Decode(o, p.VAddr)
			if err != nil || i.Refused || seen[p.VAddr] {
				t.Errorf("%s: %s at %s: %v, used before: %t", flags, p.Name, i, err, seen[p.VAddr])
			}
			seen[p.VAddr] = true
		}
	}
}

// A loop whose iterations the user's own code divides among the threads is no construct.
func TestByHand(t *testing.T) {
	for _, flags := range []string{"-g -O0", "-g -O2", "-O0", "-O2"} {
		o := open(t, "inline.c", flags)
		for _, c := range inline.Of(o).Constructs {
			if name, _, _ := o.FuncAt(c.Fn); strings.HasPrefix(name, "byhand") {
				t.Errorf("%s: a %s at %#x in %s", flags, c.Construct, c.Identity, name)
			}
		}
	}
}

// Code in a dynamic loop that depends on the thread's number is no loop of its own.
func TestWithinDynamicLoop(t *testing.T) {
	for _, flags := range []string{"-g -O0", "-g -O2", "-g -O3"} {
		if x := inline.Of(open(t, "progress.c", flags)); len(x.Unseen)+len(x.Constructs) > 0 {
			t.Errorf("%s: constructs %+v, not seen: %v", flags, x.Constructs, x.Unseen)
		}
	}
}
