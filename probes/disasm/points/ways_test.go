package points_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ompp-attach/probes/disasm/disasmtest"
	"ompp-attach/probes/disasm/points"
)

func TestWays(t *testing.T) {
	type way struct {
		at     uint64
		when   points.When
		lift   int64
		target uint64 // relative to the entry
	}
	for _, c := range []struct {
		name, arch, code string
		want             []way
	}{
		{"a return", "amd64", "c3", []way{{0, points.Always, 0, 0}}},
		// nop; add $0x18,%rsp; pop %rbx; pop %r12; ret
		{"an epilogue", "amd64", "90 4883c418 5b 415c c3", []way{{0, points.Always, 0x28, 0}}},
		// push %rbx; sub $0x10,%rsp; jmp L; L: lea 0x10(%rsp),%rsp; pop %rbx; ret
		{"a jump to the epilogue", "amd64", "53 4883ec10 eb00 488d642410 5b c3", []way{{5, points.Always, 0x18, 0}}},
		// nop; leave; ret: what rbp holds is not known, so the return itself
		{"a frame pointer", "amd64", "90 c9 c3", []way{{2, points.Always, 0, 0}}},
		// test; je out; mov; pop; ret; out: pop; pop; ret
		{"two epilogues", "amd64", "85ff 7405 4889c7 5b c3 5b 5d c3", []way{{2, points.ZeroClear, 8, 0}, {2, points.ZeroSet, 16, 0}}},
		{"a tail call", "amd64", "4889c7 e900100000", []way{{3, points.Always, 0, 0x1008}}},
		// test; je far; pop %rbx; ret
		{"a tail call under a condition", "amd64", "85ff 0f8400100000 5b c3", []way{{2, points.ZeroSet, 0, 0x1008}, {2, points.ZeroClear, 8, 0}}},
		{"arm64", "arm64", "1f2003d5 c0035fd6", []way{{4, points.Always, 0, 0}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := disasmtest.Code(t, c.arch, c.code)
			ways, _, err := points.Ways(b, b.At, func(uint64) bool { return false })
			if err != nil {
				t.Fatal(err)
			}
			var got []way
			for _, w := range ways {
				target := w.Target
				if target != 0 {
					target -= b.At
				}
				got = append(got, way{w.Inst.Addr - b.At, w.When, w.Lift, target})
			}
			if d := cmp.Diff(c.want, got, cmp.AllowUnexported(way{})); d != "" {
				t.Error(d)
			}
		})
	}
}
