package disasm_test

import (
	"testing"

	"ompp-attach/probes/disasm"
	"ompp-attach/probes/disasm/disasmtest"
)

// Whether the jump behind a call is taken for the result 0, by the processor's manual.
func TestTakenForZero(t *testing.T) {
	for _, c := range []struct {
		name, arch string
		code       []string // the last one is the jump
		taken, ok  bool
	}{
		{"test al, al; je", "amd64", []string{"84c0", "7402"}, true, true},
		{"test al, al; jne", "amd64", []string{"84c0", "7502"}, false, true},
		{"cmp al, 1; je", "amd64", []string{"3c01", "7402"}, false, true},
		{"cmp al, 1; jne", "amd64", []string{"3c01", "7502"}, true, true},
		{"cmp eax, 0; je", "amd64", []string{"83f800", "7402"}, true, true},
		{"cmp dword ptr, 0; jne", "amd64", []string{"837dfc00", "7502"}, false, true},
		{"cmp w0, 0; b.eq", "arm64", []string{"1f000071", "40000054"}, true, true},
		{"a move between", "amd64", []string{"84c0", "89c3", "7402"}, true, true},
		{"js", "amd64", []string{"84c0", "7802"}, false, false},
		{"no test", "amd64", []string{"89c3", "7402"}, false, false},
		{"cbz w0", "arm64", []string{"40000034"}, true, true},
		{"cbnz w0", "arm64", []string{"40000035"}, false, true},
		{"tbz w0, 0", "arm64", []string{"40000036"}, true, true},
		{"tbnz w0, 0", "arm64", []string{"40000037"}, false, true},
	} {
		test := disasm.NotTested
		for n, bytes := range c.code {
			b := disasmtest.Code(t, c.arch, bytes)
			i, err := disasm.Decode(b, b.At)
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if n < len(c.code)-1 {
				test = test.Behind(&i)
				continue
			}
			if taken, ok := test.TakenForZero(&i); taken != c.taken || ok != c.ok {
				t.Errorf("%s: taken %t, known %t; want %t, %t", c.name, taken, ok, c.taken, c.ok)
			}
			if _, ok := disasm.Decided.TakenForZero(&i); ok {
				t.Errorf("%s: decides a second time", c.name)
			}
		}
	}
}
