package points_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ompp-attach/probes/disasm"
	"ompp-attach/probes/disasm/disasmtest"
	"ompp-attach/probes/disasm/points"
)

func TestApproaches(t *testing.T) {
	type approach struct {
		at   uint64
		when points.When
	}
	for _, c := range []struct {
		name, code string
		addr       uint64
		want       []approach // nil: the instruction itself
	}{
		// jmp L; M: call f; test; je out; L: call *r12; jmp M; out: ret
		{"two ways, as in gomp_thread_start", "eb09 e800000000 85c0 7405 41ffd4 ebf2 c3", 11,
			[]approach{{0, points.Always}, {9, points.ZeroClear}}},
		{"taken je", "7401 c3 ffd0 c3", 3, []approach{{0, points.ZeroSet}}},
		{"taken jne", "7501 c3 ffd0 c3", 3, []approach{{0, points.ZeroClear}}},
		{"push in the block", "53 4889c7 ffd0 c3", 4, []approach{{0, points.Always}}},
		{"a call lies between", "53 e800000000 4889c7 ffd0 c3", 9, nil},
		{"sign conditions do not do", "7801 c3 ffd0 c3", 3, nil},
		{"the entry has callers", "4889c7 ffd0 c3", 3, nil},
		{"a jump to the next instruction", "7400 ffd0 c3", 2, nil},
		{"a jump table could lead anywhere", "7401 c3 ffd0 c3 ffe0", 3, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := disasmtest.Code(t, "amd64", c.code)
			parts, err := disasm.Parts(b, b.At)
			if err != nil {
				t.Fatal(err)
			}
			var got []approach
			for _, a := range points.Approaches(parts, b.At+c.addr) {
				got = append(got, approach{a.Inst.Addr - b.At, a.When})
			}
			if c.want == nil {
				c.want = []approach{{c.addr, points.Always}}
			}
			if d := cmp.Diff(c.want, got, cmp.AllowUnexported(approach{})); d != "" {
				t.Error(d)
			}
			if a := points.Approaches(parts, b.At+0x100); a != nil {
				t.Errorf("outside of the function: %+v", a)
			}
		})
	}
}
