package bpf

import (
	"errors"
	"fmt"
	"os/exec"
	"syscall"
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

// Whom we may not continue is not stopped: neither when he runs a program nor when
// he is forked.
func TestNobodyElseIsStopped(t *testing.T) {
	const nobody = 65534
	for _, tc := range []struct {
		may     uint32
		stopped bool
	}{{anyone, true}, {nobody, true}, {nobody - 1, false}} {
		t.Run(fmt.Sprint(tc.may), func(t *testing.T) {
			f, err := newFollower(Session, tc.may)
			if errors.Is(err, unix.EPERM) {
				t.Skip("loading BPF programs is not permitted")
			}
			if err != nil {
				t.Fatalf("%+v", err)
			}
			defer f.Close()
			cmd := exec.Command("sh", "-c", "echo; read x; (:); exec sleep 0")
			cmd.Dir = "/"
			cmd.SysProcAttr = &unix.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer cmd.Wait()
			defer cmd.Process.Kill()
			if _, err := out.Read(make([]byte, 1)); err != nil { // its own exec is over
				t.Fatal(err)
			}
			if err := f.Follow(cmd.Process.Pid, FollowStop|FollowChildren|FollowProbed); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintln(in, "go")
			for _, kind := range []uint32{LifeFork, LifeExec} {
				l, ok, err := f.Next(time.Now().Add(10 * time.Second))
				if err != nil || !ok || l.Kind != kind {
					t.Fatalf("%+v, %v, %v; want kind %d", l, ok, err, kind)
				}
				if kind == LifeFork && tc.stopped && l.Stopped == 0 {
					t.Log("this kernel cannot stop a forked child") // before 6.13
				} else if (l.Stopped != 0) != tc.stopped {
					t.Errorf("kind %d: stopped %v, want %v", kind, l.Stopped != 0, tc.stopped)
				}
				if l.Stopped != 0 {
					if err := f.Continue(int(l.Pid), l.Time); err != nil {
						t.Fatal(err)
					}
				}
			}
		})
	}
}
