package reading

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"ompp-attach/cmd/ompp-attach/cli"
	"ompp-attach/hiera/recorded"
	"ompp-attach/hiera/xmltrace"
	"ompp-attach/report/firefox"
	"ompp-attach/report/perfetto"
	"ompp-attach/results"
	"ompp-attach/timeline"
)

// perfettoFormat is the value of --format that writes the timelines of DIR as one trace.
const perfettoFormat = "perfetto"

// timelineFormats are the values of --format that write timelines. To add one, add a row.
var timelineFormats = map[string]func([]*timeline.File, string, *reportFlags) error{
	perfettoFormat: writePerfetto,
	"firefox":      writeFirefox,
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

// traceName is the name of the file of the format perfetto.
const traceName = "timeline" + perfetto.Suffix

// reportTimeline writes the timelines of a directory in a format: those of all processes, or of a
// rank.
func reportTimeline(dir string, f *reportFlags) error {
	format := f.timelineFormat()
	if len(f.formats) > 1 {
		return cli.Misuse(fmt.Errorf("--format %s is of the timelines of all processes: give it by itself", format))
	}
	timelines, done, err := timelinesOf(dir, f)
	defer done()
	if err != nil {
		return err
	}
	if strings.HasSuffix(dir, results.TimelineSuffix) {
		dir = filepath.Dir(dir)
	}
	spans := uint64(0)
	for _, t := range timelines {
		n, _ := t.Spans()
		spans += n
		if k := t.Dictionary.Kept; k != nil {
			cli.Tell(fmt.Sprintf("process %d: %s", t.PID, k.Sentences(n)))
		}
	}
	if spans == 0 {
		return fmt.Errorf("the timelines in %s hold no execution%s: there is nothing to show", dir, whyEmpty(timelines))
	}
	return timelineFormats[format](timelines, dir, f)
}

// timelinesOf opens the timelines of a directory, or one timeline that is named by its file, such
// as a snapshot's.
func timelinesOf(path string, f *reportFlags) (all []*timeline.File, done func(), err error) {
	if !strings.HasSuffix(path, results.TimelineSuffix) {
		return results.OpenTimelines(path, f.rank, cli.Warn)
	}
	t, c, err := results.OpenTimeline(path)
	if err != nil {
		return nil, func() {}, err
	}
	return []*timeline.File{t}, func() { _ = c.Close() }, nil
}

// whyEmpty says why timelines have no spans, as far as their gaps tell.
func whyEmpty(timelines []*timeline.File) string {
	for _, t := range timelines {
		for _, g := range t.Gaps {
			if g.Why == timeline.Outside {
				return " within the time that was to be recorded"
			}
		}
	}
	return ""
}

// damages counts the damaged places of timelines, so that there is one warning for each timeline.
type damages map[*timeline.File]int

func (d damages) note(t *timeline.File, _ *timeline.DamageError) { d[t]++ }

func (d damages) warn(timelines []*timeline.File) {
	for _, t := range timelines {
		if n := d[t] + t.Damaged(); n > 0 {
			cli.Warn("the timeline of process %d is damaged in %d places, where the trace has gaps", t.PID, n)
		}
		if t.Torn {
			cli.Warn("the timeline of process %d ends %.3f s after its first execution: it was cut off, and what came later is missing", t.PID, float64(t.Last()-t.First())/1e9)
		}
	}
}

// writeFirefox writes the timelines as one profile of Firefox's profiler.
func writeFirefox(timelines []*timeline.File, dir string, f *reportFlags) error {
	missing := damages{}
	defer missing.warn(timelines)
	write := func(w io.Writer) error { return firefox.Write(w, timelines, missing.note) }
	if f.dir == "-" {
		return write(os.Stdout)
	}
	to, err := reportDirectory(dir, f.dir)
	if err != nil {
		return err
	}
	name := filepath.Join(to, "timeline"+firefox.Suffix)
	if err := results.Stream(name, write); err != nil {
		return err
	}
	fmt.Printf("%s: load it at https://profiler.firefox.com\n", name)
	return nil
}

func writePerfetto(timelines []*timeline.File, dir string, f *reportFlags) error {
	missing := damages{}
	defer missing.warn(timelines)
	write := func(w io.Writer) error {
		without, err := perfetto.Write(w, timelines, missing.note)
		for _, w := range without {
			cli.Warn("%s", w)
		}
		return err
	}
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

// writeXML writes a file for each process, the configuration file that names them, and the document
// types of both.
func writeXML(timelines []*timeline.File, dir string, f *reportFlags) error {
	if f.dir == "-" {
		return cli.Misuse(errors.New("--format xml writes several files: give a directory with -o"))
	}
	to, err := reportDirectory(dir, f.dir)
	if err != nil {
		return err
	}
	save := func(name string, write func(io.Writer) error) error {
		name = filepath.Join(to, name)
		err := results.Stream(name, write)
		if err == nil {
			cli.TellFile(name)
		}
		return err
	}
	missing := damages{}
	defer missing.warn(timelines)
	config := xmltrace.Config{Application: timelines[0].Dictionary.Meta.Program}
	for i, t := range timelines {
		rank := t.Rank()
		if rank < 0 {
			rank = i
		}
		file := xmltrace.File{Rank: rank, Name: fmt.Sprintf("trace%d.xml", rank)}
		if err := save(file.Name, func(w io.Writer) error { return recorded.WriteTimeline(w, t, rank, missing.note) }); err != nil {
			return err
		}
		config.Files = append(config.Files, file)
	}
	return errors.Join(save("job.hiera.xml", func(w io.Writer) error { return xmltrace.WriteConfig(w, &config) }),
		save(xmltrace.TraceDTD, xmltrace.WriteTraceDTD), save(xmltrace.CollectorDTD, xmltrace.WriteCollectorDTD))
}
