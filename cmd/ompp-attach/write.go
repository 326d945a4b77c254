package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"ompp-attach/collect"
	"ompp-attach/profile"
	"ompp-attach/report"
)

// write writes all files first, and then prints the summaries. A profile that cannot be written to
// its directory is written elsewhere. If that is impossible too, it is kept in memory until it can
// be written.
func (o *output) write(res *collect.Result, f *measureFlags) error {
	if len(res.Profiles) == 0 {
		return o.abandon(nil)
	}
	o.mark.ends(os.Getpid())
	defer func() { o.mark.remove() }()
	catchFileSize()
	o.choose(res.Profiles[0].Meta.PID)
	files, err := o.writeTo(o.dir, res, f)
	var lost *unrecordedError
	if errors.As(err, &lost) {
		files, err = o.writeElsewhere(res, f, lost)
	}
	var errs []error
	if files != nil && !f.quiet {
		for i, p := range res.Profiles {
			if isRank(p) || o.rank != nil {
				continue
			}
			if err := report.Summary(spoken, p, files[i], f.view.options()); err != nil {
				errs = append(errs, err)
			}
		}
		for _, line := range o.ranksLines(res.Profiles) {
			f.say(line)
		}
	}
	return errors.Join(append(errs, err)...)
}

// choose names the directory if the user has not.
func (o *output) choose(pid int) {
	if o.dir == "" {
		o.dir = unused(defaultDirectory(o.program, pid))
	}
}

// unused returns a name that does not exist yet: an older process may have had the same PID.
func unused(base string) string {
	name := base
	for n := 2; exists(name); n++ {
		name = fmt.Sprintf("%s-%d", base, n)
	}
	return name
}

// defaultDirectory names the directory for a process's results. A file name has at most 255 bytes.
func defaultDirectory(program string, pid int) string {
	const longest = 200
	return fmt.Sprintf("ompp-%s-%d", program[:min(len(program), longest)], pid)
}

// unrecordedError says why a recorded profile, from which all reports can be made, could not be
// written.
type unrecordedError struct {
	dir string
	err error
}

// Error implements error.
func (e *unrecordedError) Error() string { return e.err.Error() }

// Unwrap lets errors.Is and errors.As find the reason.
func (e *unrecordedError) Unwrap() error { return e.err }

// writeTo writes all profiles to a directory, and removes snapshots that are not needed any more.
// The error is an *unrecordedError if a profile could not be recorded.
func (o *output) writeTo(dir string, res *collect.Result, f *measureFlags) (files [][]string, err error) {
	if dir == o.dir {
		if err := o.prepare(); err != nil { // somebody may have removed the directory meanwhile
			return nil, &unrecordedError{dir, err}
		}
	}
	stems := o.stems(res, dir)
	files = make([][]string, len(stems))
	var errs []error
	var lost error
	for i, p := range res.Profiles {
		name := filepath.Join(dir, stems[i]+recordSuffix)
		if err := saveFile(name, func(w io.Writer) error { return profile.Encode(w, p) }); err != nil {
			lost = cmp.Or(lost, err)
			continue
		}
		delete(o.shots, filepath.Base(name))
		more, err := renderAll(dir, stems[i], p, formatsOf(p, f.formats), f.view.options())
		files[i] = append([]string{name}, more...)
		if err != nil {
			errs = append(errs, fmt.Errorf("%w; `ompp-attach report %s` writes it again", err, dir))
		}
	}
	if lost != nil {
		return files, &unrecordedError{dir, lost}
	}
	if dir == o.dir {
		o.removeShots()
	}
	return files, errors.Join(errs...)
}

// prepare makes the directory, and removes the files of an older run if they are to be replaced.
func (o *output) prepare() error {
	if err := o.make(); err != nil {
		return err
	}
	if !o.replace || o.cleared {
		return nil
	}
	o.cleared = true
	return removeOld(o.dir)
}

// renderAll writes a profile's reports. If one file cannot be written, the others are written
// nevertheless.
func renderAll(dir, stem string, p *profile.Profile, formats []string, o report.Options) (files []string, err error) {
	var errs []error
	for _, n := range formats {
		f, _ := formatNamed(n)
		if !f.Has(p) {
			continue
		}
		name := filepath.Join(dir, stem+strings.TrimPrefix(f.Suffix, recordStem))
		if err := saveFile(name, func(w io.Writer) error { return f.Write(w, p, o) }); err != nil {
			errs = append(errs, err)
			continue
		}
		files = append(files, name)
	}
	return files, errors.Join(errs...)
}

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

// keptName names the directory for profiles below dir. The ranks of one job share it.
func (o *output) keptName(dir string, pid int) string {
	if o.rank != nil {
		return filepath.Join(dir, filepath.Base(o.dir))
	}
	return unused(filepath.Join(dir, defaultDirectory(o.program, pid)))
}

// writeElsewhere writes profiles to another directory, and the error says to which.
func (o *output) writeElsewhere(res *collect.Result, f *measureFlags, lost *unrecordedError) (files [][]string, err error) {
	for _, above := range elsewhere() {
		dir := o.keptName(above, res.Profiles[0].Meta.PID)
		root, _, err := openDirectory(dir, true)
		if err != nil {
			continue
		}
		root.Close()
		var again *unrecordedError
		if files, err = o.writeTo(dir, res, f); !errors.As(err, &again) {
			o.dir = dir
			return files, fmt.Errorf("%w: the results are in %s", lost, dir)
		}
		_ = os.Remove(dir) // removed only if it is empty
	}
	return o.keep(res, f, lost)
}

// retryEvery is the time between attempts to write profiles that are kept in memory.
var retryEvery = 2 * time.Second

// keep keeps profiles in memory that cannot be written anywhere. It tries again until they are
// written, a signal comes, or the rank's tool is gone.
func (o *output) keep(res *collect.Result, f *measureFlags, lost *unrecordedError) (files [][]string, err error) {
	remedy := "make room there"
	if errors.Is(lost, unix.EFBIG) {
		remedy = fmt.Sprintf("the limit for the size of files is too low: as root, prlimit --pid %d --fsize=unlimited lifts it", os.Getpid())
	}
	f.say(fmt.Sprintf("%v, nor is there another place for it; the results are kept in memory, and it is tried again every %s until Ctrl-C: %s", lost, retryEvery, remedy))
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	for {
		select {
		case <-signals:
			return nil, fmt.Errorf("%w: the results are lost", lost)
		case <-f.gone:
			return nil, fmt.Errorf("%w: the results are lost", lost)
		case <-time.After(retryEvery):
		}
		var again *unrecordedError
		if files, err = o.writeTo(o.dir, res, f); !errors.As(err, &again) {
			f.say("written now")
			return files, err
		}
	}
}

// catchFileSize makes writes that would exceed the limit of file size fail, instead of ending the
// process. It also raises the limit as far as possible. The launched program has its own limit
// already.
func catchFileSize() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGXFSZ)
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_FSIZE, &l) == nil && l.Cur < l.Max {
		l.Cur = l.Max
		_ = unix.Setrlimit(unix.RLIMIT_FSIZE, &l)
	}
}
