package vex

import (
	"encoding/hex"
	"testing"
)

// TestMisread: what Linux 6.18 did with a probe at the instruction.
func TestMisread(t *testing.T) {
	for _, c := range []struct {
		name, code    string
		long, misread bool
	}{
		{"vxorps: executed as without a probe", "c5f857c0", true, false},
		{"vpor: jumped instead", "c5f9ebc1", true, true},
		{"vpxor: refused", "c5f9efc1", true, true},
		{"vpord of EVEX: jumped instead", "62f17d08ebc1", true, true},
		{"vfmaddps of three bytes of prefix", "c4e3e168c970", true, false},
		{"pop of a register", "8fc0c3", false, false},
		{"por has no such prefix", "660febc1", false, false},
		{"cut off", "c4e1", false, false},
		{"cut off before the opcode", "62f17d", false, false},
	} {
		b, err := hex.DecodeString(c.code)
		if err != nil {
			t.Fatal(err)
		}
		op, ok := Opcode(b)
		if ok != c.long || ok && Misread(op) != c.misread {
			t.Errorf("%s: opcode %#x %v, misread %v", c.name, op, ok, Misread(op))
		}
	}
}
