package values_test

import (
	"testing"

	"ompp-attach/probes/disasm"
	"ompp-attach/probes/disasm/disasmtest"
	"ompp-attach/probes/disasm/values"
)

func FuzzValues(f *testing.F) {
	disasmtest.Seeds(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 256 {
			return
		}
		for _, arch := range disasmtest.Arches {
			c := disasmtest.Bytes{At: 0x1000, Data: b, ForArch: arch}
			_, _ = values.Returns(c, c.At)
			if parts, err := disasm.Parts(c, c.At); err == nil {
				values.Addresses(parts[0])
				values.Constants(parts[0], func(disasm.Inst, func(int) (uint64, bool)) {})
				if f, err := values.NewFlow(c, parts); err == nil {
					for i, s := range f.States() {
						s.Stores(i)
						s.Callee(i)
						f.Leaves(i)
					}
				}
			}
		}
	})
}
