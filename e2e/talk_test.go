package e2e

import (
	"io"
	"os/exec"
	"syscall"
	"testing"
)

// startTalking starts a command, and returns its input and output. Whoever starts a command has to
// wait for it.
func startTalking(t *testing.T, cmd *exec.Cmd) (in io.WriteCloser, out io.Reader) {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if out, err = cmd.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return in, out
}

// killStopped ends a command that may be stopped, or over.
func killStopped(cmd *exec.Cmd) {
	_ = cmd.Process.Signal(syscall.SIGCONT)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}
