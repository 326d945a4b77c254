package probes

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ompp-attach/event"
	"ompp-attach/internal/hostile"
	"ompp-attach/symbols"
)

// libraries are runtimes as programs map them, those that this machine has.
func libraries(t testing.TB) (files [][]byte) {
	t.Helper()
	paths := []string{}
	for compiler, name := range map[string]string{"gcc": "libgomp.so.1", "mpicc": "libmpi.so", "clang-14": "libomp.so.5"} {
		out, err := exec.Command(compiler, "-print-file-name="+name).Output()
		if path := strings.TrimSpace(string(out)); err == nil && filepath.IsAbs(path) {
			paths = append(paths, path)
		}
	}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if o, err := symbols.NewObject(bytes.NewReader(b), int64(len(b))); err == nil && (Identify(o) != event.NoRuntime || IsMPI(o)) {
			files = append(files, b)
		}
	}
	if len(files) == 0 {
		t.Skip("there is no runtime here")
	}
	return files
}

// look does with a mapped library what a measurement does before it places a probe.
func look(b []byte) {
	o, err := symbols.NewObject(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return
	}
	defer func() { // what is kept of each file would be too much of all
		identified.Delete(o)
		located.Delete(o)
		decodings.Delete(o)
	}()
	if Identify(o) != event.NoRuntime {
		_, _ = NewPlan(o, func(string) bool { return true })
	}
	if IsMPI(o) {
		_, _ = NewMPIPlan(o)
		IsMPIBinding(o)
		IsOpenMPI(o)
	}
}

// FuzzLibrary damages libraries that a process maps.
func FuzzLibrary(f *testing.F) {
	files := libraries(f)
	for i := range files {
		f.Add(uint8(i), []byte{})
		f.Add(uint8(i), []byte("\x02\x05\x20\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\x7f"))
	}
	f.Fuzz(func(_ *testing.T, which uint8, edits []byte) {
		hostile.Within(func() { look(hostile.ELF(files[int(which)%len(files)], edits)) })
	})
}

// TestDamagedLibraries does a little of the fuzzing in every run.
func TestDamagedLibraries(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	files := libraries(t)
	for range 40 {
		edits := make([]byte, 14*(1+rng.IntN(8)))
		for i := range edits {
			edits[i] = byte(rng.Uint32())
		}
		hostile.Within(func() { look(hostile.ELF(files[rng.IntN(len(files))], edits)) })
	}
}
