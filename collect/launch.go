package collect

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
)

// LaunchCommand is the hidden subcommand that becomes the program: it waits
// until we follow it, then execs.
const LaunchCommand = "__launch"

// ExecError says that the kernel would not run the program.
type ExecError struct{ Sentence string }

// Error implements error.
func (e *ExecError) Error() string { return e.Sentence }

// launched is a program that we started.
type launched struct {
	cmd    *exec.Cmd
	gate   *os.File // closing it lets the program start
	report *bufio.Reader
}

// launch prepares a program in a process of its own, not yet running. The
// process keeps our standard streams, environment and working directory.
func launch(path string, args []string) (*launched, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	gateR, gateW, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	defer gateR.Close()
	failR, failW, err := os.Pipe()
	if err != nil {
		gateW.Close()
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	defer failW.Close()
	cmd := exec.Command(self, append([]string{LaunchCommand, path}, args...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.ExtraFiles = []*os.File{gateR, failW}
	if err := cmd.Start(); err != nil {
		gateW.Close()
		failR.Close()
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	return &launched{cmd, gateW, bufio.NewReader(failR)}, nil
}

// start lets the program run; it returns the reason when exec failed.
func (l *launched) start() error {
	l.gate.Close()
	msg, err := io.ReadAll(l.report) // ends at exec: the pipe is close-on-exec
	if err != nil {
		return err
	}
	if len(msg) > 0 {
		_ = l.cmd.Wait()
		return &ExecError{string(msg)}
	}
	return nil
}

// RunLaunch is the launcher's main function: args are the program's path and
// its arguments, argv[0] first. It returns when exec failed; start has told why.
func RunLaunch(args []string) {
	syscall.CloseOnExec(3)
	syscall.CloseOnExec(4)
	gate := os.NewFile(3, "gate")
	fail := os.NewFile(4, "fail")
	_, _ = io.Copy(io.Discard, gate)
	err := syscall.Exec(args[0], args[1:], os.Environ())
	fmt.Fprintf(fail, "cannot run %s: %v", args[0], err)
}
