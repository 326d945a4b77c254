package symbols

import (
	"encoding/binary"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ompp-attach/internal/testbin"
	"ompp-attach/symbols/names"
)

// toolchain is one way to compile the regions.
type toolchain struct {
	name  string
	c     string
	flags []string
}

func toolchains() []toolchain {
	var ts []toolchain
	for _, cc := range []string{"gcc", "clang-14", "clang-19"} {
		for _, opt := range []string{"-O0", "-O2"} {
			ts = append(ts, toolchain{cc + opt, cc, []string{opt, "-g"}})
		}
	}
	return append(ts, toolchain{"gcc DWARF 4", "gcc", []string{"-O2", "-gdwarf-4"}},
		toolchain{"gcc fixed", "gcc", []string{"-O1", "-g", "-fno-pie"}},
		toolchain{"gcc compressed", "gcc", []string{"-O1", "-g", "-gz"}})
}

// build compiles one source file with OpenMP into a shared object. The runtime's functions may stay
// undefined there, so no runtime has to be installed.
func (c toolchain) build(t *testing.T, source string) *Object {
	t.Helper()
	cc := c.c
	if filepath.Ext(source) == ".cpp" {
		cc = strings.Replace(strings.Replace(cc, "gcc", "g++", 1), "clang", "clang++", 1)
	}
	if _, err := exec.LookPath(cc); err != nil {
		t.Skipf("%s is not installed: its line tables are not tested", cc)
	}
	out := filepath.Join(t.TempDir(), "prog.so")
	args := append(slices.Clone(c.flags), "-w", "-fPIC", "-fopenmp", "-c", "-o", out+".o", source)
	run(t, cc, args...)
	run(t, "gcc", "-shared", "-o", out, out+".o")
	return open(t, out)
}

func TestOutlined(t *testing.T) {
	t.Parallel()
	want := marksOf(t, "testdata/regions.c")
	functions := map[string]string{"plain": "plain", "loop": "loop", "inlines": "inlines", "coldpart": "coldpart",
		"outer": "nested", "inner": "nested", "taskteam": "tasks", "task": "tasks"}
	for _, c := range toolchains() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := c.build(t, "testdata/regions.c")
			got := map[int]Extent{}
			o.Symbols(func(name string, vaddr, _ uint64) {
				if !names.IsOutlined(name) || strings.Contains(name, "task_dup") {
					return
				}
				e, ok := o.Outlined(vaddr)
				if !ok {
					t.Errorf("%s has no extent", name)
					return
				}
				if filepath.Base(e.File) != "regions.c" || !filepath.IsAbs(e.File) {
					t.Errorf("%s is in %s", name, e.File)
				}
				if old, known := got[e.Begin]; known && old != e {
					t.Errorf("%s is %+v, another part of it %+v", name, e, old)
				}
				got[e.Begin] = e
			})
			for region, function := range functions {
				begin, end := want.Begin[region], want.End[region]
				e, ok := got[begin]
				if !ok {
					t.Errorf("no region at line %d (%s)", begin, region)
					continue
				}
				// The compilers end at the last statement or at the brace.
				if e.End != end && e.End != end-1 {
					t.Errorf("%s ends at %d, want %d or %d", region, e.End, end-1, end)
				}
				if e.Function != function {
					t.Errorf("%s is in function %q", region, e.Function)
				}
				// The source tells exactly.
				for _, line := range []int{begin, e.End} {
					if b, n, ok := o.SourceExtent(e.File, line, strings.Fields("parallel task")[btoi(region == "task")]); b != begin || n != end || !ok {
						t.Errorf("%s: source says %d to %d, %t; want %d to %d", region, b, n, ok, begin, end)
					}
				}
			}
			if len(got) != len(functions) {
				t.Errorf("regions %v", got)
			}
			if e, ok := o.Outlined(o.Symbol("main")[0]); ok {
				t.Errorf("main is a region: %+v", e)
			}
			checkCallLines(t, o, want)
		})
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// checkCallLines checks that the runtime calls of constructs() have the lines of their construct.
// It also checks that code which was inlined from later() is marked as such.
func checkCallLines(t *testing.T, o *Object, want testbin.Marks) {
	t.Helper()
	calls := map[string][]uint64{} // return addresses
	for _, r := range o.TextRanges() {
		code := o.Read(r.Lo, int(r.Hi-r.Lo))
		for i := 0; i+5 <= len(code); i++ {
			if code[i] != 0xe8 && code[i] != 0xe9 {
				continue
			}
			ret := r.Lo + uint64(i) + 5
			if name, ok := o.PLT(ret + uint64(int64(int32(binary.LittleEndian.Uint32(code[i+1:]))))); ok {
				calls[name] = append(calls[name], ret)
			}
		}
	}
	within := func(region string, line int) bool { return want.Begin[region] <= line && line <= want.End[region] }
	barriers := 0
	for name, rets := range calls {
		for _, ret := range rets {
			file, line, ok := o.CallLine(ret)
			function := o.SourceFunction(ret - 1)
			switch {
			case !strings.Contains(name, "ext") && !strings.HasPrefix(name, "GOMP") && !strings.HasPrefix(name, "__kmpc"):
			case !ok || filepath.Base(file) != "regions.c":
				t.Errorf("call of %s at %#x is at %s:%d, %t", name, ret, file, line, ok)
			case strings.Contains(name, "critical") && (!within("critical", line) || function != "constructs"):
				t.Errorf("%s at line %d of %s", name, line, function)
			case strings.Contains(name, "barrier"):
				barriers++
				if _, _, exact, _ := o.Line(ret - 5); line != want.Begin["barrier"] || !exact && name == "GOMP_barrier" || function != "constructs" {
					t.Errorf("%s at line %d of %s, exact %t", name, line, function, exact)
				}
			case name == "ext" && line == want.Begin["later"] && function != "later":
				t.Errorf("call in later() is said to be in %s", function)
			}
		}
	}
	if barriers == 0 {
		t.Error("no call of a barrier found")
	}
}

