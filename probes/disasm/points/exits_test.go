package points_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ompp-attach/probes/disasm/disasmtest"
	"ompp-attach/probes/disasm/points"
)

func TestExits(t *testing.T) {
	type exit struct {
		at     uint64
		when   points.When
		unsure bool
	}
	for _, c := range []struct {
		name, arch, code string
		want             []exit
		unseen           int
	}{
		{"a return", "amd64", "4889c7 c3", []exit{{3, points.Always, false}}, 0},
		// test; je out; mov; ret; out: ret
		{"a return that a jump leads to", "amd64", "85ff 7404 4889c7 c3 c3", []exit{{2, points.ZeroClear, false}, {2, points.ZeroSet, false}}, 0},
		{"a tail call", "amd64", "4889c7 e900100000", []exit{{3, points.Always, false}}, 0},
		{"a tail call under a condition", "amd64", "85ff 0f8400100000 c3", []exit{{2, points.ZeroSet, false}, {2, points.ZeroClear, false}}, 0},
		{"one that no probe can repeat", "amd64", "85ff 0f8f00100000 c3", []exit{{8, points.Always, false}}, 1},
		{"a call of a function that does not return", "amd64", "e800100000 0f0b", nil, 0},
		{"a tail call through a register", "amd64", "488b07 ffe0", []exit{{3, points.Always, true}}, 0},
		{"a tail call through a fixed slot, as with -fno-plt", "amd64", "ff2500100000", []exit{{0, points.Always, false}}, 0},
		// movslq (%rdx,%rax,4),%rax; add %rdx,%rax; jmp *%rax; ret
		{"a switch", "amd64", "48630482 4801d0 ffe0 c3", []exit{{9, points.Always, false}}, 0},
		{"a switch that the compiler marked", "amd64", "3effe0 c3", []exit{{3, points.Always, false}}, 0},
		{"arm64: return", "arm64", "1f2003d5 c0035fd6", []exit{{4, points.Always, false}}, 0},
		{"arm64: tail call through a register", "arm64", "00001fd6", []exit{{0, points.Always, true}}, 0},
		// ldr w0, [x1, w0, uxtw #2]; add x0, x1, w0, sxtw #2; br x0; ret
		{"arm64: switch", "arm64", "205860b8 20c8208b 00001fd6 c0035fd6", []exit{{12, points.Always, false}}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := disasmtest.Code(t, c.arch, c.code)
			exits, unseen, err := points.Exits(b, b.At, func(uint64) bool { return false })
			if err != nil {
				t.Fatal(err)
			}
			var got []exit
			for _, x := range exits {
				got = append(got, exit{x.Inst.Addr - b.At, x.When, x.Unsure})
			}
			if d := cmp.Diff(c.want, got, cmp.AllowUnexported(exit{})); d != "" || unseen != c.unseen {
				t.Errorf("unseen %d, want %d\n%s", unseen, c.unseen, d)
			}
		})
	}
}
