package results

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"ompp-attach/collect/launch"
	"ompp-attach/files"
)

// The names of recorded profiles: RecordStem begins each, RecordSuffix ends it, and RecordName is
// that of a process that is no rank.
const (
	RecordStem   = "profile"
	RecordSuffix = ".json.gz"
	RecordName   = RecordStem + RecordSuffix
	// freeBytes is the least free space that a results directory must have before measuring.
	// Profiles of typical programs take some ten kilobytes.
	freeBytes = 1 << 20
)

// Directory is the directory for the results of one measurement.
type Directory struct {
	Dir     string
	created bool
	named   bool // the user has named it
	output  bool // OutputFile has made the file
	ours    bool // we have made or opened it before
	replace bool // --overwrite: files of an older run are replaced
	program string
	rank    *launch.Rank // whose files are written; nil: the program is no rank

	mu      sync.Mutex // guards Dir until it is chosen, created, ours, cleared, and streamed
	mark    *mark
	cleared bool            // files of an older run were removed
	streams map[string]bool // timelines that are written meanwhile, by their names
	// Files that snapshots have written: of which process, if that is over.
	shots map[string]string
}

// Open makes the directory and checks that it can be written to, before anything is measured.
// If pid is 0 the PID is not known yet, and the directory is named later.
func Open(dir, program string, pid int, overwrite bool) (*Directory, error) {
	o := &Directory{Dir: dir, named: dir != "", replace: overwrite, program: program}
	if !o.named {
		if pid == 0 {
			return o, ProveWritable(".")
		}
		o.Dir = defaultDirectory(program, pid)
	}
	if err := inUse(o.Dir, nil); err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(o.Dir, RecordName)); err == nil && !overwrite {
		return nil, fmt.Errorf("%s already holds a profile: give another directory with -o, or --overwrite to replace it", o.Dir)
	}
	if old := files.Matching(o.Dir, "profile.*"+RecordSuffix); len(old) > 0 && !overwrite {
		return nil, fmt.Errorf("%s already holds profiles: give another directory with -o, or --overwrite to replace them", o.Dir)
	}
	if old := files.Matching(o.Dir, RecordStem+"*"+TimelineSuffix); len(old) > 0 && !overwrite {
		return nil, fmt.Errorf("%s already holds timelines: give another directory with -o, or --overwrite to replace them", o.Dir)
	}
	if err := o.make(); err != nil {
		return nil, err
	}
	if err := ProveWritable(o.Dir); err != nil {
		return nil, o.Abandon(err)
	}
	if err := inTheWay(o.Dir); err != nil {
		return nil, o.Abandon(err)
	}
	o.mark = newMark(o.Dir, "")
	// Another measurement may have begun meanwhile. Then at least one of the two sees the other.
	if err := inUse(o.Dir, o.mark); err != nil {
		return nil, o.Abandon(err)
	}
	return o, nil
}

// Begins notes in the directory that programs are measured.
func (o *Directory) Begins(pids ...int) { o.mark.begins(pids...) }

// First tells whether the results are those of a job's first rank, or of no rank.
func (o *Directory) First() bool { return o.rank == nil || o.rank.Rank == 0 }

// Later returns a directory in which nothing is written yet. It is named, and made, when something
// is.
func Later(program string) *Directory { return &Directory{program: program} }

// inTheWay refuses a directory in which a directory has the name of a results file.
func inTheWay(dir string) error {
	names, _ := os.ReadDir(dir)
	for _, f := range names {
		if f.IsDir() && resultFile.MatchString(f.Name()) {
			return fmt.Errorf("%s is a directory, where a file is to be written: remove it, or give another directory with -o", filepath.Join(dir, f.Name()))
		}
	}
	return nil
}

// make makes the directory. If the user did not name it, others can foresee its name. Then it must
// not be a link or belong to another user.
func (o *Directory) make() error {
	root, made, err := OpenDirectory(o.Dir, !o.named && !o.ours)
	if err != nil {
		if errors.Is(err, files.ErrUnsafe) { // it says what to do
			return fmt.Errorf("cannot make the results directory: %w", err)
		}
		return fmt.Errorf("cannot make the results directory %s: %w; give another directory with -o", o.Dir, Reason(err))
	}
	o.created, o.ours = o.created || made, true
	return root.Close()
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// Abandon removes the directory if it was made for nothing, and returns err.
func (o *Directory) Abandon(err error) error {
	o.mark.remove()
	o.mark = nil
	if o.created {
		os.Remove(o.Dir)
	}
	return err
}
