package kmpc

import (
	"slices"
	"testing"

	"ompp-attach/probes/callgraph"
	"ompp-attach/probes/disasm"
	"ompp-attach/probes/disasm/points"
	"ompp-attach/probes/probestest"
	"ompp-attach/symbols"
)

// The points where libomp's regions end are compared with a decoding of their functions from the
// start. A breakpoint inside an instruction crashes the program. A point that another path reaches
// counts too much.
func TestLocateExitsInstalled(t *testing.T) {
	for _, path := range probestest.Libomps(t) {
		t.Run(path, func(t *testing.T) {
			o := probestest.Open(t, path)
			x, err := locateExits(o)
			if err != nil {
				t.Fatal(err)
			}
			if len(x.BodyEnd) == 0 {
				t.Error("no call of __kmp_invoke_microtask")
			}
			for _, at := range x.BodyEnd {
				checkBodyEnd(t, o, at.Addr)
			}
			checkJoin(t, o, x.Join)
		})
	}
}

// checkBodyEnd walks back from a point to the call before it.
func checkBodyEnd(t *testing.T, o *symbols.Object, at uint64) {
	t.Helper()
	lo, _, ok := o.FuncRange(at)
	if !ok {
		t.Fatalf("%#x lies in no function", at)
	}
	body, err := disasm.Func(o, lo)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(body, func(i disasm.Inst) bool { return i.Addr == at })
	if i < 0 {
		t.Fatalf("%#x is no instruction's first byte", at)
	}
	if !body[i].Emulated || body[i].Refused || body[i].Locked {
		t.Errorf("the kernel does not emulate %s", body[i])
	}
	// Nothing in between calls, jumps, or is jumped to.
	for k := i - 1; ; k-- {
		if k < 0 || i-k > callgraph.MaxBehind {
			t.Fatalf("no call before %s", body[i])
		}
		if body[k].Control == disasm.Call {
			name, _ := o.PLT(body[k].Target)
			if name != "__kmp_invoke_microtask" && !slices.Contains(o.Symbol("__kmp_invoke_microtask"), body[k].Target) {
				t.Errorf("before %s comes %s", body[i], body[k])
			}
			for _, j := range body {
				if (j.Control == disasm.Jump || j.Control == disasm.Jcc) && j.Target > body[k].Addr && j.Target <= at {
					t.Errorf("%s leads between the call and %#x", j, at)
				}
			}
			return
		}
		if body[k].Transfers() {
			t.Fatalf("between the call and %s comes %s", body[i], body[k])
		}
	}
}

// checkJoin checks that the points lie in __kmpc_fork_call, behind its last work, at instructions
// that the kernel emulates.
func checkJoin(t *testing.T, o *symbols.Object, join []points.Approach) {
	t.Helper()
	if len(join) == 0 {
		t.Error("__kmpc_fork_call does not return")
	}
	for _, entry := range o.Symbol("__kmpc_fork_call") {
		parts, err := disasm.Parts(o, entry)
		if err != nil {
			t.Fatal(err)
		}
		body := slices.Concat(parts...)
		for _, a := range join {
			i := slices.IndexFunc(body, func(i disasm.Inst) bool { return i.Addr == a.Inst.Addr })
			if i < 0 {
				t.Errorf("%s is none of __kmpc_fork_call's instructions", a.Inst)
				continue
			}
			if !a.Inst.Emulated || a.Inst.Refused || a.Inst.Locked {
				t.Errorf("the kernel does not emulate %s", a.Inst)
			}
			// Unconditional points go straight to the return.
			for k := i; a.When == points.Always && k < len(body) && body[k].Control != disasm.Ret; k++ {
				if body[k].Transfers() && body[k].Control != disasm.Jump && k > i {
					t.Errorf("between %s and the return comes %s", a.Inst, body[k])
					break
				}
				if body[k].Control == disasm.Jump {
					break
				}
			}
		}
	}
}

// The functions of this library have the right names, but no such calls or returns.
func TestLocateExitsRefuses(t *testing.T) {
	for name, source := range map[string]string{
		"no runtime": "int main(void) { return 0; }",
		"no call": `__attribute__((noipa)) void __kmpc_fork_call(void) {}
			__attribute__((noipa)) int __kmp_invoke_microtask(void) { return 1; }
			int main(void) { __kmpc_fork_call(); return 0; }`,
		"no return": `#include <stdlib.h>
			__attribute__((noipa)) int __kmp_invoke_microtask(void) { return 1; }
			__attribute__((noipa)) void __kmpc_fork_call(void) { exit(__kmp_invoke_microtask()); }
			int main(void) { __kmpc_fork_call(); return 0; }`,
	} {
		for _, arch := range []string{"amd64", "arm64"} {
			t.Run(name+" "+arch, func(t *testing.T) {
				if x, err := locateExits(probestest.Open(t, probestest.Compile(t, arch, source, "-O2"))); err == nil {
					t.Errorf("found %+v", x)
				}
			})
		}
	}
}
