package calibration

import (
	"debug/elf"
	"os"
	"path/filepath"
	"testing"

	"ompp-attach/probes/disasm"
	"ompp-attach/probes/disasm/disasmtest"
	"ompp-attach/probes/disasm/points"
)

// The planner of the real probes finds that the probed instructions have the costs that they stand
// for.
func TestProgram(t *testing.T) {
	cost := map[instruction]points.Cost{nop5: points.Nop5, jump: points.JumpCost, emulated: points.Emulated, call: points.CallCost, singleStep: points.SingleStep, pair: points.Emulated}
	for arch, m := range programs {
		t.Run(arch, func(t *testing.T) {
			var kinds []instruction
			for _, u := range usesOf(&m) {
				kinds = append(kinds, u.on)
			}
			image, err := m.image(kinds)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "program")
			if err := os.WriteFile(path, image, 0o600); err != nil {
				t.Fatal(err)
			}
			f, err := elf.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if f.Machine != m.elf || f.Entry != loadAt+codeOffset {
				t.Fatalf("machine %v, entry %#x", f.Machine, f.Entry)
			}
			code, err := disasmtest.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			for i, k := range kinds {
				in, err := disasm.Decode(code, m.probeOffset(i, k)+loadAt)
				if err != nil {
					t.Fatalf("%s: %v", k, err)
				}
				if got := points.CostOf(in); got != cost[k] {
					t.Errorf("the %s costs as %s", k, got)
				}
				if second := m.bodies[k].second; second != 0 {
					if in, err := disasm.Decode(code, m.address(i)+second); err != nil || points.CostOf(in) != cost[k] {
						t.Errorf("the second of the %s: %v, %v", k, in, err)
					}
				}
			}
			// All of the driver is code: nothing was lost in the listing.
			for at := f.Entry; at < f.Entry+uint64(len(m.driver)); {
				in, err := disasm.Decode(code, at)
				if err != nil {
					t.Fatalf("at %#x: %v", at-f.Entry, err)
				}
				at = in.Next()
			}
			if in, err := disasm.Decode(code, f.Entry+m.spawn-map[string]uint64{"amd64": 3, "arm64": 4}[arch]); err != nil || in.Control != disasm.JumpIndirect {
				t.Errorf("the function that looks at the clock ends in %v (%v), not in a jump to the other one", in, err)
			}
		})
	}
}

// A program with a kind of instruction that the architecture lacks is refused.
func TestNoSuchClass(t *testing.T) {
	m := programs["arm64"]
	if _, err := m.image([]instruction{nop5}); err == nil {
		t.Error("arm64 has a 5-byte nop")
	}
}
