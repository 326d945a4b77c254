package points_test

import (
	"testing"

	"ompp-attach/probes/disasm"
	"ompp-attach/probes/disasm/disasmtest"
	"ompp-attach/probes/disasm/points"
)

func FuzzSafePoint(f *testing.F) {
	disasmtest.Seeds(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 256 { // Approaches below is asked for each instruction
			return
		}
		for _, arch := range disasmtest.Arches {
			c := disasmtest.Bytes{At: 0x1000, Data: b, ForArch: arch}
			if p, err := points.SafePoint(c, c.At, points.Need{Args: 0xff}); err == nil {
				i, err := disasm.Decode(c, p.VAddr)
				if err != nil || i.Refused || i.Len != p.Len || points.CostOf(i) != p.Cost {
					t.Fatalf("%s % x: point %+v at %+v, %v", arch, b, p, i, err)
				}
			}
			if parts, err := disasm.Parts(c, c.At); err == nil {
				for _, i := range parts[0] {
					if len(points.Approaches(parts, i.Addr)) == 0 {
						t.Fatalf("%s % x: no approach to %#x", arch, b, i.Addr)
					}
				}
			}
		}
	})
}
