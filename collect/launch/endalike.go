package launch

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
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

// EndBy ends the process by the signal that ended the program, since launchers report that and act
// on it. It writes no core file: the program has written one.
func EndBy(s syscall.Signal) {
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	changeAction(s, &sigaction{}, nil)
	_ = syscall.Kill(os.Getpid(), s)
	time.Sleep(time.Second) // until the signal is delivered
}

// UnderHydra tells whether MPICH's launcher has started us.
func UnderHydra() bool { return os.Getenv("PMI_FD") != "" }

// DieWith makes signals that end the program end the tool at the same instant. hydra and the
// terminal send a signal to both. When the first signal is sent, the kernel decides what a process
// dies of. So a kill after it changes nothing. DieWith looks at intervals which signals the program
// handles. stop restores our own handlers.
func DieWith(l *Launched) (stop func()) {
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
