package sites

import (
	"bytes"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"ompp-attach/internal/testbin"
	"ompp-attach/probes/probestest"
	"ompp-attach/symbols"
)

const program = `
#include <omp.h>
#include <stdio.h>
static int n = 100, a[100];
extern void __kmpc_for_static_fini(void *, int);
int main(void)
{
BODY
	return a[3];
}
`

// build compiles main's body with clang, and opens the program.
func build(t *testing.T, body string, flags ...string) *symbols.Object {
	t.Helper()
	if runtime.GOARCH != "amd64" {
		t.Skip("calls are found on x86-64 only")
	}
	src := testbin.Source(t, "a.c", probestest.Body(program, body))
	return probestest.Open(t, testbin.BuildFile(t, src, testbin.Options{Compiler: "clang-19", Flags: flags}))
}

const (
	whole  = "#pragma omp parallel for\n for (int i = 0; i < n; i++) a[i] += i;\n"
	nowait = "#pragma omp for nowait\n for (int i = 0; i < n; i++) a[i] += i;\n"
	inside = "#pragma omp parallel\n {\n#pragma omp for nowait\n for (int i = 0; i < n; i++) a[i] += i;\n }\n"
)

// Which calls need no probe, and which programs may make calls that are not known.
func TestOf(t *testing.T) {
	const o2 = "-O2 -g"
	for _, c := range []struct {
		name, body, flags string
		wanted, spared    int
		whole, next       int // regions that are one loop; loops that the next event ends
		open              string
	}{
		{"a parallel for", whole, o2, 0, 2, 1, 0, ""},
		{"two", whole + whole, "-O3 -g", 0, 4, 2, 0, ""},
		{"a loop in a region", inside, o2, 1, 1, 0, 1, ""},
		{"both", whole + inside, o2, 1, 3, 1, 1, ""},
		{"with a reduction", "#pragma omp parallel for reduction(+:n)\n for (int i = 0; i < 9; i++) n += a[i];\n", o2, 0, 2, 1, 0, ""},
		{"with a critical", "#pragma omp parallel for\n for (int i = 0; i < n; i++) {\n#pragma omp critical\n a[i] += i;\n }\n", o2, 0, 2, 1, 0, ""},
		{"chunks", "#pragma omp parallel for schedule(static, 2)\n for (int i = 0; i < n; i++) a[i] += i;\n", o2, 0, 2, 1, 0, ""},
		{"64 bits", "#pragma omp parallel for\n for (unsigned long i = 0; i < n; i++) a[i] += i;\n", o2, 0, 2, 1, 0, ""},
		{"sections", "#pragma omp parallel sections\n {\n a[0]++;\n#pragma omp section\n a[1]++;\n }\n", o2, 1, 1, 0, 1, ""},
		{"if", "#pragma omp parallel for if(n > 9)\n for (int i = 0; i < n; i++) a[i] += i;\n", "-O1 -g -fno-inline", 0, 2, 1, 0, ""},
		{"cancelled", "#pragma omp parallel for\n for (int i = 0; i < n; i++) {\n#pragma omp cancel for\n a[i] += i;\n }\n", o2, 2, 0, 0, 0, ""},
		{"a barrier of its own", "int l = 3;\n#pragma omp parallel for firstprivate(l) lastprivate(l)\n for (int i = 0; i < n; i++) l += a[i] += i;\n n = l;\n", o2, 1, 1, 0, 1, ""},
		{"two loops in a region", "#pragma omp parallel\n {\n#pragma omp for nowait\n for (int i = 0; i < n; i++) a[i] += i;\n#pragma omp for nowait\n for (int i = 0; i < n; i++) a[i] *= i;\n }\n", o2, 2, 2, 0, 2, ""},
		{"a loop with a barrier", "#pragma omp parallel\n {\n#pragma omp for\n for (int i = 0; i < n; i++) a[i] += i;\n a[3]++;\n }\n", o2, 1, 1, 0, 0, ""},
		{"a barrier of the user's", "#pragma omp parallel\n {\n#pragma omp for nowait\n for (int i = 0; i < n; i++) a[i] += i;\n#pragma omp barrier\n a[3]++;\n }\n", o2, 1, 1, 0, 1, ""},
		{"a barrier behind other code", "int l = 3;\n#pragma omp parallel\n {\n#pragma omp for lastprivate(l)\n for (int i = 0; i < n; i++) l = a[i] += i;\n a[3]++;\n }\n n = l;\n", o2, 1, 1, 0, 1, ""},
		{"a loop with a barrier, without lines", "#pragma omp parallel\n {\n#pragma omp for\n for (int i = 0; i < n; i++) a[i] += i;\n a[3]++;\n }\n", "-O2", 1, 1, 0, 0, ""},
		{"no lines", whole, "-O2", 1, 1, 0, 1, ""},
		{"another function has the code", whole, "-O0 -g", 2, 0, 0, 0, ""},
		{"through slots", "if (a[7] > 1000) __kmpc_for_static_fini(a, 0);\n" + whole, o2 + " -fno-plt", 0, 0, 0, 0, "pointer or slot"},
		{"an address", whole + "void (*volatile f)(void *, int) = __kmpc_for_static_fini; n += !f;\n", o2, 0, 0, 0, 0, "pointer or slot"},
		{"an address in data", whole + "static void (*volatile f)(void *, int) = __kmpc_for_static_fini; n += !f;\n", o2, 0, 0, 0, 0, "pointer or slot"},
		{"an address, not position-independent", whole + "void (*volatile f)(void *, int) = __kmpc_for_static_fini; n += !f;\n", o2 + " -fno-pie -no-pie", 0, 0, 0, 0, "pointer or slot"},
		{"not position-independent", whole, o2 + " -fno-pie -no-pie", 0, 2, 1, 0, ""},
		{"bound at once", whole + inside, o2 + " -Wl,-z,now", 1, 3, 1, 1, ""},
		{"no loop", "#pragma omp parallel\n a[3]++;\n", o2, 0, 0, 0, 0, ""},
		{"loops behind one another", "#pragma omp parallel\n {\n" + nowait + "#pragma omp for\n for (int i = 0; i < n; i++) a[i] *= i;\n" + nowait + " }\n", o2, 3, 3, 0, 3, ""},
		{"behind it a call", "#pragma omp parallel\n {\n" + nowait + " puts(\"\");\n }\n", o2, 2, 0, 0, 0, ""},
		{"behind it other work", "#pragma omp parallel\n {\n" + nowait + " for (volatile int i = 0; i < n; i++);\n }\n", o2, 2, 0, 0, 0, ""},
		{"behind it an atomic", "#pragma omp parallel\n {\n" + nowait + "#pragma omp atomic\n a[3]++;\n }\n", o2, 2, 0, 0, 0, ""},
		{"behind it a critical", "#pragma omp parallel\n {\n" + nowait + "#pragma omp critical\n a[3]++;\n }\n", o2, 2, 0, 0, 0, ""},
		{"behind it a question", "#pragma omp parallel\n {\n" + nowait + " if (omp_get_thread_num() == 0) a[3] = 7;\n }\n", o2, 1, 1, 0, 1, ""},
		{"repeated, perhaps without iterations", "#pragma omp parallel\n for (int k = 0; k < omp_get_max_threads(); k++) {\n" + nowait + " }\n", o2, 2, 0, 0, 0, ""},
		{"repeated", "#pragma omp parallel\n for (int k = 0; k < 7; k++) {\n#pragma omp for nowait\n for (int i = 0; i < 90; i++) a[i] += k;\n }\n", o2, 1, 1, 0, 1, ""},
		{"cancelled region", "#pragma omp parallel\n {\n" + nowait + " if (a[3] > 7) {\n#pragma omp cancel parallel\n }\n" + nowait + " }\n", o2, 4, 0, 0, 0, ""},
		{"a reduction without a barrier", "int s = 0;\n#pragma omp parallel\n {\n#pragma omp for nowait reduction(+:s)\n for (int i = 0; i < n; i++) s += a[i];\n }\n n = s;\n", o2, 2, 0, 0, 0, ""},
		{"in a function of its own", "return 0;\n}\nint own(void)\n{\n" + nowait, o2, 2, 0, 0, 0, ""},
		{"two in a function of its own", "return 0;\n}\nint own(void)\n{\n" + nowait + nowait, o2, 3, 1, 0, 2, ""},
		{"protected", "#pragma omp parallel\n {\n" + nowait + " }\n", "-O2 -g -fstack-protector-all", 1, 1, 0, 1, ""},
		{"distribute", "#pragma omp teams\n#pragma omp distribute\n for (int i = 0; i < n; i++) a[i] += i;\n", o2, 2, 0, 0, 0, ""},
		{"without optimisation", "#pragma omp parallel\n {\n" + nowait + " }\n", "-O0", 1, 1, 0, 1, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := build(t, c.body, strings.Fields(c.flags)...)
			got := find(o)
			if len(got.Wanted) != c.wanted || got.Spared != c.spared || (got.Open == "") != (c.open == "") || !strings.Contains(got.Open, c.open) {
				t.Errorf("wanted %d, spared %d, open %q; want %d, %d, %q", len(got.Wanted), got.Spared, got.Open, c.wanted, c.spared, c.open)
			}
			if len(got.whole) != c.whole || len(got.lines) != c.whole {
				t.Errorf("%d functions are one loop, of %d directives, want %d", len(got.whole), len(got.lines), c.whole)
			}
			next := 0
			for _, call := range got.Wanted {
				if call.EndsNext {
					next++
				}
				if call.EndsNext && !begins(call.Entry) {
					t.Errorf("the next event ends a loop that begins by %s", call.Entry)
				}
			}
			if next != c.next {
				t.Errorf("the next event ends %d loops, want %d", next, c.next)
			}
			if c.open == "" {
				if want := disassembled(t, o.Path()); len(want) != c.wanted+c.spared {
					t.Errorf("objdump finds %d calls, want %d: %q", len(want), c.wanted+c.spared, want)
				}
			}
		})
	}
}

