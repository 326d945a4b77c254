package disasm_test

import (
	"testing"

	"ompp-attach/probes/disasm"
	"ompp-attach/probes/disasm/disasmtest"
)

var arches = []string{"amd64", "arm64"}

func seeds(f *testing.F) {
	for _, s := range []string{"\xf3\x0f\x1e\xfa\x41\x55\xc3", "\xf0\x0f\xb1\x17\x75\x01\xc3", "\x66\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00",
		"\xc5\xf8\x77\x62\xf1\x7c\x48\x10\x00", "\x64\x8b\x04\x25\xd8\xff\xff\xff\xc3", "\xeb\xfe\x74\xfc\xff\x25\x00\x00\x00\x00",
		"\xfd\x7b\xbd\xa9\x61\x02\x00\x90\x21\xc8\x47\xf9\x40\xd0\x3b\xd5\xc0\x03\x5f\xd6"} {
		f.Add([]byte(s))
	}
}

func FuzzDecode(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, arch := range arches {
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

func FuzzSafePoint(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 256 { // Approaches below is asked for each instruction
			return
		}
		for _, arch := range arches {
			c := disasmtest.Bytes{At: 0x1000, Data: b, ForArch: arch}
			if p, err := disasm.SafePoint(c, c.At, disasm.Need{Args: 0xff}); err == nil {
				i, err := disasm.Decode(c, p.VAddr)
				if err != nil || i.Refused || i.Len != p.Len || disasm.CostOf(i) != p.Cost {
					t.Fatalf("%s % x: point %+v at %+v, %v", arch, b, p, i, err)
				}
			}
			_, _ = disasm.Returns(c, c.At)
			if parts, err := disasm.Parts(c, c.At); err == nil {
				for _, i := range parts[0] {
					if len(disasm.Approaches(parts, i.Addr)) == 0 {
						t.Fatalf("%s % x: no approach to %#x", arch, b, i.Addr)
					}
				}
				disasm.Addresses(parts[0])
			}
		}
	})
}
