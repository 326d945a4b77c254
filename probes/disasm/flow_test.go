package disasm_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ompp-attach/probes/disasm"
)

func flow(t *testing.T, arch, hex string) (*disasm.Flow, uint64) {
	t.Helper()
	b := code(t, arch, hex)
	parts, err := disasm.Parts(b, b.At)
	if err != nil {
		t.Fatal(err)
	}
	f, err := disasm.NewFlow(b, parts)
	if err != nil {
		t.Fatal(err)
	}
	return f, b.At
}

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
			f, base := flow(t, c.arch, c.code)
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
			if from.Off -= 8; !ok || !from.Is(disasm.AnArgument, 0) {
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
	f, base := flow(t, "amd64", "7403 4889f7 90 c3")
	s, _ := f.At(base + 6)
	if v := s.Arg(0); len(v.Atoms) != 1 || v.Atoms[0].Origin != disasm.AJoin {
		t.Errorf("two ways make %+v", v)
	}
	if !s.Arg(1).Is(disasm.AnArgument, 1) {
		t.Errorf("no way changes %+v", s.Arg(1))
	}
	if s.Arg(0).Same(s.Arg(1)) {
		t.Error("either of two arguments is the second one")
	}
}

func TestCut(t *testing.T) {
	type point struct {
		At   uint64
		When disasm.When
	}
	for _, c := range []struct {
		name, code string
		target     uint64
		over       bool
		want       []point
	}{
		// je L; mov %rcx,%rax; L: mov %rax,%rdi; call *%rax; ret
		{"both ways lead there", "7403 4889c8 4889c7 ffd0 c3", 8, false, []point{{0, disasm.Always}}},
		{"so they do on a sign", "7803 4889c8 4889c7 ffd0 c3", 8, false, []point{{0, disasm.Always}}},
		{"taken je", "7401 c3 ffd0 c3", 3, false, []point{{0, disasm.ZeroSet}}},
		{"no rule for a sign", "7801 c3 ffd0 c3", 3, false, []point{{3, disasm.Always}}},
		// call f; ret
		{"a call that does not matter", "e800000000 c3", 5, true, []point{{0, disasm.Always}}},
		{"a call that does", "e800000000 c3", 5, false, []point{{5, disasm.Always}}},
		// je A; jne B; ret; A: mov; B: mov %rax,%rdi; call *%rax; ret
		{"three ways", "7403 7504 c3 4889c8 4889c7 ffd0 c3", 11, false, []point{{0, disasm.ZeroSet}, {2, disasm.ZeroClear}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, base := flow(t, "amd64", c.code)
			found, err := f.Cut([]uint64{base + c.target}, func(disasm.Inst) bool { return c.over }, func(disasm.Inst) bool { return true })
			if err != nil {
				t.Fatal(err)
			}
			var got []point
			for _, a := range found {
				got = append(got, point{a.Inst.Addr - base, a.When})
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
			if _, err := f.Cut([]uint64{base + c.target}, func(disasm.Inst) bool { return false }, func(disasm.Inst) bool { return false }); err == nil {
				t.Error("found a point where none fits")
			}
		})
	}
}