// disassembled returns the lines of objdump that call or jump to the entry points.
func disassembled(t *testing.T, path string) []string {
	t.Helper()
	out, err := exec.Command("objdump", "-d", "--no-show-raw-insn", path).Output()
	if err != nil {
		t.Skipf("objdump: %v", err)
	}
	return regexp.MustCompile(`(?m)^.*\b(call|jmp|j[a-z]+) .*<__kmpc_(dist_)?for_static_(init_[48]u?|fini)@plt>$`).FindAllString(string(out), -1)
}

// Every call of the test programs' is found, in each build.
func TestCallsOfPrograms(t *testing.T) {
	for _, c := range []struct{ compiler, src, flags string }{
		{"clang-19", "constructs.c", "-O2 -g"}, {"clang-19", "matrix.c", "-O0 -g"}, {"clang-19", "matrix.c", "-O3 -g"},
		{"clang++-19", "matrix.cpp", "-O2 -g"}, {"clang-14", "matrix.c", "-O3 -g"}, {"clang-14", "constructs.c", "-O2 -s"},
		{"clang-19", "hydro.c", "-O2 -g"}, {"clang-19", "newer.c", "-O2 -g"},
	} {
		t.Run(c.compiler+" "+c.src+" "+c.flags, func(t *testing.T) {
			path := testbin.Build(t, c.src, testbin.Options{Compiler: c.compiler, Flags: strings.Fields(c.flags)})
			got := find(probestest.Open(t, path))
			if want := disassembled(t, path); got.Open != "" || len(got.Wanted)+got.Spared != len(want) || len(want) == 0 {
				t.Errorf("%d wanted, %d spared, open %q; objdump finds %d", len(got.Wanted), got.Spared, got.Open, len(want))
			}
		})
	}
}

