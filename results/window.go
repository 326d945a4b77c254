package results

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"ompp-attach/files"
	"ompp-attach/job"
	"ompp-attach/profile"
	"ompp-attach/report/words"
)

// Window is the time between two states of a measurement: snapshots that were kept, or its end. All
// processes of the measurement have the same numbers of snapshots.
type Window struct {
	dir      string
	from, to int

	mu           sync.Mutex
	times        map[int]time.Time // of snapshots, by number, as far as they were asked for
	begins, ends span
}

// The states of a measurement that are no snapshots.
const (
	atBegin = 0
	atEnd   = -1
)

// ErrNotThere says that a process did not run within a window.
var ErrNotThere = errors.New("the process did not run within the window")

// OpenWindow returns a window of a directory's measurement. from is the number of a snapshot, or 0
// for the begin; to is the number of a later one, or "end". ok is false if the two name no window.
func OpenWindow(dir, from, to string) (w *Window, ok bool) {
	w = &Window{dir: dir, to: atEnd, times: map[int]time.Time{}}
	var err error
	if w.from, err = strconv.Atoi(from); err != nil || w.from < 0 {
		return nil, false
	}
	if to != "end" {
		if w.to, err = strconv.Atoi(to); err != nil || w.to <= w.from {
			return nil, false
		}
	}
	return w, true
}

// String names the window in a file's name.
func (w *Window) String() string {
	if w.to == atEnd {
		return fmt.Sprintf("window.%d-end", w.from)
	}
	return fmt.Sprintf("window.%d-%d", w.from, w.to)
}

// Check refuses numbers of snapshots that no process has.
func (w *Window) Check() error {
	for _, n := range []int{w.from, w.to} {
		if _, err := w.at(n); err != nil {
			return err
		}
	}
	return nil
}

// at returns the time of a snapshot, and the zero value for the begin and the end.
func (w *Window) at(n int) (time.Time, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n == atBegin || n == atEnd || !w.times[n].IsZero() {
		return w.times[n], nil
	}
	names := files.Matching(w.dir, fmt.Sprintf("%s*.%d%s", KeptStem, n, RecordSuffix))
	if len(names) == 0 {
		return time.Time{}, fmt.Errorf("%s has no snapshot %d; there are %s", w.dir, n, keptIn(w.dir))
	}
	p, err := ReadProfile(names[0])
	if err != nil {
		return time.Time{}, err
	}
	w.times[n] = p.Meta.SnapshotAt
	return w.times[n], nil
}

// keptIn names the snapshots in a directory.
func keptIn(dir string) string {
	names := files.Matching(dir, KeptStem+".*"+RecordSuffix)
	for i := range names {
		names[i] = filepath.Base(names[i])
	}
	if len(names) == 0 {
		return "no snapshots that were kept (--every, or ompp-attach dump)"
	}
	return SomeOf(names)
}

// SomeOf lists names for a message, not all if they are many.
func SomeOf(names []string) string {
	const few = 3
	if len(names) > few {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
	}
	return strings.Join(names, ", ")
}

// Stems returns the names, without suffix, of the profiles of all processes that are no ranks. The
// directory holds a profile of each, or one of the window's snapshots.
func (w *Window) Stems() (stems []string) {
	names := files.Matching(w.dir, RecordStem+"*"+RecordSuffix)
	for _, name := range names {
		if name := filepath.Base(name); Recorded.MatchString(name) {
			stems = append(stems, strings.TrimSuffix(name, RecordSuffix))
		}
	}
	names = files.Matching(w.dir, KeptStem+"*"+RecordSuffix)
	for _, name := range names {
		if m := keptSnapshot.FindStringSubmatch(filepath.Base(name)); m != nil && (m[2] == strconv.Itoa(w.from) || m[2] == strconv.Itoa(w.to)) {
			stems = append(stems, RecordStem+m[1])
		}
	}
	stems = slices.DeleteFunc(stems, func(stem string) bool {
		_, _, rank := job.ParseName(stem + RecordSuffix)
		return rank
	})
	slices.Sort(stems)
	return slices.Compact(stems)
}

