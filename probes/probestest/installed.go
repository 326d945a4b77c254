package probestest

import (
	"os"
	"path/filepath"
	"testing"
)

// Libomps returns the paths of the installed versions of libomp. Without any, the test is skipped.
func Libomps(t testing.TB) []string { return installed(t, "libomp", "/usr/lib/llvm-*/lib/libomp.so.5") }

// Libgomps returns the paths of the installed versions of libgomp, also those for other machines.
// Without any, the test is skipped.
func Libgomps(t testing.TB) []string {
	return installed(t, "libgomp", "/usr/lib/x86_64-linux-gnu/libgomp.so.1", "/usr/lib/aarch64-linux-gnu/libgomp.so.1",
		"/usr/aarch64-linux-gnu/lib/libgomp.so.1", "/usr/lib64/libgomp.so.1")
}

// installed returns the files that match one of some patterns. It leaves out links that lead
// nowhere: their package is gone.
func installed(t testing.TB, what string, patterns ...string) (found []string) {
	t.Helper()
	for _, pattern := range patterns {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if _, err := os.Stat(path); err == nil {
				found = append(found, path)
			}
		}
	}
	if len(found) == 0 {
		t.Skip(what + " is not installed")
	}
	return found
}
