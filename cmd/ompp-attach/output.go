package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"ompp-attach/attribution"
	"ompp-attach/collect"
	"ompp-attach/report"
)

const (
	recordSuffix = ".json.gz"
	recordName   = "profile" + recordSuffix
	// freeBytes is the least room that a results directory must have before
	// measuring: profiles of typical programs take some ten kilobytes.
	freeBytes = 1 << 20
)

// output is the directory that results go to.
type output struct {
	dir     string
	created bool
	named   bool // by the user
	program string
}

// openOutput makes the directory and proves that it can be written, before
// anything is measured. pid 0: not known yet, the directory's name follows.
func openOutput(dir, program string, pid int, overwrite bool) (*output, error) {
	o := &output{dir: dir, named: dir != "", program: program}
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

func (o *output) make() error {
	if _, err := os.Stat(o.dir); errors.Is(err, os.ErrNotExist) {
		o.created = true
	}
	if err := os.MkdirAll(o.dir, 0o755); err != nil {
		return fmt.Errorf("cannot make the results directory: %w", err)
	}
	return giveToUser(o.dir)
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

// write writes the recorded profiles first, then the reports, then the summary.
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
		if err := o.make(); err != nil {
			return err
		}
	}
	var errs []error
	for _, p := range res.Profiles {
		stem := "profile"
		if p != res.First {
			stem = "profile.pid" + strconv.Itoa(p.Meta.PID)
		}
		files, err := writeProfile(o.dir, stem, p, f.formats)
		if err != nil {
			errs = append(errs, err)
		}
		if !f.quiet {
			if err := report.Summary(os.Stderr, p, files); err != nil {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

// writeProfile records a profile and renders it.
func writeProfile(dir, stem string, p *attribution.Profile, formats []string) (files []string, err error) {
	name := filepath.Join(dir, stem+recordSuffix)
	err = saveFile(name, func(w io.Writer) error { return attribution.Encode(w, p) })
	if err == nil {
		files = append(files, name)
	}
	more, err2 := renderAll(dir, stem, p, formats)
	return append(files, more...), errors.Join(err, err2)
}

// renderAll writes a profile's reports; one file's failure does not keep the
// others from being written.
func renderAll(dir, stem string, p *attribution.Profile, formats []string) (files []string, err error) {
	var errs []error
	for _, n := range formats {
		f, _ := report.FormatNamed(n)
		name := filepath.Join(dir, stem+strings.TrimPrefix(f.Suffix, "profile"))
		if err := saveFile(name, func(w io.Writer) error { return f.Write(w, p) }); err != nil {
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
	tmp := name + ".tmp"
	err := os.WriteFile(tmp, b.Bytes(), 0o644)
	if err == nil {
		err = os.Rename(tmp, name)
	}
	if err != nil {
		os.Remove(tmp)
		return fmt.Errorf("cannot write %s: %w", name, err)
	}
	return giveToUser(name)
}

// giveToUser hands a file to the user who ran sudo.
func giveToUser(name string) error {
	uid, err1 := strconv.Atoi(os.Getenv("SUDO_UID"))
	gid, err2 := strconv.Atoi(os.Getenv("SUDO_GID"))
	if err1 != nil || err2 != nil || os.Geteuid() != 0 {
		return nil
	}
	if err := os.Lchown(name, uid, gid); err != nil {
		return fmt.Errorf("cannot give %s to the user who ran sudo: %w", name, err)
	}
	return nil
}

func checkFormats(names []string) error {
	for _, n := range names {
		if _, ok := report.FormatNamed(n); !ok {
			return fmt.Errorf("unknown format %q; there are %s", n, formatNames())
		}
	}
	if len(names) == 0 || slices.Contains(names, "") {
		return fmt.Errorf("--format needs one or more of %s", formatNames())
	}
	return nil
}
