package launch

import (
	"errors"
	"fmt"
	"ompp-attach/internal/testbin"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/rlimit"
)

// guarded starts a guardian that waits for the end of its standard input, as the real one does. Its
// maps are closed at once, as the follower's maps are before the guardian is dismissed.
func guarded(t *testing.T) *guardian {
	t.Helper()
	_ = rlimit.RemoveMemlock()
	var maps [2]*ebpf.Map
	for i := range maps {
		m, err := ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.Hash, KeySize: 4, ValueSize: 4, MaxEntries: 1})
		if errors.Is(err, os.ErrPermission) {
			t.Skip("needs root")
		}
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		maps[i] = m
	}
	path := filepath.Join(t.TempDir(), "guardian")
	testbin.Executable(t, path, []byte("#!/bin/sh\nexec cat >/dev/null\n"))
	g, err := newGuardian(path, maps[0], maps[1])
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// pid returns the PID of the present guardian.
func (g *guardian) pid() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.cmd.Process.Pid
}

// replaced waits until the guardian with the given PID was replaced.
func (g *guardian) replaced(t *testing.T, old int) int {
	t.Helper()
	testbin.Until(t, "there is another guardian", func() bool { return g.pid() != old })
	return g.pid()
}

// A guardian that is started between the follower's end and its own dismissal has the maps, too.
func TestGuardianKeepsTheMaps(t *testing.T) {
	g := guarded(t)
	old := g.pid()
	_ = syscall.Kill(old, syscall.SIGKILL)
	pid := g.replaced(t, old)
	for fd := 3; fd <= 4; fd++ {
		if to, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", pid, fd)); err != nil || to != "anon_inode:bpf-map" {
			t.Errorf("file %d is %q: %v", fd, to, err)
		}
	}
	g.stop()
	for _, f := range g.maps {
		if err := f.Close(); err == nil {
			t.Error("a map was still open after the guardian's end")
		}
	}
}

// A start that fails is tried again.
func TestGuardianIsTriedAgain(t *testing.T) {
	g := guarded(t)
	old := g.pid()
	if err := os.Chmod(g.path, 0); err != nil {
		t.Fatal(err)
	}
	_ = syscall.Kill(old, syscall.SIGKILL)
	time.Sleep(4 * guardianPause)
	if pid := g.pid(); pid != old {
		t.Fatalf("%d was started of a file that cannot be", pid)
	}
	if err := os.Chmod(g.path, 0o700); err != nil {
		t.Fatal(err)
	}
	pid := g.replaced(t, old)
	g.stop()
	if syscall.Kill(pid, 0) == nil {
		t.Errorf("%d is left", pid)
	}
}
