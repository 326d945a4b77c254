package results

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"ompp-attach/files"
	"ompp-attach/timeline"
)

// TimelineSuffix ends the name of a timeline, which lies beside its profile.
const TimelineSuffix = ".timeline"

// StreamedTimeline makes the file of a process's timeline that is written while the process is
// measured. The file is readable at any time, also if the tool is killed.
func (o *Directory) StreamedTimeline(pid int) (io.WriteCloser, error) {
	o.choose(pid)
	if err := o.make(); err != nil {
		return nil, err
	}
	root, _, err := OpenDirectory(o.Dir, false)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	name := streamedName(pid)
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, os.FileMode(0o644&^umask))
	if err != nil {
		return nil, fmt.Errorf("cannot make %s: %w", filepath.Join(o.Dir, name), Reason(err))
	}
	if uid, gid, ok := sudoUser(); ok {
		_ = f.Chown(uid, gid)
	}
	return f, nil
}

func streamedName(pid int) string { return fmt.Sprintf("%s.pid%d%s", RecordStem, pid, TimelineSuffix) }

// writeTimeline writes the timeline of the profile with that stem. A file that was written while
// the process was measured gets its name now.
func writeTimeline(dir, stem string, pid int, t *timeline.Recorder) (name string, err error) {
	name = filepath.Join(dir, stem+TimelineSuffix)
	if !t.Streams() {
		return name, Stream(name, t.Save)
	}
	root, _, err := OpenDirectory(dir, false)
	if err != nil {
		return "", err
	}
	defer root.Close()
	if err := root.Rename(streamedName(pid), stem+TimelineSuffix); err != nil {
		return "", fmt.Errorf("cannot rename the timeline to %s: %w", name, Reason(err))
	}
	return name, nil
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
