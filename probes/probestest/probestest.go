// Package probestest serves the tests of the runtimes' packages. It builds and opens small
// programs. It checks by random walks through the code where probes sit.
package probestest

import (
	"debug/elf"
	"errors"
	"io/fs"
	"ompp-attach/probes/disasm/disasmtest"
	"ompp-attach/symbols"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Compile builds a program from source with the compiler of an
// architecture, and skips the test if that compiler is missing.
func Compile(t *testing.T, arch, source string, flags ...string) string {
	t.Helper()
	compilers := map[string][]string{"amd64": {"x86_64-linux-gnu-gcc", "gcc"}, "arm64": {"aarch64-linux-gnu-gcc", "gcc"}}[arch]
	dir := t.TempDir()
	src, out := filepath.Join(dir, "a.c"), filepath.Join(dir, "a.out")
	if err := os.WriteFile(src, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, cc := range compilers {
		path, err := exec.LookPath(cc)
		if err != nil {
			continue
		}
		if msg, err := exec.Command(path, append(flags, "-o", out, src)...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", cc, err, msg)
		}
		f, err := elf.Open(out)
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		if want := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}[arch]; f.Machine == want {
			return out
		}
	}
	t.Skipf("no C compiler for %s", arch)
	return ""
}

// ELF opens a file of machine code, and skips the test if it is not installed.
func ELF(t *testing.T, path string) *disasmtest.File {
	t.Helper()
	f, err := disasmtest.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("%s is not installed", path)
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Open opens a file of machine code.
func Open(t *testing.T, path string) *symbols.Object {
	t.Helper()
	o, err := symbols.OpenObject(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.Close() })
	return o
}

// Body puts a function's body into the source of a program.
func Body(source, body string) string { return strings.Replace(source, "BODY", body, 1) }
