package results

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"ompp-attach/collect"
	"ompp-attach/job"
	"ompp-attach/profile"
	"ompp-attach/report"
)

// ranksLines tell, in one line for each job, which ranks' profiles were written.
func (o *Directory) ranksLines(profiles []*profile.Profile) (lines []string) {
	jobs := map[string][]*profile.Profile{}
	for _, p := range profiles {
		if isRank(p) && !o.alone(p) {
			jobs[p.Meta.MPI.Job] = append(jobs[p.Meta.MPI.Job], p)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(jobs)) {
		lines = append(lines, o.ranksLine(jobs[name]))
	}
	return lines
}

// alone tells whether a process has a summary of its own: it is no rank, or the only rank of its
// job. Where the launcher starts the tool, no process has one.
func (o *Directory) alone(p *profile.Profile) bool {
	return o.rank == nil && (!isRank(p) || p.Meta.MPI.Size == 1)
}

func (o *Directory) ranksLine(profiles []*profile.Profile) string {
	var ranks []int
	var longest int64
	size := 0
	for _, p := range profiles {
		ranks = append(ranks, p.Meta.MPI.Rank)
		longest = max(longest, p.Meta.Duration)
		size = max(size, p.Meta.MPI.Size)
	}
	slices.Sort(ranks)
	ranks = slices.Compact(ranks)
	files := filepath.Join(o.Dir, RecordStem+".rank*")
	took := time.Duration(longest).Round(10 * time.Millisecond)
	if o.rank != nil { // each rank's tool prints for itself, and one prints for all
		return fmt.Sprintf("measured for %s, of %d ranks: %s", took, size, files)
	}
	noun := "ranks"
	if len(ranks) == 1 {
		noun = "rank"
	}
	line := fmt.Sprintf("%s %s of %d measured, %s: %s", noun, strings.Join(job.Spans(ranks), ","), size, took, files)
	if size > len(ranks) {
		line += fmt.Sprintf("; the others ran on other nodes or were not measured: start ompp-attach by the launcher, mpirun -n %d ompp-attach run -o %s -- PROGRAM", size, o.Dir)
	}
	return line
}

// Wanted is what the user wants of the results.
type Wanted struct {
	Formats []string // of reports
	View    report.Options
	Quiet   bool                  // no summary
	Summary io.Writer             // for the summaries
	Say     func(sentence string) // tells the user at once
	Gone    <-chan struct{}       // closed when nobody waits for the results any more; nil: never
}

// Write writes all files first, and then prints the summaries. A profile that cannot be written to
// its directory is written elsewhere. If that is impossible too, it is kept in memory until it can
// be written.
func (o *Directory) Write(res *collect.Result, w *Wanted) error {
	o.dropTimelines(res)
	if len(res.Profiles) == 0 {
		return o.Abandon(nil)
	}
	o.tellSpawned(res.Profiles)
	o.mark.ends(os.Getpid())
	defer func() { o.mark.remove() }()
	catchFileSize()
	raiseFileSize()
	o.mu.Lock()
	o.choose(res.Profiles[0].Meta.PID)
	o.mu.Unlock()
	files, err := o.writeTo(o.Dir, res, w)
	var lost *unrecordedError
	if errors.As(err, &lost) {
		files, err = o.writeElsewhere(res, w, lost)
	}
	var errs []error
	if files != nil && !w.Quiet {
		for i, p := range res.Profiles {
			if !o.alone(p) {
				continue
			}
			if err := report.Summary(w.Summary, p, files[i], w.View); err != nil {
				errs = append(errs, err)
			}
		}
		for _, line := range o.ranksLines(res.Profiles) {
			w.Say(line)
		}
		for _, of := range []func(*profile.Profile, report.Options) string{report.Untold, report.NotBounded} {
			if text := o.ofRank(res.Profiles, w.View, of); text != "" {
				w.Say(text)
			}
		}
	}
	return errors.Join(append(errs, err)...)
}

// ofRank says what a rank's summary would say, such as that times cannot be told: of the first rank
// of which there is something to say. It returns "" if there is none. A process with a summary of
// its own is left out: its summary says so. A rank's own tool knows that rank only, and prints for
// rank 0 only.
func (o *Directory) ofRank(profiles []*profile.Profile, view report.Options, of func(*profile.Profile, report.Options) string) string {
	for _, p := range profiles {
		if !isRank(p) || o.alone(p) {
			continue
		}
		if text := of(p, view); text != "" {
			return text
		}
	}
	return ""
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
func (o *Directory) writeTo(dir string, res *collect.Result, w *Wanted) (files [][]string, err error) {
	if dir == o.Dir {
		if err := o.ready(0); err != nil { // somebody may have removed the directory meanwhile
			return nil, &unrecordedError{dir, err}
		}
	}
	stems := o.stems(res, dir)
	files = make([][]string, len(stems))
	var errs []error
	var lost error
	for i, p := range res.Profiles {
		name := filepath.Join(dir, stems[i]+RecordSuffix)
		if err := Save(name, func(to io.Writer) error { return profile.Encode(to, p) }); err != nil {
			lost = cmp.Or(lost, err)
			continue
		}
		delete(o.shots, filepath.Base(name))
		formats, view := formatsOf(p, w.Formats), w.View
		var spans []string
		if t := res.Timelines[p]; t != nil {
			name, err := o.writeTimeline(dir, stems[i], t)
			if err == nil {
				spans = []string{name}
			}
			if err == nil && DrawsWhen(formats) {
				view, err = WithTimeline(view, name, drawable(p))
			}
			if err != nil {
				errs = append(errs, err)
			}
		}
		more, err := RenderAll(dir, stems[i], p, formats, view)
		files[i] = slices.Concat([]string{name}, more, spans)
		if err != nil {
			errs = append(errs, fmt.Errorf("%w; `ompp-attach report %s` writes it again", err, dir))
		}
	}
	if lost != nil {
		return files, &unrecordedError{dir, lost}
	}
	if dir == o.Dir {
		o.removeSnapshots()
	}
	return files, errors.Join(errs...)
}

// ready names the directory by a process if it has no name yet, and makes it, as prepare does.
// Several goroutines may call ready: timelines and snapshots are written while processes run.
func (o *Directory) ready(pid int) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if pid != 0 {
		o.choose(pid)
	}
	return o.prepare()
}

// prepare makes the directory, and removes the files of an older run if they are to be replaced.
func (o *Directory) prepare() error {
	if err := o.make(); err != nil {
		return err
	}
	if !o.replace || o.cleared {
		return nil
	}
	o.cleared = true
	return removeOld(o.Dir)
}

// catchFileSize makes writes that would exceed the limit of file size fail, instead of ending the
// process.
func catchFileSize() { signal.Notify(make(chan os.Signal, 1), syscall.SIGXFSZ) }

// raiseFileSize raises the limit of file size as far as possible. The launched program has its own
// limit already.
func raiseFileSize() {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_FSIZE, &l) == nil && l.Cur < l.Max {
		l.Cur = l.Max
		_ = unix.Setrlimit(unix.RLIMIT_FSIZE, &l)
	}
}
