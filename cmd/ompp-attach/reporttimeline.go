package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"ompp-attach/files"
	"ompp-attach/hiera/recorded"
	"ompp-attach/hiera/xmltrace"
	"ompp-attach/report/perfetto"
	"ompp-attach/results"
	"ompp-attach/timeline"
)

// perfettoFormat is the value of --format that writes the timelines of DIR as one trace.
const perfettoFormat = "perfetto"

// timelineFormats are the values of --format that write timelines. To add one, add a row.
var timelineFormats = map[string]func([]*timeline.File, string, *reportFlags) error{
	perfettoFormat: writePerfetto,
	"xml":          writeXML,
}

// timelineFormat returns the wanted format of timelines; empty: there is none.
func (f *reportFlags) timelineFormat() string {
	for _, n := range f.formats {
		if timelineFormats[n] != nil {
			return n
		}
	}
	return ""
}

// traceName is the name of that trace.
const traceName = "timeline" + perfetto.Suffix

// reportTimeline writes the timelines of a directory: of all processes, or of a rank.
func reportTimeline(dir string, f *reportFlags) error {
	format := f.timelineFormat()
	if len(f.formats) > 1 {
		return &exitError{exitUsage, fmt.Errorf("--format %s is of the timelines of all processes: give it by itself", format)}
	}
	timelines, done, err := openTimelines(dir, f.rank)
	defer done()
	if err != nil {
		return err
	}
	return timelineFormats[format](timelines, dir, f)
}

func writePerfetto(timelines []*timeline.File, dir string, f *reportFlags) error {
	write := func(w io.Writer) error { return perfetto.Write(w, timelines) }
	if f.dir == "-" {
		return write(os.Stdout)
	}
	to, err := reportDirectory(dir, f.dir)
	if err != nil {
		return err
	}
	name := filepath.Join(to, traceName)
	if err := results.Stream(name, write); err != nil {
		return err
	}
	fmt.Printf("%s: open it at https://ui.perfetto.dev\n", name)
	return nil
}

// openTimelines opens the timelines of a directory. rank -1 stands for all. What cannot be read is
// told, and left out if there are others.
func openTimelines(dir string, rank int) (timelines []*timeline.File, done func(), err error) {
	var open []io.Closer
	done = func() {
		for _, c := range open {
			_ = c.Close()
		}
	}
	var errs []error
	names := files.Matching(dir, results.RecordStem+"*"+results.TimelineSuffix)
	for _, name := range names {
		t, c, err := results.OpenTimeline(name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		open = append(open, c)
		if m := t.Dictionary.Meta.MPI; rank >= 0 && (m == nil || m.Rank != rank) {
			continue
		}
		timelines = append(timelines, t)
	}
	slices.SortStableFunc(timelines, func(a, b *timeline.File) int { return rankOf(a) - rankOf(b) })
	switch {
	case len(names) == 0:
		return nil, done, fmt.Errorf("%s holds no timeline (%s*%s): measure with --timeline last:30s", dir, results.RecordStem, results.TimelineSuffix)
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

// rankOf is the rank of a timeline's process; -1: it is none.
func rankOf(t *timeline.File) int {
	if m := t.Dictionary.Meta.MPI; m != nil {
		return m.Rank
	}
	return -1
}

// writeXML writes a file for each process, the configuration file that names them, and the document
// types of both.
func writeXML(timelines []*timeline.File, dir string, f *reportFlags) error {
	if f.dir == "-" {
		return &exitError{exitUsage, errors.New("--format xml writes several files: give a directory with -o")}
	}
	to, err := reportDirectory(dir, f.dir)
	if err != nil {
		return err
	}
	save := func(name string, write func(io.Writer) error) error {
		name = filepath.Join(to, name)
		err := results.Stream(name, write)
		if err == nil {
			tellFile(name)
		}
		return err
	}
	config := xmltrace.Config{Application: timelines[0].Dictionary.Meta.Program}
	for i, t := range timelines {
		rank := rankOf(t)
		if rank < 0 {
			rank = i
		}
		file := xmltrace.File{Rank: rank, Name: fmt.Sprintf("trace%d.xml", rank)}
		if err := save(file.Name, func(w io.Writer) error { return recorded.WriteTimeline(w, t, rank) }); err != nil {
			return err
		}
		config.Files = append(config.Files, file)
	}
	return errors.Join(save("job.hiera.xml", func(w io.Writer) error { return xmltrace.WriteConfig(w, &config) }),
		save(xmltrace.TraceDTD, xmltrace.WriteTraceDTD), save(xmltrace.CollectorDTD, xmltrace.WriteCollectorDTD))
}