// Bytes outside of the program's functions that may call an entry point, jump there or take its
// address: then not all calls are known.
func TestMutations(t *testing.T) {
	o := build(t, whole+inside, "-O2", "-g")
	raw, err := os.ReadFile(o.Path())
	if err != nil {
		t.Fatal(err)
	}
	var stub uint64
	for at, name := range o.Stubs() {
		if name == fini {
			stub = at
		}
	}
	lo, hi, _ := o.FuncRange(find(o).Wanted[0].Addr)
	gap := lo - 8 // padding, or another function's end
	for name, code := range map[string][]byte{
		"call": {0xe8}, "jump": {0xe9}, "conditional jump": {0x0f, 0x84}, "address": {0x48, 0x8d, 0x05},
	} {
		t.Run(name, func(t *testing.T) {
			for _, at := range []uint64{gap, hi - 8} {
				b := bytes.Clone(raw)
				off, _ := o.FileOffset(at)
				next := at + uint64(len(code)) + 4
				copy(b[off:], binary.LittleEndian.AppendUint32(slices.Clone(code), uint32(stub-next)))
				path := filepath.Join(t.TempDir(), "a.out")
				if err := os.WriteFile(path, b, 0o755); err != nil {
					t.Fatal(err)
				}
				before, after := find(o), find(probestest.Open(t, path))
				known := len(before.Wanted) + before.Spared
				if after.Open == "" && len(after.Wanted)+after.Spared == known {
					t.Errorf("at %#x: nobody has seen it: %+v", at, after)
				}
			}
		})
	}
}