func TestTemplates(t *testing.T) {
	t.Parallel()
	want := marksOf(t, "testdata/template.cpp")
	for _, c := range toolchains() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := c.build(t, "testdata/template.cpp")
			found := map[string][]string{}
			o.Symbols(func(name string, vaddr, _ uint64) {
				if !names.IsOutlined(name) {
					return
				}
				e, ok := o.Outlined(vaddr)
				for region, begin := range want.Begin {
					if ok && e.Begin == begin {
						if end := want.End[region]; e.End != end && e.End != end-1 {
							t.Errorf("%s ends at %d, want %d", region, e.End, end)
						}
						if !slices.Contains(found[region], e.Function) {
							found[region] = append(found[region], e.Function)
						}
						return
					}
				}
				t.Errorf("%s: %+v, %t", name, e, ok)
			})
			slices.Sort(found["member"])
			member := []string{"A::run<double>", "A::run<int>"}
			if c.c == "clang-14" { // its names do not tell which instance
				member = []string{"A::run"}
			}
			if !slices.Equal(found["member"], member) {
				t.Errorf("member function %q, want %q", found["member"], member)
			}
			l := found["lambda"]
			if len(l) != 1 || !strings.HasPrefix(l[0], "main") {
				t.Errorf("lambda in %q", l)
			}
		})
	}
}

func TestWithoutLines(t *testing.T) {
	t.Parallel()
	o := toolchain{"", "gcc", []string{"-O2"}}.build(t, "testdata/regions.c")
	plain := o.Symbol("plain._omp_fn.0")
	if len(plain) != 1 {
		t.Fatalf("plain._omp_fn.0 at %x", plain)
	}
	if e, ok := o.Outlined(plain[0]); ok {
		t.Errorf("extent %+v without line information", e)
	}
	if _, _, _, ok := o.Line(plain[0]); ok {
		t.Error("line without line information")
	}
	if got := o.SourceFunction(plain[0]); got != "plain" {
		t.Errorf("function %q, want plain by the symbol alone", got)
	}
}

// TestClangIdents reads the ident_t's that clang's code passes to the runtime.
func TestClangIdents(t *testing.T) {
	t.Parallel()
	want := marksOf(t, "testdata/regions.c")
	for _, cc := range []string{"clang-14", "clang-19"} {
		for _, debug := range []string{"-g", "-g0"} {
			t.Run(cc+debug, func(t *testing.T) {
				t.Parallel()
				o := toolchain{"", cc, []string{"-O2", debug}}.build(t, "testdata/regions.c")
				lines, unknown := map[int]Ident{}, 0
				for _, r := range o.TextRanges() {
					code := o.Read(r.Lo, int(r.Hi-r.Lo))
					for i := 0; i+7 <= len(code); i++ {
						// lea ident(%rip), register
						if code[i]&^4 == 0x48 && code[i+1] == 0x8d && code[i+2]&0xc7 == 0x05 {
							at := r.Lo + uint64(i) + 7 + uint64(int64(int32(binary.LittleEndian.Uint32(code[i+3:]))))
							if id, ok := o.Ident(at); ok && id.Line > 0 {
								lines[id.Line] = id
							} else if ok && id.Flags != 0 {
								unknown++
							}
						}
					}
				}
				if debug == "-g0" {
					if len(lines) > 0 || unknown == 0 {
						t.Errorf("%d located idents, %d others", len(lines), unknown)
					}
					return
				}
				for region, function := range map[string]string{"plain": "plain", "inner": "nested", "critical": "constructs", "barrier": "constructs"} {
					id := lines[want.Begin[region]]
					if id.Function != function || id.File != "testdata/regions.c" || id.Col != 1 {
						t.Errorf("%s: %+v", region, id)
					}
				}
				if f := lines[want.Begin["barrier"]].Flags; f != 0x22 {
					t.Errorf("flags of the barrier %#x", f)
				}
			})
		}
	}
}

func TestFortran(t *testing.T) {
	t.Parallel()
	need(t, "gfortran", "Fortran line tables")
	out := filepath.Join(t.TempDir(), "prog")
	run(t, "gfortran", "-O2", "-g", "-fopenmp", "-o", out, "testdata/regions.f90")
	o := open(t, out)
	want := marksOf(t, "testdata/regions.f90")
	found := map[int]int{}
	o.Symbols(func(name string, vaddr, _ uint64) {
		e, ok := o.Outlined(vaddr)
		if !ok {
			return
		}
		if e.Function != "work" {
			t.Errorf("%s in function %q", name, e.Function)
		}
		// GCC gives a directive with continuation lines the last of them.
		if b, n, ok := o.SourceExtent(e.File, e.Begin, "parallel"); ok {
			found[b] = n
		}
		if _, _, ok := o.SourceExtent(e.File, e.End, "parallel"); !ok {
			t.Errorf("%s: the source has no region at line %d", name, e.End)
		}
	})
	for _, region := range []string{"team", "loop"} {
		if found[want.Begin[region]] != want.End[region] {
			t.Errorf("%s: regions %v, want %d to %d", region, found, want.Begin[region], want.End[region])
		}
	}
}
