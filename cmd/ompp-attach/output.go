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
	"ompp-attach/files"
	"ompp-attach/report"
)

const (
	recordStem   = "profile"
	recordSuffix = ".json.gz"
	recordName   = recordStem + recordSuffix
	// freeBytes is the least room that a results directory must have before
	// measuring: profiles of typical programs take some ten kilobytes.
	freeBytes = 1 << 20
)

// output is the directory that results go to.
type output struct {
	dir     string
	created bool
	named   bool // by the user
	ours    bool // we have made or opened it
	replace bool // an older run's files
	program string
	rank    *collect.Rank // whose files these are; nil: the program is no rank

	mark    *mark
	cleared bool              // an older run's files are gone
	shots   map[string]string // files that snapshots have written: of which process, if that is over
}

// openOutput makes the directory and proves that it can be written, before
// anything is measured. pid 0: not known yet, the directory's name follows.
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

// inTheWay refuses what no file can take the place of.
func inTheWay(dir string) error {
	names, _ := os.ReadDir(dir)
	for _, f := range names {
		if f.IsDir() && resultFile.MatchString(f.Name()) {
			return fmt.Errorf("%s is a directory, where a file is to be written: remove it, or give another directory with -o", filepath.Join(dir, f.Name()))
		}
	}
	return nil
}

// make makes the directory. One that was not named by the user has a name that
// others can foresee, so it must not be theirs, nor a link.
func (o *output) make() error {
	root, made, err := openDirectory(o.dir, !o.named && !o.ours)
	if err != nil {
		return fmt.Errorf("cannot make the results directory: %w", err)
	}
	o.created, o.ours = made, true
	return root.Close()
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// abandon removes a directory that was made for nothing.
func (o *output) abandon(err error) error {
	o.mark.remove()
	o.mark = nil
	if o.created {
		os.Remove(o.dir)
	}
	return err
}

// stems names the profiles' files. A process that runs one program after the
// other has several profiles, and several jobs have ranks of one number: all
// ranks of the second one are numbered 2, so that their files can be told apart.
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

// others tells whether a file is there that is none of our own snapshots: a job's ranks may
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

// resultFile matches the names of what we write, in every format.
var resultFile = func() *regexp.Regexp {
	ends := []string{regexp.QuoteMeta(recordSuffix)}
	for _, f := range report.Formats {
		ends = append(ends, regexp.QuoteMeta(strings.TrimPrefix(f.Suffix, recordStem)))
	}
	var ofJobs []string
	for _, f := range report.JobFormats {
		for _, file := range f.Files {
			ofJobs = append(ofJobs, regexp.QuoteMeta(file.Name))
		}
	}
	return regexp.MustCompile("^(" + recordStem + `(\.rank\d+)?(\.pid\d+)?(-\d+)?(` + strings.Join(ends, "|") + ")|" + strings.Join(ofJobs, "|") + ")$")
}()

// removeOld removes an older run's files: one of its processes' profiles would
// seem to be the new run's. Tools that were killed have left others.
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

// leftOver tells marks of jobs that are over, and files that were being written
// when their writer was killed.
func leftOver(f fs.DirEntry) bool {
	st, err := f.Info()
	return err == nil && st.Mode().IsRegular() && strings.HasPrefix(f.Name(), files.Prefix) && time.Since(st.ModTime()) > staleAfter
}

func checkFormats(names []string) error {
	for _, n := range names {
		if _, ok := report.FormatNamed(n); !ok {
			if _, ok := report.JobFormatNamed(n); ok {
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
