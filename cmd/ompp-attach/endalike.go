package main

import (
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"ompp-attach/collect"
)

// A rank's tool ends as its program does: launchers report that, and act on it.

// sigaction is the kernel's struct of amd64 and arm64: handler, flags, restorer, mask. Zero is
// the default action.
type sigaction [4]uint64

// changeAction sets what a signal does, and tells what it did; Go's own handlers can only be
// removed like this.
func changeAction(s syscall.Signal, to, was *sigaction) {
	_, _, _ = syscall.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(s), uintptr(unsafe.Pointer(to)), uintptr(unsafe.Pointer(was)), 8, 0, 0)
}

// endBy ends the process by a signal, as the program has ended: launchers
// report that, and act on it. No second core is written.
func endBy(s syscall.Signal) {
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	changeAction(s, &sigaction{}, nil)
	_ = syscall.Kill(os.Getpid(), s)
	time.Sleep(time.Second) // until it is delivered
}

// underHydra tells that MPICH's launcher has started us.
func underHydra() bool { return os.Getenv("PMI_FD") != "" }

// leave ends at once, as the program has, and leaves the rest to the collector. When the first
// rank's process fails, hydra kills the others, and puts all their statuses together by a
// logical or: those that wait for their files would make a segmentation fault (11) of a Ctrl-C
// (2) and of that kill (9).
func (s *session) leave(e collect.Ending, f *measureFlags, r collect.Rank) error {
	_ = s.to.Encode(&e)
	s.close()
	if !f.quiet && r.Rank == 0 {
		f.say(fmt.Sprintf("the results are being written to %s: `ompp-attach report` waits for them", s.dir))
	}
	failed := &exitError{e.Status, nil}
	if e.Signal != 0 {
		return &killedError{failed, e.Signal}
	}
	return failed
}

// dieWith lets signals that end the program end the tool at the same instant: hydra and the
// terminal send them to both, and the kernel notes what a process dies of when a signal is
// sent, so that a kill which follows changes nothing. What the program does with them is looked
// at now and then. The function that it returns gives us our own handlers back.
func dieWith(l *collect.Launched) (stop func()) {
	const often, seldom, starting = 20 * time.Millisecond, 250 * time.Millisecond, 2 * time.Second
	own, mine := map[syscall.Signal]*sigaction{}, map[syscall.Signal]bool{}
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			own[s], mine[s] = &sigaction{}, true
			changeAction(s, nil, own[s])
		}
	}
	set := func(s syscall.Signal, handled bool) {
		if mine[s] == handled {
			return
		}
		if mine[s] = handled; handled {
			changeAction(s, own[s], nil)
		} else {
			changeAction(s, &sigaction{}, nil)
		}
	}
	quit := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		for began := time.Now(); ; {
			for s := range own {
				set(s, l.Survives(s))
			}
			pause := seldom
			if time.Since(began) < starting {
				pause = often
			}
			select {
			case <-quit:
				return
			case <-time.After(pause):
			}
		}
	})
	return func() {
		close(quit)
		done.Wait()
		for s := range own {
			set(s, true)
		}
	}
}