// A libomp calls none of its entry points itself.
// What finds functions by their names may call them.
func TestClosed(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the programs are of x86-64")
	}
	for _, lib := range probestest.Libomps(t) {
		libomp := probestest.Open(t, lib)
		if err := callsNoneItself(libomp); err != nil {
			t.Errorf("%s: %v", lib, err)
		}
		plain, finds := build(t, whole, "-O2", "-g"), build(t, "extern void *dlsym(void *, const char *);\n a[3] += dlsym(0, \"exit\") != 0;\n"+whole, "-O2", "-g")
		slots := build(t, "if (a[7] > 1000) __kmpc_for_static_fini(a, 0);\n"+whole, "-O2", "-g", "-fno-plt")
		own := build(t, "return 0;\n}\nint __kmpc_for_static_init_4(void)\n{\n", "-O2", "-rdynamic")
		for _, c := range []struct {
			name string
			o    *symbols.Object
			want string
		}{{"plain", plain, ""}, {"dlsym", finds, "by dlsym"}, {"slots", slots, "pointer or slot"}, {"its own", own, "too"}} {
			err := closed(libomp, []file{{"libomp.so.5", libomp}, {c.name, c.o}})
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", c.name, err, c.want)
			}
		}
	}
	if err := callsNoneItself(build(t, whole, "-O2")); err == nil {
		t.Error("the calls of a program are those of a runtime")
	}
}

// Probes of others behind the end of a loop, before the event that would tell it, make the end's
// own probe wanted. Others do not.
func TestWantedWith(t *testing.T) {
	c := find(build(t, "#pragma omp parallel\n {\n"+nowait+nowait+" }\n", "-O2", "-g"))
	if len(c.ends) != 2 {
		t.Fatalf("the next event tells %d ends, want 2", len(c.ends))
	}
	behind := c.ends[0].Next()
	for _, at := range []struct {
		name  string
		vaddr uint64
		more  int
	}{{"elsewhere", behind + 1<<20, 0}, {"behind the first loop", behind, 1}, {"at the first beginning", c.Wanted[0].Addr, 0}} {
		got := c.WantedWith(func(vaddr uint64) bool { return vaddr == at.vaddr })
		if len(got) != len(c.Wanted)+at.more {
			t.Errorf("%s: %d calls wanted, want %d and %d more", at.name, len(got), len(c.Wanted), at.more)
		}
		for _, call := range got[len(c.Wanted):] {
			if call.Entry != fini || call.Next() != behind {
				t.Errorf("%s: %s at %#x is wanted", at.name, call.Entry, call.Addr)
			}
		}
	}
}
