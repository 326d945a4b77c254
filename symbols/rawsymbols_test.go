package symbols

import (
	"os"
	"path/filepath"
	"testing"
)

// TestWanted looks for names at places of a string table. Some names have a version after them.
// Some are the end of another name.
func TestWanted(t *testing.T) {
	const table = "\x00f\x00g@V1\x00loop@@V2\x00loops\x00xloop\x00lo"
	w := newWanted([]string{"f", "g", "loop", "lo", ""})
	for at, want := range map[uint32]int{0: -1, 1: 0, 3: 1, 8: 2, 17: -1, 23: -1, 24: 2, 29: 3, 30: -1, 31: -1, 1 << 31: -1} {
		if got := w.find(table, at); got != want {
			t.Errorf("at %d, %q, name %d is found, not %d", at, nameAt(table, at), got, want)
		}
	}
}

// TestFunctionsWithoutSize finds the ends of hand-written functions, which have neither a size nor
// unwind information.
func TestFunctionsWithoutSize(t *testing.T) {
	t.Parallel()
	source := filepath.Join(t.TempDir(), "a.s")
	const text = `	.text
	.globl one, two
	.type one, @function
	.type two, @function
one:	nop
	ret
two:	ret
	.section .note.GNU-stack,"",@progbits
`
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	o := open(t, compile(t, "gcc", "-shared", "-nostdlib", source))
	one, two := o.Symbol("one"), o.Symbol("two")
	if len(one) != 1 || len(two) != 1 || one[0] >= two[0] {
		t.Fatalf("one is at %x, two at %x", one, two)
	}
	if lo, hi, ok := o.FuncRange(one[0] + 1); !ok || lo != one[0] || hi != two[0] {
		t.Errorf("one reaches from %#x to %#x, %t; it is at %#x, two at %#x", lo, hi, ok, one[0], two[0])
	}
}
