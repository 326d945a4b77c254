package bpf

import (
	"errors"
	"fmt"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"ompp-attach/internal/testbin"
)

// following loads a follower that may continue a user's processes.
func following(t *testing.T, mayContinue uint32) *Follower {
	t.Helper()
	f, err := newFollower(Session, mayContinue)
	if errors.Is(err, unix.EPERM) {
		t.Skip("loading BPF programs is not permitted")
	}
	if err != nil {
		t.Fatalf("%+v", err)
	}
	t.Cleanup(f.Close)
	return f
}

// follow starts a shell and follows it from the moment at which it runs a script. So the shell's
// own exec is not reported.
func (f *Follower) follow(t *testing.T, flags uint32, as *syscall.Credential, script string) (pid int) {
	t.Helper()
	cmd := exec.Command("sh", "-c", "echo; read x; "+script)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as}
	in, out := testbin.Talk(t, cmd)
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if err := f.Follow(cmd.Process.Pid, flags); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(in, "go")
	return cmd.Process.Pid
}

// A process may be stopped again before its first continuation has been noted. The second stop must
// not be forgotten with the first one. Otherwise nobody would continue the process if the tool died
// then.
func TestStoppedAgainWhileContinued(t *testing.T) {
	f := following(t, anyone)
	pid := f.follow(t, FollowStop, nil, "exec sh -c 'exec sleep 100'")
	stop := func() Life {
		t.Helper()
		l, ok, err := f.Next(time.Now().Add(testbin.Patience))
		if err != nil || !ok || l.Kind != LifeExec || l.Stopped == 0 {
			t.Fatalf("no stop: %+v, %v, %v", l, ok, err)
		}
		return l
	}
	waiting := func(l Life) bool {
		_, ok := entries[followStop, uint64](f.StoppedMap())[followStop{Time: l.Time, Pid: uint64(pid)}]
		return ok
	}
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
	if n := len(entries[followStop, uint64](f.StoppedMap())); n != 0 {
		t.Errorf("%d stops are left", n)
	}
}

// A child that finds no room among the followed processes is counted as missed.
func TestTooManyFollowed(t *testing.T) {
	f := following(t, anyone)
	followed := f.coll.Maps[followMapFollowed]
	const noProcess = 1 << 22 // PID_MAX_LIMIT (linux/threads.h)
	for i := range followed.MaxEntries() - 1 {
		if err := followed.Put(noProcess+1+i, uint32(0)); err != nil {
			t.Fatal(err)
		}
	}
	f.follow(t, FollowChildren, nil, "(exit 0); exec sleep 100")
	testbin.Until(t, "a child is missed", func() bool { return f.Missed() > 0 })
	if n := f.Missed(); n != 1 {
		t.Errorf("%d missed, want 1", n)
	}
}

// A process that the tool may not continue is not stopped: neither when it runs a program nor when
// it is forked.
func TestNobodyElseIsStopped(t *testing.T) {
	const nobody = 65534
	for _, tc := range []struct {
		may     uint32
		stopped bool
	}{{anyone, true}, {nobody, true}, {nobody - 1, false}} {
		t.Run(fmt.Sprint(tc.may), func(t *testing.T) {
			f := following(t, tc.may)
			f.follow(t, FollowStop|FollowChildren|FollowProbed, &syscall.Credential{Uid: nobody, Gid: nobody}, "(:); exec sleep 0")
			for _, kind := range []uint32{LifeFork, LifeExec} {
				l, ok, err := f.Next(time.Now().Add(testbin.Patience))
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

// Whoever catches up returns when all events are acted on that were reported before, though the one
// who reads them is slow.
func TestCatchUp(t *testing.T) {
	f := following(t, anyone)
	const execs = 5
	f.follow(t, FollowChildren, nil, "for i in 1 2 3 4 5; do sh -c :; done; exec sleep 100")
	testbin.Until(t, "all are reported", func() bool {
		return atomic.LoadUint64(f.lives.producer) >= execs*uint64(unsafe.Sizeof(Life{}))
	})
	var acted atomic.Int32
	enough := make(chan struct{})
	var reader sync.WaitGroup
	reader.Go(func() {
		for {
			_, ok, err := f.Next(time.Now().Add(testbin.Patience))
			switch {
			case err != nil:
				t.Error(err)
				return
			case ok:
				time.Sleep(5 * time.Millisecond)
				acted.Add(1)
			}
			select {
			case <-enough:
				return
			default:
			}
		}
	})
	f.CatchUp(testbin.Patience)
	if n := acted.Load(); n < execs {
		t.Errorf("caught up after %d events of %d", n, execs)
	}
	f.CatchUp(testbin.Patience) // with nothing
	close(enough)
	f.Wake()
	reader.Wait()
}

// That somebody else has continued a process is known until Continue is called, also if the process
// is followed no longer.
func TestLetGo(t *testing.T) {
	f := following(t, anyone)
	const pid, at = 1<<22 - 1, 7
	stop := followStop{Time: 5, Pid: pid}
	if f.LetGo() {
		t.Error("somebody was let go")
	}
	if err := f.Follow(pid, FollowChildren); err != nil {
		t.Fatal(err)
	}
	if err := f.StoppedMap().Put(stop, uint64(at)); err != nil {
		t.Fatal(err)
	}
	f.Release(func(uint32) bool { return true })
	if !f.LetGo() || f.WentOn(pid, stop.Time) != at {
		t.Error("who was let go is forgotten")
	}
	if err := f.Continue(pid, stop.Time); err != nil || f.LetGo() {
		t.Errorf("still let go; %v", err)
	}
}
