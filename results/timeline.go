package results

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"

	"ompp-attach/collect"
	"ompp-attach/files"
	"ompp-attach/timeline"
)

// TimelineSuffix ends the name of a timeline, which lies beside its profile.
const TimelineSuffix = ".timeline"

// StreamedTimeline makes the file of a process's timeline that is written while the process is
// measured. The file is readable at any time, also if the tool is killed.
func (o *Directory) StreamedTimeline(pid int) (io.WriteCloser, error) {
	catchFileSize()
	// What an older run has left goes first: later this file would go with it.
	if err := o.ready(pid); err != nil {
		return nil, err
	}
	root, _, err := OpenDirectory(o.Dir, false)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	room := setAside(root)
	// A process that executes another program has a file for each of them.
	var f *os.File
	name := ""
	for n := 1; n == 1 || errors.Is(err, fs.ErrExist) && n <= mostPrograms; n++ {
		name = numbered(RecordStem+".pid"+strconv.Itoa(pid), n) + TimelineSuffix
		f, err = root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, os.FileMode(0o644&^umask))
	}
	if err != nil {
		room.free()
		return nil, fmt.Errorf("cannot make %s: %w", filepath.Join(o.Dir, name), Reason(err))
	}
	if uid, gid, ok := sudoUser(); ok {
		_ = f.Chown(uid, gid)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.streams == nil {
		o.streams = map[string]bool{}
	}
	o.streams[name] = true
	return &streamed{f, room}, nil
}

// streamed is the file of a timeline that is written while the process is measured. The room is for
// what is written at the end, which matters more: the profile and its reports.
type streamed struct {
	*os.File
	room *room
}

// Write implements io.Writer. When the disk is full, the room is freed.
func (f *streamed) Write(b []byte) (int, error) {
	n, err := f.File.Write(b)
	if err != nil {
		f.room.free()
	}
	return n, err
}

// Close closes the file, and frees the room.
func (f *streamed) Close() error {
	f.room.free()
	return f.File.Close()
}

// room is disk space that is set aside: a file without a name. It goes with the process.
type room struct {
	once sync.Once
	fd   int
}

// setAside sets room aside in a directory; nil: the file system cannot.
func setAside(root *os.Root) *room {
	dir, err := root.Open(".")
	if err != nil {
		return nil
	}
	defer dir.Close()
	fd, err := unix.Openat(int(dir.Fd()), ".", unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil
	}
	r := &room{fd: fd}
	if unix.Fallocate(fd, 0, 0, freeBytes) != nil {
		r.free()
		return nil
	}
	return r
}

// free gives the room back.
func (r *room) free() {
	if r != nil {
		r.once.Do(func() { _ = unix.Close(r.fd) })
	}
}

// dropTimelines removes the timelines of processes that turned out to have no profile. Without a
// profile, a timeline shows nothing that the user asked for.
func (o *Directory) dropTimelines(res *collect.Result) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, t := range res.Timelines {
		if f, ok := t.Output().(interface{ Name() string }); ok {
			delete(o.streams, filepath.Base(f.Name()))
		}
	}
	removeFiles(o.Dir, slices.Collect(maps.Keys(o.streams)))
	o.streams = nil
}

// mostPrograms bounds the programs of one process that have a timeline written.
const mostPrograms = 1000

// writeTimeline writes the timeline of the profile with that stem. A file that was written while
// the process was measured gets its name now.
func (o *Directory) writeTimeline(dir, stem string, t *timeline.Recorder) (name string, err error) {
	name = filepath.Join(dir, stem+TimelineSuffix)
	if !t.Streams() {
		return name, Stream(name, t.Save)
	}
	file, ok := t.Output().(interface{ Name() string })
	if !ok {
		return "", fmt.Errorf("the timeline %s has no file", name)
	}
	was := filepath.Base(file.Name())
	if dir != o.Dir { // where the profile had no place
		return "", fmt.Errorf("the timeline stays in %s", filepath.Join(o.Dir, was))
	}
	root, _, err := OpenDirectory(dir, false)
	if err != nil {
		return "", err
	}
	defer root.Close()
	if err := root.Rename(was, stem+TimelineSuffix); err != nil {
		return "", fmt.Errorf("cannot rename %s to %s: %w", filepath.Join(dir, was), stem+TimelineSuffix, linkReason(err))
	}
	if err := t.Lacks(); err != nil {
		return "", fmt.Errorf("the timeline %s is not whole: %w", name, Reason(err))
	}
	return name, nil
}

// linkReason is Reason for a renaming.
func linkReason(err error) error {
	var le *os.LinkError
	if errors.As(err, &le) {
		return le.Err
	}
	return err
}

// OpenTimeline opens a timeline. The caller closes the file behind the last read. The error says
// what is wrong with the file.
func OpenTimeline(name string) (*timeline.File, io.Closer, error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, nil, err
	}
	t, err := timeline.Read(f, f.Info().Size())
	if err != nil {
		_ = f.Close()
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	return t, f, nil
}

// OpenTimelines opens the timelines of a directory. rank -1 stands for all. warn is told of parts
// that cannot be read. They are left out if there are others. done closes all. The error says in
// one sentence why there is none.
func OpenTimelines(dir string, rank int, warn func(format string, a ...any)) (timelines []*timeline.File, done func(), err error) {
	var open []io.Closer
	done = func() {
		for _, c := range open {
			_ = c.Close()
		}
	}
	var errs []error
	names := files.Matching(dir, RecordStem+"*"+TimelineSuffix)
	for _, name := range names {
		t, c, err := OpenTimeline(name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		open = append(open, c)
		if rank >= 0 && t.Rank() != rank {
			continue
		}
		timelines = append(timelines, t)
	}
	slices.SortStableFunc(timelines, func(a, b *timeline.File) int { return a.Rank() - b.Rank() })
	switch {
	case len(names) == 0:
		return nil, done, fmt.Errorf("%s holds no timeline (%s*%s): measure with --timeline last:30s", dir, RecordStem, TimelineSuffix)
	case len(timelines) == 0 && len(errs) == 0:
		return nil, done, fmt.Errorf("%s holds no timeline of rank %d", dir, rank)
	case len(timelines) == 0:
		return nil, done, errors.Join(errs...)
	}
	for _, err := range errs {
		warn("%v", err)
	}
	return timelines, done, nil
}
