package disasm_test

import (
	"testing"

	"ompp-attach/probes/disasm"
	"ompp-attach/probes/disasm/disasmtest"
)

func FuzzDecode(f *testing.F) {
	disasmtest.Seeds(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, arch := range disasmtest.Arches {
			c := disasmtest.Bytes{At: 0x1000, Data: b, ForArch: arch}
			i, err := disasm.Decode(c, c.At)
			if err != nil {
				continue
			}
			if i.Len < 1 || i.Len > 15 || i.Len > len(b) || i.Emulated && i.Refused || i.Locked && !i.Refused {
				t.Fatalf("%s % x: %+v", arch, b, i)
			}
			_ = i.Text()
			// What follows an instruction must not change its length.
			c.Data = b[:i.Len]
			if j, err := disasm.Decode(c, c.At); err != nil || j.Len != i.Len {
				t.Fatalf("%s % x: length %d alone, %d before other bytes (%v)", arch, b, j.Len, i.Len, err)
			}
		}
	})
}
