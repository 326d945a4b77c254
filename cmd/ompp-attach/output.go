package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"ompp-attach/attribution"
	"ompp-attach/collect"
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
	replace bool // an older run's files
	program string
	rank    *collect.Rank // whose files these are; nil: the program is no rank
}

// openOutput makes the directory and proves that it can be written, before
// anything is measured. pid 0: not known yet, the directory's name follows.
func openOutput(dir, program string, pid int, overwrite bool) (*output, error) {
	o := &output{dir: dir, named: dir != "", replace: overwrite, program: program}
	if !o.named {
		if pid == 0 {
			return o, probeWritable(".")
		}
		o.dir = fmt.Sprintf("ompp-%s-%d", program, pid)
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
	return o, probeWritable(o.dir)
}

func (o *output) make() (err error) {
	if o.created, err = makeDirectory(o.dir); err != nil {
		return fmt.Errorf("cannot make the results directory: %w", err)
	}
	return nil
}

// makeDirectory makes a directory and those above it. What it makes belongs to
// the user who ran sudo; what is there keeps its owner: it may be /tmp.
func makeDirectory(dir string) (created bool, err error) {
	dir = filepath.Clean(dir)
	err = os.Mkdir(dir, 0o755)
	if above := filepath.Dir(dir); errors.Is(err, fs.ErrNotExist) && above != dir {
		if _, err := makeDirectory(above); err != nil {
			return false, err
		}
		err = os.Mkdir(dir, 0o755)
	}
	if errors.Is(err, fs.ErrExist) {
		return false, os.MkdirAll(dir, 0o755) // which fails if it is no directory
	}
	if err != nil {
		return false, err
	}
	return true, giveToUser(dir)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func probeWritable(dir string) error {
	f, err := os.CreateTemp(dir, ".ompp-attach-*")
	if err != nil {
		return fmt.Errorf("cannot write to %s: %w; give another directory with -o", dir, errors.Unwrap(err))
	}
	f.Close()
	os.Remove(f.Name())
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) == nil && st.Bavail*uint64(st.Bsize) < freeBytes {
		return fmt.Errorf("%s has less than 1 MiB of free disk space: make room, or give another directory with -o", dir)
	}
	return nil
}

// abandon removes a directory that was made for nothing.
func (o *output) abandon(err error) error {
	if o.created {
		os.Remove(o.dir)
	}
	return err
}

// write writes all files first, then the summaries.
func (o *output) write(res *collect.Result, f *measureFlags) error {
	if len(res.Profiles) == 0 {
		return o.abandon(nil)
	}
	if o.dir == "" {
		base := fmt.Sprintf("ompp-%s-%d", o.program, res.Profiles[0].Meta.PID)
		o.dir = base
		for n := 2; exists(o.dir); n++ { // an older process had the same number
			o.dir = fmt.Sprintf("%s-%d", base, n)
		}
	}
	if err := o.make(); err != nil { // also when somebody has removed it meanwhile
		return err
	}
	var errs []error
	if o.replace {
		if err := removeOld(o.dir); err != nil {
			errs = append(errs, err)
		}
	}
	stems := o.stems(res)
	files := make([][]string, len(stems))
	for i, p := range res.Profiles {
		var err error
		if files[i], err = writeProfile(o.dir, stems[i], p, f.formats, f.view.options()); err != nil {
			errs = append(errs, err)
		}
	}
	if !f.quiet {
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
	return errors.Join(errs...)
}

// stems names the profiles' files. A process that runs one program after the
// other has several profiles, and several jobs have ranks of one number: all
// ranks of the second one are numbered 2, so that their files can be told apart.
func (o *output) stems(res *collect.Result) (out []string) {
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
		for taken[free] || o.rank != nil && exists(filepath.Join(o.dir, free+recordSuffix)) {
			n++
			free = numbered(stem, n)
		}
		taken[free] = true
		out = append(out, free)
	}
	return out
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
// seem to be the new run's.
func removeOld(dir string) error {
	files, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("cannot look for older profiles: %w", err)
	}
	var errs []error
	for _, f := range files {
		if resultFile.MatchString(f.Name()) {
			if err := os.Remove(filepath.Join(dir, f.Name())); err != nil {
				errs = append(errs, fmt.Errorf("cannot remove an older profile: %w", err))
			}
		}
	}
	return errors.Join(errs...)
}

// writeProfile records a profile and renders it.
func writeProfile(dir, stem string, p *attribution.Profile, formats []string, o report.Options) (files []string, err error) {
	name := filepath.Join(dir, stem+recordSuffix)
	err = saveFile(name, func(w io.Writer) error { return attribution.Encode(w, p) })
	if err == nil {
		files = append(files, name)
	}
	more, err2 := renderAll(dir, stem, p, formats, o)
	return append(files, more...), errors.Join(err, err2)
}

// renderAll writes a profile's reports; one file's failure does not keep the
// others from being written.
func renderAll(dir, stem string, p *attribution.Profile, formats []string, o report.Options) (files []string, err error) {
	var errs []error
	for _, n := range formats {
		f, _ := report.FormatNamed(n)
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

// saveFile writes a file whole or not at all: a report that a full disk cut
// off would look like a result.
func saveFile(name string, write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return fmt.Errorf("cannot render %s: %w", name, err)
	}
	// Root may write into somebody else's directory: no name that they could
	// have put a link under, and no change of owner by name.
	tmp, err := os.CreateTemp(filepath.Dir(name), ".ompp-attach-*")
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", name, errors.Unwrap(err))
	}
	_, err = tmp.Write(b.Bytes())
	err = cmp.Or(err, tmp.Chmod(os.FileMode(0o644&^umask)))
	if uid, gid, ok := sudoUser(); ok {
		err = cmp.Or(err, tmp.Chown(uid, gid))
	}
	err = cmp.Or(err, tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), name)
	}
	if err != nil {
		os.Remove(tmp.Name())
		return fmt.Errorf("cannot write %s: %w", name, errors.Unwrap(err))
	}
	return nil
}

// umask is the user's. It can only be read by setting it, for all threads: not
// when ranks' files may be written at one time.
var umask = func() int {
	mask := unix.Umask(0)
	unix.Umask(mask)
	return mask
}()

// sudoUser is the user who ran us by sudo.
func sudoUser() (uid, gid int, ok bool) {
	uid, err1 := strconv.Atoi(os.Getenv("SUDO_UID"))
	gid, err2 := strconv.Atoi(os.Getenv("SUDO_GID"))
	return uid, gid, err1 == nil && err2 == nil && os.Geteuid() == 0
}

// giveToUser hands a directory that we have made to the user who ran sudo. By
// its file: whoever owns the directory above may have put a link in its place.
func giveToUser(dir string) error {
	uid, gid, ok := sudoUser()
	if !ok {
		return nil
	}
	f, err := os.OpenFile(dir, unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err == nil {
		defer f.Close()
		err = f.Chown(uid, gid)
	}
	if err != nil {
		return fmt.Errorf("cannot give %s to the user who ran sudo: %w", dir, err)
	}
	return nil
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
