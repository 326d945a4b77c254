package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"ompp-attach/collect"
	"ompp-attach/collect/launch"
	"ompp-attach/files"
)

const (
	recordStem   = "profile"
	recordSuffix = ".json.gz"
	recordName   = recordStem + recordSuffix
	// freeBytes is the least free space that a results directory must have before measuring.
	// Profiles of typical programs take some ten kilobytes.
	freeBytes = 1 << 20
)

// output is the directory for the results of one measurement.
type output struct {
	dir     string
	created bool
	named   bool // the user has named it
	ours    bool // we have made or opened it before
	replace bool // --overwrite: files of an older run are replaced
	program string
	rank    *launch.Rank // whose files are written; nil: the program is no rank

	mark    *mark
	cleared bool              // files of an older run were removed
	shots   map[string]string // files that snapshots have written: of which process, if that is over
	kept    map[string]int    // by stem: the number of the last snapshot that is kept
}

// openOutput makes the directory and checks that it can be written to, before anything is measured.
// If pid is 0 the PID is not known yet, and the directory is named later.
func openOutput(dir, program string, pid int, overwrite bool) (*output, error) {
	o := &output{dir: dir, named: dir != "", replace: overwrite, program: program}
	if !o.named {
		if pid == 0 {
			return o, probeWritable(".")
		}
		o.dir = defaultDirectory(program, pid)
	}
	if _, err := os.Stat(filepath.Join(o.dir, recordName)); err == nil && !overwrite {
		return nil, fmt.Errorf("%s already holds a profile: give another directory with -o, or --overwrite to replace it", o.dir)
	}
	if old, _ := filepath.Glob(filepath.Join(o.dir, "profile.*"+recordSuffix)); len(old) > 0 && !overwrite {
		return nil, fmt.Errorf("%s already holds profiles: give another directory with -o, or --overwrite to replace them", o.dir)
	}
	if err := o.make(); err != nil {
		return nil, err
	}
	if err := probeWritable(o.dir); err != nil {
		return nil, o.abandon(err)
	}
	if err := inTheWay(o.dir); err != nil {
		return nil, o.abandon(err)
	}
	o.mark = newMark(o.dir)
	return o, nil
}

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
func (o *output) make() error {
	root, made, err := openDirectory(o.dir, !o.named && !o.ours)
	if err != nil {
		if errors.Is(err, files.ErrUnsafe) { // it says what to do
			return fmt.Errorf("cannot make the results directory: %w", err)
		}
		return fmt.Errorf("cannot make the results directory %s: %w; give another directory with -o", o.dir, reason(err))
	}
	o.created, o.ours = made, true
	return root.Close()
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// abandon removes the directory if it was made for nothing, and returns err.
func (o *output) abandon(err error) error {
	o.mark.remove()
	o.mark = nil
	if o.created {
		os.Remove(o.dir)
	}
	return err
}

// stems returns the names of the profiles' files, without suffix. A process that runs several
// programs one after the other has several profiles. Several jobs may have ranks of one number: all
// ranks of the second job get the number 2, so that the jobs' files can be told apart.
func (o *output) stems(res *collect.Result, dir string) (out []string) {
	taken, jobs := map[string]bool{}, map[string]int{}
	for _, p := range res.Profiles {
		stem, n := recordStem, 1
		if isRank(p) {
			stem += ".rank" + strconv.Itoa(p.Meta.MPI.Rank)
			if jobs[p.Meta.MPI.Job] == 0 {
				jobs[p.Meta.MPI.Job] = len(jobs) + 1
			}
			n = jobs[p.Meta.MPI.Job]
		} else {
			if o.rank != nil {
				stem += ".rank" + strconv.Itoa(o.rank.Rank)
			}
			if o.rank != nil || p != res.First {
				stem += ".pid" + strconv.Itoa(p.Meta.PID)
			}
		}
		free := numbered(stem, n)
		for taken[free] || o.rank != nil && o.others(dir, free+recordSuffix) {
			n++
			free = numbered(stem, n)
		}
		taken[free] = true
		out = append(out, free)
	}
	return out
}

// others tells whether a file exists that is not one of our own snapshots. The ranks of a job may
// write to one directory.
func (o *output) others(dir, name string) bool {
	_, own := o.shots[name]
	return !(own && dir == o.dir) && exists(filepath.Join(dir, name))
}

func numbered(stem string, n int) string {
	if n == 1 {
		return stem
	}
	return stem + "-" + strconv.Itoa(n)
}

// resultFile matches the names of all files that we write, in every format.
var resultFile = func() *regexp.Regexp {
	ends := []string{regexp.QuoteMeta(recordSuffix)}
	for _, f := range formats {
		ends = append(ends, regexp.QuoteMeta(strings.TrimPrefix(f.Suffix, recordStem)))
	}
	var ofJobs []string
	for _, f := range jobFormats {
		for _, file := range f.Files {
			ofJobs = append(ofJobs, regexp.QuoteMeta(file.Name))
		}
	}
	return regexp.MustCompile("^(" + recordStem + `(\.rank\d+)?(\.pid\d+)?(-\d+)?(` + strings.Join(ends, "|") + ")|" + strings.Join(ofJobs, "|") + "|" + keptShot.String()[1:len(keptShot.String())-1] + ")$")
}()

// removeOld removes the files of an older run: its profiles would seem to belong to the new run. It
// also removes files that killed tools have left.
func removeOld(dir string) error {
	root, _, err := openDirectory(dir, false)
	if err != nil {
		return fmt.Errorf("cannot look for older profiles: %w", err)
	}
	defer root.Close()
	names, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return fmt.Errorf("cannot look for older profiles: %w", err)
	}
	var errs []error
	for _, f := range names {
		if resultFile.MatchString(f.Name()) || leftOver(f) {
			if err := root.Remove(f.Name()); err != nil {
				errs = append(errs, fmt.Errorf("cannot remove an older profile: %w", err))
			}
		}
	}
	removeDeadMarks(root, dir)
	return errors.Join(errs...)
}

// leftOver tells whether a file was being written when its writer was killed.
func leftOver(f fs.DirEntry) bool {
	st, err := f.Info()
	return err == nil && st.Mode().IsRegular() && strings.HasPrefix(f.Name(), files.Prefix) && time.Since(st.ModTime()) > staleAfter
}

func checkFormats(names []string) error {
	for _, n := range names {
		if _, ok := formatNamed(n); !ok {
			if _, ok := jobFormatNamed(n); ok {
				return fmt.Errorf("format %q is of the report of a whole MPI job; of a process or rank there are %s", n, formatNames())
			}
			return fmt.Errorf("unknown format %q; there are %s", n, formatNames())
		}
	}
	if len(names) == 0 || slices.Contains(names, "") {
		return fmt.Errorf("--format needs one or more of %s", formatNames())
	}
	return nil
}
