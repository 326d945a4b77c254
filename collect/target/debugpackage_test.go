package target

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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

// The package manager is asked once about each file, until a package is installed or removed, or
// what was kept is damaged.
func TestPackagesKept(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	defer func(was string) { dpkgStatus = was }(dpkgStatus)
	dpkgStatus = filepath.Join(t.TempDir(), "status")
	install := func(text string) {
		t.Helper()
		if err := os.WriteFile(dpkgStatus, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var asked []string
	manager := func(paths []string) map[string]string {
		asked = append(asked, paths...)
		of := map[string]string{}
		for _, p := range paths {
			if p != "/mine" {
				of[p] = "package of " + p
			}
		}
		return of
	}
	ask := func(want ...string) {
		t.Helper()
		asked = nil
		paths := []string{"/lib", "/mine"}
		of := askKept(paths, manager)
		if of["/lib"] != "package of /lib" || of["/mine"] != "" {
			t.Errorf("answers %q", of)
		}
		if !slices.Equal(asked, want) {
			t.Errorf("asked for %q, want %q", asked, want)
		}
	}
	ask("/lib", "/mine") // no package manager: nothing is kept
	ask("/lib", "/mine")
	install("one package")
	ask("/lib", "/mine")
	ask()
	install("another package, too")
	ask("/lib", "/mine")
	ask()
	kept := filepath.Join(os.Getenv("XDG_CACHE_HOME"), "ompp-attach", "packages")
	list, err := os.ReadDir(kept)
	if err != nil || len(list) != 2 {
		t.Fatalf("%d files kept: %v", len(list), err)
	}
	for _, f := range list {
		if err := os.WriteFile(filepath.Join(kept, f.Name()), []byte("null"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ask("/lib", "/mine")
	asked = nil
	if of := askKept([]string{"/lib", "/other"}, manager); of["/other"] == "" || !slices.Equal(asked, []string{"/other"}) {
		t.Errorf("%q, asked for %q", of, asked)
	}
}
