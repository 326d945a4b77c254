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

	"ompp-attach/job"
	"ompp-attach/profile"
	"ompp-attach/results"
)

// window names two states of a measurement: the numbers of snapshots, 0 for its begin, and lastShot
// for the final profile.
type window struct{ from, to int }

// lastShot stands for the final profile.
const lastShot = -1

// parseWindow reads the value of --delta, as in `2,5` or `2,end`. As in `--delta 2 5 DIR`, the
// second number may be an argument.
func parseWindow(text string, args []string) (w window, dirs []string, err error) {
	usage := &exitError{exitUsage, fmt.Errorf("--delta %s: give the numbers of two snapshots, the earlier one first, as in `report --delta 2 5 DIR`; 0 is the begin, and end the final profile", text)}
	from, to, both := strings.Cut(text, ",")
	if !both {
		if len(args) == 0 {
			return w, nil, usage
		}
		to, args = args[0], args[1:]
	}
	if w.from, err = strconv.Atoi(from); err != nil || w.from < 0 {
		return w, nil, usage
	}
	if to == "end" {
		w.to = lastShot
	} else if w.to, err = strconv.Atoi(to); err != nil || w.to <= w.from {
		return w, nil, usage
	}
	return w, args, nil
}

// String names the window in a file's name.
func (w window) String() string {
	if w.to == lastShot {
		return fmt.Sprintf("window.%d-end", w.from)
	}
	return fmt.Sprintf("window.%d-%d", w.from, w.to)
}

// read returns what was measured within the window, of the profile with that stem.
func (w window) read(dir, stem string) (*profile.Profile, error) {
	one := func(n int) (*profile.Profile, error) {
		name := filepath.Join(dir, stem+results.RecordSuffix)
		if n != lastShot {
			name = filepath.Join(dir, results.KeptName(stem, n))
		}
		p, err := results.ReadProfile(name)
		if errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("%w; there are %s", err, keptIn(dir))
		}
		return p, err
	}
	later, err := one(w.to)
	if err != nil || w.from == 0 {
		return later, err
	}
	earlier, err := one(w.from)
	if err != nil {
		return nil, err
	}
	p, err := profile.Window(later, earlier)
	if err != nil {
		return nil, err
	}
	p.Warnings = append(p.Warnings, fmt.Sprintf("This is what was measured in %.3f s of a longer measurement: between snapshots (report --delta).", float64(p.Meta.Duration)/1e9))
	return p, nil
}

// keptIn names the snapshots in a directory.
func keptIn(dir string) string {
	names, _ := filepath.Glob(filepath.Join(dir, results.KeptStem+".*"+results.RecordSuffix))
	for i := range names {
		names[i] = filepath.Base(names[i])
	}
	if len(names) == 0 {
		return "no snapshots that were kept (--every, or ompp-attach dump)"
	}
	return someOf(names)
}

// source returns the window of a rank as if it had been recorded.
func (w window) source(dir string, s job.Source) job.Source {
	stem := strings.TrimSuffix(s.Name, results.RecordSuffix)
	s.Open = func() (io.ReadCloser, error) {
		p, err := w.read(dir, stem)
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

// emptyOfProfiles refuses a directory that has the profile of a measurement: a window would replace
// the profile, or its reports.
func emptyOfProfiles(dir string) error {
	if dir == "" || dir == "-" {
		return nil
	}
	if found, _ := filepath.Glob(filepath.Join(dir, results.RecordStem+"*"+results.RecordSuffix)); len(found) > 0 {
		return &exitError{exitUsage, fmt.Errorf("%s has the profile of a measurement, which a window must not replace: give -o another directory", dir)}
	}
	return nil
}

// reportJobWindow reports a job's window. The job's directory keeps the reports of the whole job.
func reportJobWindow(dir string, ranks []job.Source, others []string, f *reportFlags) error {
	const text = "text"
	if f.dir == "" {
		if len(f.formats) == 0 {
			f.formats = []string{text}
		}
		if slices.ContainsFunc(f.formats, func(format string) bool { return format != text }) {
			return &exitError{exitUsage, errors.New("files of a job's window need a directory of their own: give -o OUT")}
		}
	}
	return reportJob(dir, ranks, others, f)
}

// reportWindow reports what was measured between two snapshots.
func reportWindow(args []string, f *reportFlags) error {
	w, args, err := parseWindow(f.delta, args)
	if err != nil {
		return err
	}
	if len(args) != 1 {
		return &exitError{exitUsage, errors.New("which directory? give it after the two numbers, as in `report --delta 2 5 DIR`")}
	}
	if f.table.by != "" || f.efficiency {
		return &exitError{exitUsage, errors.New("--delta goes with the reports of --format only: write the window to a directory (-o OUT), then `report --by` or `report --efficiency` of that")}
	}
	dir := args[0]
	if err := emptyOfProfiles(f.dir); err != nil {
		return err
	}
	ranks, others, err := results.FindRanks(dir)
	if err != nil {
		return err
	}
	if len(ranks) > 0 && f.rank < 0 {
		for i := range ranks {
			ranks[i] = w.source(dir, ranks[i])
		}
		return reportJobWindow(dir, ranks, others, f)
	}
	stem := results.RecordStem
	if f.rank >= 0 {
		stem = strings.TrimSuffix(job.FileName(f.rank, 0), results.RecordSuffix)
	}
	p, err := w.read(dir, stem)
	if err != nil {
		return err
	}
	formats := f.formats
	if len(formats) == 0 {
		formats = []string{"ompp"}
	}
	if err := results.CheckFormats(formats); err != nil {
		return &exitError{exitUsage, err}
	}
	if f.dir == "-" && len(formats) == 1 || f.dir == "" && len(f.formats) == 0 {
		return writeReport(os.Stdout, p, formats[0], f.view.options())
	}
	to, err := reportDirectory(dir, f.dir)
	if err != nil {
		return err
	}
	if f.dir == "" {
		stem = w.String() + strings.TrimPrefix(stem, results.RecordStem)
	} else { // a directory like that of a measurement, for diff and report
		name := filepath.Join(to, stem+results.RecordSuffix)
		if err := results.Save(name, func(out io.Writer) error { return profile.Encode(out, p) }); err != nil {
			return err
		}
		tellFile(name)
	}
	return reportOne(to, stem, p, formats, f.view.options())
}
