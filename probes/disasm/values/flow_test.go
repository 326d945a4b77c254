package values_test

import (
	"testing"

	"ompp-attach/probes/disasm"
	"ompp-attach/probes/disasm/disasmtest"
	"ompp-attach/probes/disasm/values"
)

// The function keeps an argument on the stack over a call, and calls a field of the argument.
func TestFlowStack(t *testing.T) {
	for _, c := range []struct {
		arch, code      string
		inside, at, ret uint64 // a place with a frame, the indirect call, the return
		holder          disasm.Reg
	}{
		// push %rdi; call f; pop %rax; mov 8(%rax),%rdx; call *%rdx; ret
		{"amd64", "57 e800000000 58 488b5008 ffd2 c3", 1, 11, 13, 0},
		// stp x29,x30,[sp,#-32]!; str x0,[sp,#16]; bl f; ldr x1,[sp,#16]; ldr x2,[x1,#8]; blr x2;
		// ldp x29,x30,[sp],#32; ret
		{"arm64", "fd7bbea9 e00b00f9 02000094 e10b40f9 220440f9 40003fd6 fd7bc2a8 c0035fd6", 8, 20, 28, 1},
	} {
		t.Run(c.arch, func(t *testing.T) {
			f, base := disasmtest.Flow(t, c.arch, c.code)
			s, ok := f.At(base + c.at)
			if !ok {
				t.Fatal("the call is not reached")
			}
			var call disasm.Inst
			for _, i := range f.Reached() {
				if i.Addr == base+c.at {
					call = i
				}
			}
			from, ok := s.Callee(call).Loaded(8)
			if from.Off -= 8; !ok || !from.Is(values.AnArgument, 0) {
				t.Errorf("calls %+v", s.Callee(call))
			}
			if r := s.Holder(from); r != c.holder {
				t.Errorf("register %d holds the argument", r)
			}
			if s, ok := f.At(base + c.inside); !ok || s.AtEntry() {
				t.Errorf("no frame at %#x", c.inside)
			}
			if s, ok := f.At(base + c.ret); !ok || !s.AtEntry() {
				t.Errorf("a frame at the return")
			}
		})
	}
}

// je L; mov %rsi,%rdi; L: nop; ret
func TestFlowJoin(t *testing.T) {
	f, base := disasmtest.Flow(t, "amd64", "7403 4889f7 90 c3")
	s, _ := f.At(base + 6)
	if v := s.Arg(0); len(v.Atoms) != 1 || v.Atoms[0].Origin != values.AJoin {
		t.Errorf("two ways make %+v", v)
	}
	if !s.Arg(1).Is(values.AnArgument, 1) {
		t.Errorf("no way changes %+v", s.Arg(1))
	}
	if s.Arg(0).Same(s.Arg(1)) {
		t.Error("either of two arguments is the second one")
	}
}
