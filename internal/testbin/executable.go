package testbin

import (
	"bytes"
	"os/exec"
	"testing"
)

// Executable writes a file that the test can execute: a script, or a copy of a program. It replaces
// the file that had this path. Another process writes the file. If the test wrote it, a process
// that another goroutine forks meanwhile would keep it open. The kernel executes no file that is
// open for writing (ETXTBSY, golang.org/issue/22315).
func Executable(t testing.TB, path string, contents []byte) {
	t.Helper()
	write := exec.Command("install", "-m", "755", "/dev/stdin", path)
	write.Stdin = bytes.NewReader(contents)
	if out, err := write.CombinedOutput(); err != nil {
		t.Fatalf("writing %s: %v: %s", path, err, out)
	}
}
