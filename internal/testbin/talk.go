package testbin

import (
	"errors"
	"io"
	"os/exec"
	"testing"
)

// Talk starts a program, and returns its standard input and output. Most programs of tests end when
// their input is closed. The caller waits for the program.
func Talk(t testing.TB, cmd *exec.Cmd) (in io.WriteCloser, out io.ReadCloser) {
	t.Helper()
	in, inErr := cmd.StdinPipe()
	out, outErr := cmd.StdoutPipe()
	if err := errors.Join(inErr, outErr); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return in, out
}
