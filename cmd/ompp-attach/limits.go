package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// enoughFiles is how many open files a measurement takes on a machine of a few processors, which
// is some 250, and some more.
const enoughFiles = 1024

// fewFiles makes one sentence, with the remedy, of all that goes wrong for want of open files. Go
// has raised the limit as far as it may be already; a collector tells its errors as text.
func fewFiles(err error) error {
	if !errors.Is(err, unix.EMFILE) && !strings.Contains(err.Error(), unix.EMFILE.Error()) {
		return err
	}
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &l) != nil {
		return err
	}
	return tooFewFiles(&l)
}

// checkFiles ends a measurement at once for which far too few files may be open: Go itself could
// not go on.
func checkFiles(command string) {
	const few = 100
	var l unix.Rlimit
	if command != "run" && command != "attach" || unix.Getrlimit(unix.RLIMIT_NOFILE, &l) != nil || l.Cur >= few {
		return
	}
	_, _ = unix.Write(unix.Stderr, []byte("ompp-attach: "+tooFewFiles(&l).Error()+"\n"))
	os.Exit(exitFailure)
}

func tooFewFiles(l *unix.Rlimit) error {
	return fmt.Errorf("no more than %d files may be open at a time, which is too few: `ulimit -n %d` in the shell that starts ompp-attach lifts that (as root, where it is refused)",
		l.Cur, enoughFiles)
}

// endOnQuit lets Ctrl-\ end the tool as Ctrl-C does, where Go would print what all its threads
// do. The function that it returns leaves the signal to others.
func endOnQuit() (stop func()) {
	if signal.Ignored(syscall.SIGQUIT) {
		return func() {}
	}
	quit := make(chan os.Signal, 1)
	signal.Notify(quit, syscall.SIGQUIT)
	go func() {
		for s := range quit {
			endBy(s.(syscall.Signal))
		}
	}()
	return sync.OnceFunc(func() {
		signal.Stop(quit)
		close(quit)
	})
}

// leaveQuit is for those who take the signal themselves.
var leaveQuit = func() {}
