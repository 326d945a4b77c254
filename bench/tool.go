package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/cilium/ebpf"

	"ompp-attach/bench/baseline"
)

// attachTool attaches ompp-attach to a process and returns once it has.
func attachTool(pid int, dir string, flags ...string) (stop func() error, took time.Duration, err error) {
	begin := time.Now()
	cmd := toolCommand(pid, dir, flags...)
	stop, err = startUntil(cmd, cmd.StderrPipe, attachedAndCalibrated())
	return stop, time.Since(begin), err
}

func attached(line string) bool { return strings.Contains(line, "attached to ") }

// attachedAndCalibrated tells by its lines that the tool has attached, and that it calibrates no
// longer, in whatever order that comes.
func attachedAndCalibrated() func(line string) bool {
	isAttached, isCalibrated := false, false
	return func(line string) bool {
		isAttached = isAttached || attached(line)
		isCalibrated = isCalibrated || strings.Contains(line, "calibrated in ") || strings.Contains(line, "measure what probes cost")
		return isAttached && isCalibrated
	}
}

// toolCommand attaches without counters, if flags do not ask for some.
func toolCommand(pid int, dir string, flags ...string) *exec.Cmd {
	args := []string{"attach", "--verbose", "--overwrite", "-o", filepath.Join(dir, "profile"), "--pid", strconv.Itoa(pid)}
	if !slices.Contains(flags, "--counters") {
		flags = append([]string{"--counters", "none"}, flags...)
	}
	return exec.Command(*tool, append(args, flags...)...)
}

// whatToolPlaces attaches ompp-attach for a moment, to ask the kernel which
// probes that has placed. While it is attached, during is called with the
// programs that run at the probes; nil calls nothing.
func whatToolPlaces(pid int, dir string, during func([]ebpf.ProgramID) error) ([]baseline.Placed, error) {
	cmd := toolCommand(pid, dir)
	stop, err := startUntil(cmd, cmd.StderrPipe, attachedAndCalibrated())
	if err != nil {
		return nil, err
	}
	placed, programs, err := baseline.PlacedBy(cmd.Process.Pid)
	// The kernel may still be taking away those of the calibration.
	placed = slices.DeleteFunc(placed, func(p baseline.Placed) bool { return strings.HasPrefix(p.Path, "/memfd:") })
	if err == nil && during != nil {
		err = during(programs)
	}
	return placed, errors.Join(err, stop())
}

// startUntil starts a command and waits for a line that it prints. The
// function it returns interrupts the command and waits for its end.
func startUntil(cmd *exec.Cmd, pipe func() (io.ReadCloser, error), is func(string) bool) (func() error, error) {
	out, err := pipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	var seen []string
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		seen = append(seen, lines.Text())
		if is(lines.Text()) {
			rest := make(chan []byte, 1)
			go func() { b, _ := io.ReadAll(out); rest <- b }()
			return func() error { return interrupt(cmd, rest) }, nil
		}
	}
	err = cmd.Wait()
	return nil, fmt.Errorf("%s ended early: %v\n%s", cmd.Path, err, strings.Join(seen, "\n"))
}

// interrupt ends a command by SIGINT and waits for it; rest delivers what it
// still prints. bpftrace 0.17 at times overlooks a first signal.
func interrupt(cmd *exec.Cmd, rest <-chan []byte) error {
	const tries = 20
	for range tries {
		_ = cmd.Process.Signal(syscall.SIGINT)
		select {
		case text := <-rest:
			if err := cmd.Wait(); err != nil && !endedBy(err, syscall.SIGINT) {
				return fmt.Errorf("%s: %w\n%s", cmd.Path, err, text)
			}
			return nil
		case <-time.After(time.Second):
		}
	}
	_ = cmd.Process.Kill()
	<-rest
	_ = cmd.Wait()
	return fmt.Errorf("%s does not end at SIGINT", cmd.Path)
}

// endedBy tells whether a command was ended by a signal: perf passes the one on
// that it got.
func endedBy(err error, sig syscall.Signal) bool {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == sig
}
