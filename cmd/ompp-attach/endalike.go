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

	"ompp-attach/collect/launch"
)

// A rank's tool ends in the same way as its program, since launchers report how a rank ended and
// act on it.

// sigaction is the kernel's struct on amd64 and arm64: handler, flags, restorer, mask. The zero
// value is the default action.
type sigaction [4]uint64

// changeAction sets the action of a signal and returns the old one in was; either may be nil. Go's
// own handlers cannot be removed in any other way.
func changeAction(s syscall.Signal, to, was *sigaction) {
	_, _, _ = syscall.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(s), uintptr(unsafe.Pointer(to)), uintptr(unsafe.Pointer(was)), 8, 0, 0)
}

// endBy ends the process by the signal that ended the program, since launchers report that and act
// on it. It writes no core file: the program has written one.
func endBy(s syscall.Signal) {
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	changeAction(s, &sigaction{}, nil)
	_ = syscall.Kill(os.Getpid(), s)
	time.Sleep(time.Second) // until the signal is delivered
}

// underHydra tells whether MPICH's launcher has started us.
func underHydra() bool { return os.Getenv("PMI_FD") != "" }

// leave ends the tool at once, as the program has ended, and leaves the writing of files to the
// collector. When a rank's process fails, hydra kills the others, and combines all exit statuses by
// a logical or. A tool that waited for its files would be killed (9), and a Ctrl-C (2) would become
// a segmentation fault (11).
func (s *session) leave(e launch.Ending, f *measureFlags, r launch.Rank) error {
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

// dieWith makes signals that end the program end the tool at the same instant. hydra and the
// terminal send a signal to both. The kernel decides what a process dies of when the first signal
// is sent, so that a kill after it changes nothing. dieWith looks at intervals which signals the
// program handles. stop restores our own handlers.
func dieWith(l *launch.Launched) (stop func()) {
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
