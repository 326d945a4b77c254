package target

import (
	"os"
	"os/exec"
	"testing"
)

func TestDebugPackage(t *testing.T) {
	for name, want := range map[string]string{
		"libgromacs7": "libgromacs7-dbgsym", "libc6": "libc6-dbg", "python3.11-minimal": "python3.11-dbg", "libpython3.11": "python3.11-dbg",
		"python3-sklearn-lib": "python3-sklearn-lib-dbgsym",
	} {
		if got := debugPackage(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// The packages of files are found, also if a package names a file by its path from before /usr was
// merged.
func TestPackagesOf(t *testing.T) {
	if _, err := exec.LookPath("dpkg-query"); err != nil {
		t.Skip("no Debian")
	}
	paths := map[string]string{"/usr/bin/dpkg-query": "dpkg", "/usr/bin/bash": "bash", "/nowhere/file": ""}
	var ask []string
	for p := range paths {
		if _, err := os.Stat(p); err == nil || paths[p] == "" {
			ask = append(ask, p)
		}
	}
	of := packagesOf(ask)
	for _, p := range ask {
		if of[p] != paths[p] {
			t.Errorf("%s is of %q, want %q", p, of[p], paths[p])
		}
	}
}