// Read returns what the process did within the window. stem is the beginning of the name of its
// profile. A process that began or ended within the window is there from its begin, or to its end.
// The error is ErrNotThere if the process did not run within the window.
func (w *Window) Read(stem string) (*profile.Profile, error) {
	later, err := w.later(stem)
	if err != nil {
		return nil, err
	}
	p := later
	if w.from != atBegin {
		earlier, err := w.state(stem, w.from)
		if errors.Is(err, fs.ErrNotExist) {
			err = w.begunWithin(later)
		}
		if err != nil {
			return nil, err
		}
		if earlier != nil {
			if p, err = profile.Window(later, earlier); err != nil {
				return nil, err
			}
			w.note(&w.begins, p.Meta.Start)
		}
	}
	if w.to != atEnd && !later.Meta.SnapshotAt.IsZero() {
		w.note(&w.ends, later.Meta.SnapshotAt)
	}
	if w.to != atEnd && !p.Meta.SnapshotAt.IsZero() {
		// The user wants no more than that, so nothing is said of how the process ended.
		p.Meta.SnapshotAt, p.Meta.Ended = time.Time{}, ""
	}
	if w.from != atBegin || w.to != atEnd {
		p.Warnings = append(p.Warnings, windowText(&p.Meta))
	}
	return p, nil
}

// windowText says that a profile is of a window. m describes what was measured in it.
func windowText(m *profile.Meta) string {
	if m.Duration > 0 {
		return fmt.Sprintf("This is what was measured in %s of a longer measurement: between snapshots (report --delta).", words.Time(float64(m.Duration)))
	}
	const nothing = "Nothing was measured between these snapshots (report --delta): "
	switch {
	case m.Off.T > 0:
		return nothing + "measurement was switched off."
	case m.Stopped.Total > 0:
		return nothing + "the program was stopped while probes were placed."
	}
	return nothing + "they are of one moment."
}

// state returns a state of a process.
func (w *Window) state(stem string, n int) (*profile.Profile, error) {
	name := stem + RecordSuffix
	if n != atEnd {
		name = KeptName(stem, n)
	}
	return ReadProfile(filepath.Join(w.dir, name))
}

// later returns the state of a process at the window's end. A process that has ended before has its
// final profile.
func (w *Window) later(stem string) (*profile.Profile, error) {
	p, err := w.state(stem, w.to)
	if err == nil || w.to == atEnd || !errors.Is(err, fs.ErrNotExist) {
		return p, err
	}
	end, failed := w.at(w.to)
	if failed != nil {
		return nil, failed
	}
	final, failed := w.state(stem, atEnd)
	switch {
	case failed != nil:
		return nil, err
	case final.Meta.Start.After(end):
		return nil, ErrNotThere
	case !final.Meta.SnapshotAt.IsZero() || final.Meta.EndedAt().After(end):
		return nil, fmt.Errorf("process %d has no snapshot %d", final.Meta.PID, w.to)
	}
	return final, nil
}

// begunWithin is for a process that has no earlier state. It returns nil if the process began after
// the window's begin, and was measured within the window.
func (w *Window) begunWithin(p *profile.Profile) error {
	begin, err := w.at(w.from)
	switch {
	case err != nil:
		return err
	case p.Meta.EndedAt().Before(begin):
		return ErrNotThere
	case p.Meta.Start.Before(begin):
		return fmt.Errorf("process %d has no snapshot %d", p.Meta.PID, w.from)
	}
	return nil
}

// Source returns the window of a rank as if it had been recorded.
func (w *Window) Source(s job.Source) job.Source {
	stem := strings.TrimSuffix(s.Name, RecordSuffix)
	s.Open = func() (io.ReadCloser, error) {
		p, err := w.Read(stem)
		if err != nil {
			return nil, err
		}
		var b bytes.Buffer
		if err := profile.Encode(&b, p); err != nil {
			return nil, err
		}
		return io.NopCloser(&b), nil
	}
	return s
}

// span is the time from the first to the last of some times.
type span struct{ first, last time.Time }

func (w *Window) note(s *span, at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s.first.IsZero() || at.Before(s.first) {
		s.first = at
	}
	if at.After(s.last) {
		s.last = at
	}
}

// Apart says how far apart the snapshots of the processes are that were read. Snapshots of one
// number are written one after the other. Apart returns "" if the distance does not matter.
func (w *Window) Apart() string {
	const little = 0.01 // of the window's length
	w.mu.Lock()
	defer w.mu.Unlock()
	begins, ends := w.begins.last.Sub(w.begins.first), w.ends.last.Sub(w.ends.first)
	long := w.ends.first.Sub(w.begins.first)
	if most := max(begins, ends); most == 0 || long > 0 && most.Seconds() <= little*long.Seconds() {
		return ""
	}
	return fmt.Sprintf("the windows of the processes are not of the same time: they begin up to %s apart, and end up to %s apart", begins.Round(time.Millisecond), ends.Round(time.Millisecond))
}
