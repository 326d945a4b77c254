package probestest

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ompp-attach/internal/hostile"
)

// Libraries returns the files that compilers link for a name, those that this machine has.
func Libraries(t testing.TB, byCompiler map[string]string) (files [][]byte) {
	t.Helper()
	for compiler, name := range byCompiler {
		out, err := exec.Command(compiler, "-print-file-name="+name).Output()
		path := strings.TrimSpace(string(out))
		if err != nil || !filepath.IsAbs(path) {
			continue
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, b)
	}
	if len(files) == 0 {
		t.Skip("there is no such library here")
	}
	return files
}

// Fuzz damages libraries that a process maps, and lets examine look at them.
func Fuzz(f *testing.F, files [][]byte, examine func([]byte)) {
	for i := range files {
		f.Add(uint8(i), []byte{})
		f.Add(uint8(i), []byte("\x02\x05\x20\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\x7f"))
	}
	f.Fuzz(func(_ *testing.T, which uint8, edits []byte) {
		hostile.Within(func() { examine(hostile.ELF(files[int(which)%len(files)], edits)) })
	})
}

// Damage does a little of the fuzzing.
func Damage(files [][]byte, examine func([]byte)) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 20 * len(files) {
		edits := make([]byte, 14*(1+rng.IntN(8)))
		for i := range edits {
			edits[i] = byte(rng.Uint32())
		}
		hostile.Within(func() { examine(hostile.ELF(files[rng.IntN(len(files))], edits)) })
	}
}
