package debuggers

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// closed counts how often it is closed.
type closed int

func (c *closed) Close() error { *c++; return nil }

// debugged starts a program that this test traces, as a debugger does. The kernel knows the tracing
// thread, so the test must stay on it.
func debugged(t *testing.T) (pid int, leave func()) {
	t.Helper()
	runtime.LockOSThread()
	cmd := exec.Command("sleep", "60")
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	gone := false
	leave = func() {
		if !gone {
			gone = true
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			runtime.UnlockOSThread()
		}
	}
	t.Cleanup(leave)
	return cmd.Process.Pid, leave
}

// alone starts a program that nobody traces.
func alone(t *testing.T) (pid int) {
	t.Helper()
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd.Process.Pid
}

func TestWarning(t *testing.T) {
	pid, _ := debugged(t)
	name, err := os.ReadFile("/proc/self/comm")
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("Process %d is being debugged by %s", pid, strings.TrimSpace(string(name)))
	if got := Warning(pid); !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %q...", got, want)
	}
	for name, pid := range map[string]int{"nobody traces it": alone(t), "there is no such process": 1 << 30} {
		if got := Warning(pid); got != "" {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

// TestHeld: the probes of a debugged process stay until its debugger has gone, and no others.
func TestHeld(t *testing.T) {
	var h Held
	var link closed
	if h.Keep(alone(t), []io.Closer{&link}) || h.Sentence() != "" {
		t.Error("probes of a process without a debugger are kept")
	}
	pid, leave := debugged(t)
	if !h.Keep(pid, []io.Closer{&link}) {
		t.Fatal("probes of a debugged process are not kept")
	}
	if got := h.Sentence(); !strings.Contains(got, fmt.Sprintf("process %d (by", pid)) {
		t.Errorf("got %q", got)
	}
	ended, end := context.WithCancel(context.Background())
	end()
	h.Await(ended) // returns although the debugger is there
	leave()
	waiting, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	h.Await(waiting)
	if waiting.Err() != nil || h.Sentence() != "" {
		t.Errorf("probes wait for a debugger that has gone: %q", h.Sentence())
	}
	links := h.Detach()
	if len(links) != 1 || link != 0 {
		t.Fatalf("%d links, closed %d times; want 1 that is open", len(links), link)
	}
	if again := h.Detach(); len(again) != 0 {
		t.Errorf("%d links are handed over again", len(again))
	}
}
