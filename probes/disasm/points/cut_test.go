package points_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ompp-attach/probes/disasm"
	"ompp-attach/probes/disasm/disasmtest"
	"ompp-attach/probes/disasm/points"
)

func TestCut(t *testing.T) {
	type point struct {
		At   uint64
		When points.When
	}
	for _, c := range []struct {
		name, code string
		target     uint64
		over       bool
		want       []point
	}{
		// je L; mov %rcx,%rax; L: mov %rax,%rdi; call *%rax; ret
		{"both ways lead there", "7403 4889c8 4889c7 ffd0 c3", 8, false, []point{{0, points.Always}}},
		{"so they do on a sign", "7803 4889c8 4889c7 ffd0 c3", 8, false, []point{{0, points.Always}}},
		{"taken je", "7401 c3 ffd0 c3", 3, false, []point{{0, points.ZeroSet}}},
		{"no rule for a sign", "7801 c3 ffd0 c3", 3, false, []point{{3, points.Always}}},
		// call f; ret
		{"a call that does not matter", "e800000000 c3", 5, true, []point{{0, points.Always}}},
		{"a call that does", "e800000000 c3", 5, false, []point{{5, points.Always}}},
		// je A; jne B; ret; A: mov; B: mov %rax,%rdi; call *%rax; ret
		{"three ways", "7403 7504 c3 4889c8 4889c7 ffd0 c3", 11, false, []point{{0, points.ZeroSet}, {2, points.ZeroClear}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, base := disasmtest.Flow(t, "amd64", c.code)
			found, err := points.Cut(f, []uint64{base + c.target}, func(disasm.Inst) bool { return c.over }, func(disasm.Inst) bool { return true })
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
			if _, err := points.Cut(f, []uint64{base + c.target}, func(disasm.Inst) bool { return false }, func(disasm.Inst) bool { return false }); err == nil {
				t.Error("found a point where none fits")
			}
		})
	}
}
