package hostile

import (
	"bytes"
	"debug/elf"
	"math/rand/v2"
	"os"
	"testing"
)

// Damaged files differ from the whole one, and are mostly opened: else the damage would test
// nothing but the opening.
func TestELF(t *testing.T) {
	whole, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(ELF(whole, nil), whole) {
		t.Error("no edits change the file")
	}
	rng := rand.New(rand.NewPCG(1, 2))
	opened, same := 0, 0
	for range 60 {
		edits := make([]byte, editSize*(1+rng.IntN(6)))
		for i := range edits {
			edits[i] = byte(rng.Uint32())
		}
		b := ELF(whole, edits)
		if _, err := elf.NewFile(bytes.NewReader(b)); err == nil {
			opened++
		}
		if bytes.Equal(b, whole) {
			same++
		}
	}
	if opened < 20 || same > 20 {
		t.Errorf("of 60 files %d are opened, %d are whole", opened, same)
	}
}
