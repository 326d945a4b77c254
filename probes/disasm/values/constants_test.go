package values_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ompp-attach/probes/disasm"
	"ompp-attach/probes/disasm/disasmtest"
	"ompp-attach/probes/disasm/values"
)

func TestAddresses(t *testing.T) {
	for _, c := range []struct {
		arch, code string
		want       []uint64
	}{
		{"amd64", "488d15f90f0000 488b05f90f0000 c3", []uint64{0x2000}}, // lea counts, mov does not
		// adrp x0, .+0x1000; mov x1, x2; add x0, x0, #0xd80; then x0 is no page
		{"arm64", "000000b0 e10302aa 00003691 00003691 c0035fd6", []uint64{0x2000, 0x2d80}},
	} {
		b := disasmtest.Code(t, c.arch, c.code)
		body, err := disasm.Func(b, b.At)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c.want, values.Addresses(body)); d != "" {
			t.Errorf("%s: %s", c.arch, d)
		}
	}
}
