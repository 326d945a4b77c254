package main

import (
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
	ours    bool // we have made or opened it
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
		if resultFile.MatchString(f.Name()) {
			if err := root.Remove(f.Name()); err != nil {
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
