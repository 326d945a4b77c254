package unwind

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ompp-attach/symbols"
)

// stackCopied is the number of bytes of the stack that a probe copies.
const stackCopied = 512

// TestCallerBehindWrappers: the caller behind the wrappers of MPI's Fortran interfaces is found
// from the data of a probe at the C function's entry. The data are two registers and a part of the
// stack.
func TestCallerBehindWrappers(t *testing.T) {
	if arch := hostArch(t); arch != "amd64" {
		t.Skip("notes registers of amd64, not of " + arch)
	}
	for _, compiler := range []string{"mpifort.openmpi", "mpifort.mpich"} {
		for _, options := range []string{"-O2", "-O0", "-O2 -fno-omit-frame-pointer"} {
			t.Run(compiler+" "+options, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				object := filepath.Join(dir, "mpi.o")
				if out, err := exec.Command("gcc", "-c", "-O2", "testdata/mpi.c", "-o", object).CombinedOutput(); err != nil {
					t.Skipf("%v\n%s", err, out)
				}
				bin := build(t, slices.Concat([]string{compiler, "-J" + dir}, strings.Fields(options), []string{"testdata/wrapped.f90", object})...)
				for _, how := range []string{"f08", "f77", "variable"} {
					t.Run(how, func(t *testing.T) { behindWrappers(t, runTo(t, bin, how)) })
				}
			})
		}
	}
}

func wrapper(m *symbols.Module, _ uint64) bool { return !m.Object().IsExecutable() }

func behindWrappers(t *testing.T, s *stopped) {
	find := func(ret uint64) *symbols.Module {
		m, found := symbols.Find(s.modules, ret)
		if !found {
			t.Fatalf("%#x is in no module", ret)
		}
		return m
	}
	wrappers := slices.IndexFunc(s.truth, func(ret uint64) bool { return !wrapper(find(ret), 0) })
	if wrappers < 1 {
		t.Fatalf("called without a wrapper: %#x", s.truth)
	}
	want := s.truth[wrappers]
	s.entry.Stack = make([]byte, stackCopied)
	if _, err := s.mem.ReadAt(s.entry.Stack, int64(s.entry.SP)); err != nil {
		t.Fatal(err)
	}
	if site, ok := Caller(s.modules, s.entry, wrapper); !ok || site != want {
		t.Errorf("caller %#x (%t), want %#x behind %d", site, ok, want, wrappers)
	}

	// Compiled wrappers keep it where a single word of the stack tells.
	at := s.entry.SP
	for i, ret := range s.truth[:wrappers] {
		m := find(ret)
		above, fixed := For(m.Object()).ReturnOffset(m.VAddr(ret - 1))
		at += 8 + uint64(above)
		if next, _ := s.read(at); !fixed || next != s.truth[i+1] {
			t.Errorf("%s returns to %#x (%t), want %#x", m.Path, next, fixed, s.truth[i+1])
		}
	}

	s.entry.Stack = s.entry.Stack[:8]
	if site, ok := Caller(s.modules, s.entry, wrapper); ok || site != s.truth[0] {
		t.Errorf("with too little stack: %#x (%t), want %#x", site, ok, s.truth[0])
	}
}
