package disasm_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ompp-attach/probes/disasm"
)

func TestApproaches(t *testing.T) {
	type approach struct {
		at   uint64
		when disasm.When
	}
	for _, c := range []struct {
		name, code string
		addr       uint64
		want       []approach // nil: the instruction itself
	}{
		// jmp L; M: call f; test; je out; L: call *r12; jmp M; out: ret
		{"two ways, as in gomp_thread_start", "eb09 e800000000 85c0 7405 41ffd4 ebf2 c3", 11,
			[]approach{{0, disasm.Always}, {9, disasm.ZeroClear}}},
		{"taken je", "7401 c3 ffd0 c3", 3, []approach{{0, disasm.ZeroSet}}},
		{"taken jne", "7501 c3 ffd0 c3", 3, []approach{{0, disasm.ZeroClear}}},
		{"push in the block", "53 4889c7 ffd0 c3", 4, []approach{{0, disasm.Always}}},
		{"a call lies between", "53 e800000000 4889c7 ffd0 c3", 9, nil},
		{"sign conditions do not do", "7801 c3 ffd0 c3", 3, nil},
		{"the entry has callers", "4889c7 ffd0 c3", 3, nil},
		{"a jump to the next instruction", "7400 ffd0 c3", 2, nil},
		{"a jump table could lead anywhere", "7401 c3 ffd0 c3 ffe0", 3, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := code(t, "amd64", c.code)
			parts, err := disasm.Parts(b, b.At)
			if err != nil {
				t.Fatal(err)
			}
			var got []approach
			for _, a := range disasm.Approaches(parts, b.At+c.addr) {
				got = append(got, approach{a.Inst.Addr - b.At, a.When})
			}
			if c.want == nil {
				c.want = []approach{{c.addr, disasm.Always}}
			}
			if d := cmp.Diff(c.want, got, cmp.AllowUnexported(approach{})); d != "" {
				t.Error(d)
			}
			if a := disasm.Approaches(parts, b.At+0x100); a != nil {
				t.Errorf("outside of the function: %+v", a)
			}
		})
	}
}

func TestAddresses(t *testing.T) {
	for _, c := range []struct {
		arch, code string
		want       []uint64
	}{
		{"amd64", "488d15f90f0000 488b05f90f0000 c3", []uint64{0x2000}}, // lea counts, mov does not
		// adrp x0, .+0x1000; mov x1, x2; add x0, x0, #0xd80; then x0 is no page
		{"arm64", "000000b0 e10302aa 00003691 00003691 c0035fd6", []uint64{0x2000, 0x2d80}},
	} {
		b := code(t, c.arch, c.code)
		body, err := disasm.Func(b, b.At)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c.want, disasm.Addresses(body)); d != "" {
			t.Errorf("%s: %s", c.arch, d)
		}
	}
}
