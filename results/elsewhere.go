package results

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"ompp-attach/collect"
)

// elsewhere returns directories for profiles that cannot be written to their own one. Tests replace
// it.
var elsewhere = func() (dirs []string) {
	state := os.Getenv("XDG_STATE_HOME")
	if home := os.Getenv("HOME"); state == "" && home != "" {
		state = filepath.Join(home, ".local", "state")
	}
	if filepath.IsAbs(state) {
		dirs = append(dirs, filepath.Join(state, "ompp-attach"))
	}
	return append(dirs, os.TempDir(), "/var/tmp", "/dev/shm")
}

// writeElsewhere writes profiles to another directory, and the error says to which.
func (o *Directory) writeElsewhere(res *collect.Result, w *Wanted, lost *unrecordedError) (files [][]string, err error) {
	for _, above := range elsewhere() {
		dir := o.placeBelow(above, res.Profiles[0].Meta.PID)
		root, _, err := OpenDirectory(dir, true)
		if err != nil {
			continue
		}
		root.Close()
		var again *unrecordedError
		if files, err = o.writeTo(dir, res, w); !errors.As(err, &again) {
			o.Dir = dir
			return files, errors.Join(fmt.Errorf("%w: the results are in %s", lost, dir), err)
		}
		_ = os.Remove(dir) // removed only if it is empty
	}
	return o.keep(res, w, lost)
}

// retryEvery is the time between attempts to write profiles that are kept in memory.
var retryEvery = 2 * time.Second

// keep keeps profiles in memory that cannot be written anywhere. It tries again until they are
// written, a signal comes, or the rank's tool is gone.
func (o *Directory) keep(res *collect.Result, w *Wanted, lost *unrecordedError) (files [][]string, err error) {
	remedy := "make room there"
	if errors.Is(lost, unix.EFBIG) {
		remedy = fmt.Sprintf("the limit for the size of files is too low: as root, prlimit --pid %d --fsize=unlimited lifts it", os.Getpid())
	}
	w.Say(fmt.Sprintf("%v, nor is there another place for it; the results are kept in memory, and it is tried again every %s until Ctrl-C: %s", lost, retryEvery, remedy))
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	for {
		select {
		case <-signals:
			return nil, fmt.Errorf("%w: the results are lost", lost)
		case <-w.Gone:
			return nil, fmt.Errorf("%w: the results are lost", lost)
		case <-time.After(retryEvery):
		}
		var again *unrecordedError
		if files, err = o.writeTo(o.Dir, res, w); !errors.As(err, &again) {
			w.Say("written now")
			return files, err
		}
	}
}
