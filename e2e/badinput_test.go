package e2e

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ompp-attach/internal/testbin"
)

// A process may map as code what no linker has made. Its files may be gone or others by the time
// the tool looks at them. What can be measured is measured.
func TestAttachToOddMaps(t *testing.T) {
	atOnce(t)
	needTool(t)
	bin := testbin.Build(t, "longrun.c", testbin.Options{})
	whole, err := os.ReadFile(filepath.Join(runtimes, "libgomp.so.1"))
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	broken := func(from, to int) []byte {
		b := append([]byte(nil), whole...)
		for i := from; i < min(to, len(b)); i++ {
			b[i] = byte(rng.Uint32())
		}
		return b
	}
	for _, tc := range []struct {
		name  string
		files map[string][]byte // mapped besides the program's own
		after func(t *testing.T, libgomp string)
	}{
		{"no ELF, cut off, 32-bit", map[string][]byte{
			"text": []byte("#!/bin/sh\n"), "zeros": make([]byte, 8192),
			"a.so": whole[:40], "b.so": whole[:100], "c.so": whole[:4096], "libgomp.so.1": whole[:len(whole)/2],
			"d.so": append([]byte("\x7fELF\x01\x01\x01"), make([]byte, 5000)...),
		}, nil},
		{"broken", map[string][]byte{
			"headers.so": broken(64, 700), "ident.so": broken(16, 64), "libomp.so.5": broken(len(whole)-2000, len(whole)),
			"symbols.so": broken(0x200, 0x4000), "names.so": broken(0x1000, 0x8000),
		}, nil},
		{"runtime deleted", nil, func(t *testing.T, libgomp string) {
			if err := os.Remove(libgomp); err != nil {
				t.Fatal(err)
			}
		}},
		{"runtime replaced", nil, func(t *testing.T, libgomp string) {
			if err := os.WriteFile(libgomp+".new", []byte("no library"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(libgomp+".new", libgomp); err != nil {
				t.Fatal(err)
			}
		}},
		{"runtime replaced by a pipe", nil, func(t *testing.T, libgomp string) {
			if err := os.Remove(libgomp); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command("mkfifo", libgomp).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			libgomp := filepath.Join(dir, "libgomp.so.1")
			if err := os.WriteFile(libgomp, whole, 0o755); err != nil {
				t.Fatal(err)
			}
			var names []string
			for name, b := range tc.files {
				name = filepath.Join(dir, "mapped-"+name)
				names = append(names, name)
				if err := os.WriteFile(name, b, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			tg := &target{cmd: exec.Command(bin, aLongTime)}
			tg.cmd.Env = append(append(os.Environ(), threadsEnv(targetThreads)...), "LD_LIBRARY_PATH="+dir,
				"MAP_FILES="+strings.Join(names, ":"),
				"LD_PRELOAD="+testbin.Build(t, "libmapfiles.c", testbin.Options{NoOpenMP: true, Flags: []string{"-O1", "-fPIC", "-shared"}}))
			tg.cmd.Stdout, tg.cmd.Stderr = &tg.stdout, &tg.stderr
			if err := tg.cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = tg.cmd.Process.Kill() })
			tg.team(t)
			if tc.after != nil {
				tc.after(t, libgomp)
			}
			p := tg.attachFor(t, 800*time.Millisecond, someRegions)
			windowOf(t, p)
			for _, w := range p.Warnings {
				t.Logf("warning: %s", w)
			}
			tg.enough(t)
		})
	}
}
