package taint_test

import (
	"testing"

	"ompp-attach/probes/disasm"
	"ompp-attach/probes/disasm/disasmtest"
	"ompp-attach/probes/disasm/taint"
)

// TestTrace follows a thread's number through the computation of its share.
func TestTrace(t *testing.T) {
	const number, size = 1, 2
	for _, c := range []struct {
		name, code string
		flags      map[uint64]taint.Set
		zero       map[uint64]taint.Set
	}{
		// call 0; test eax,eax; je
		{"a master's test", "e800000000 85c0 7400 c3", map[uint64]taint.Set{7: number}, map[uint64]taint.Set{7: number}},
		// call 0; mov [rbp-4],eax; mov ecx,1; cmp ecx,[rbp-4]; jl
		{"through the frame", "e800000000 8945fc b901000000 3b4dfc 7c00 c3", map[uint64]taint.Set{16: number}, nil},
		// call 0; mov ecx,eax; call 7; mov ebx,eax; mov eax,100; cltd; idiv ebx; cmp ecx,edx; jl
		{"number and remainder", "e800000000 89c1 e800000000 89c3 b864000000 99 f7fb 39d1 7c00 c3",
			map[uint64]taint.Set{24: number | size | taint.Remainder}, nil},
		// call 0; xor eax,eax; test eax,eax; je
		{"cleared", "e800000000 31c0 85c0 7400 c3", map[uint64]taint.Set{9: 0}, nil},
		// call 0; lea edx,[rax+rax*2]; imul ecx,edx,5; cmp ecx,9; jg
		{"lea and imul", "e800000000 8d1440 6bca05 83f909 7f00 c3", map[uint64]taint.Set{14: number}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := disasmtest.Code(t, "amd64", c.code)
			g := disasmtest.Graph(t, b, 0)
			f := taint.Trace(g, func(i disasm.Inst) taint.Set {
				switch {
				case i.Addr == b.At && i.Control == disasm.Call:
					return number
				case i.Control == disasm.Call:
					return size
				}
				return 0
			})
			for at, want := range c.flags {
				if got := f.Flags[b.At+at]; got != want {
					t.Errorf("the jump at %d depends on %#x, want %#x", at, got, want)
				}
			}
			for at, want := range c.zero {
				if got := f.Zero[b.At+at]; got != want {
					t.Errorf("the jump at %d compares %#x with zero, want %#x", at, got, want)
				}
			}
		})
	}
}

func FuzzTrace(f *testing.F) {
	disasmtest.Seeds(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 512 {
			return
		}
		for _, arch := range disasmtest.Arches {
			c := disasmtest.Bytes{At: 0x1000, Data: b, ForArch: arch}
			if _, err := disasm.Parts(c, c.At); err != nil {
				continue
			}
			g := disasmtest.Graph(t, c, 0)
			taint.Trace(g, func(i disasm.Inst) taint.Set { return taint.Set(i.Addr & 3) })
		}
	})
}
