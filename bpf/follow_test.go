package bpf

import (
	"errors"
	"fmt"
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Whoever continues a process may find it stopped again before it has noted that:
// the second stop must not be forgotten with the first, or nobody would continue
// the process if we died then.
func TestStoppedAgainWhileContinued(t *testing.T) {
	f, err := NewFollower(Session)
	if errors.Is(err, unix.EPERM) {
		t.Skip("loading BPF programs is not permitted")
	}
	if err != nil {
		t.Fatalf("%+v", err)
	}
	defer f.Close()
	cmd := exec.Command("sh", "-c", "read x; exec sh -c 'exec sleep 100'")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	pid := cmd.Process.Pid
	stop := func() Life {
		t.Helper()
		l, ok, err := f.Next(time.Now().Add(10 * time.Second))
		if err != nil || !ok || l.Kind != LifeExec || l.Stopped == 0 {
			t.Fatalf("no stop: %+v, %v, %v", l, ok, err)
		}
		return l
	}
	waiting := func(l Life) bool {
		_, ok := entries[followStop, uint8](f.StoppedMap())[followStop{Time: l.Time, Pid: uint64(pid)}]
		return ok
	}
	if err := f.Follow(pid, FollowStop); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(in, "go")
	first := stop()
	if !waiting(first) {
		t.Error("the first stop is not noted")
	}
	if err := unix.Kill(pid, unix.SIGCONT); err != nil {
		t.Fatal(err)
	}
	second := stop()
	if err := f.Continue(pid, first.Time); err != nil {
		t.Fatal(err)
	}
	if waiting(first) || !waiting(second) {
		t.Errorf("after the first was continued: the first waits: %v, the second: %v", waiting(first), waiting(second))
	}
	if err := f.Continue(pid, second.Time); err != nil {
		t.Fatal(err)
	}
	if n := len(entries[followStop, uint8](f.StoppedMap())); n != 0 {
		t.Errorf("%d stops are left", n)
	}
}
