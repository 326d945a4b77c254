package reading

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"ompp-attach/cmd/ompp-attach/cli"
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
		return cli.Misuse(fmt.Errorf("--format %s is of the timelines of all processes: give it by itself", format))
	}
	timelines, done, err := results.OpenTimelines(dir, f.rank, cli.Warn)
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
	config := xmltrace.Config{Application: timelines[0].Dictionary.Meta.Program}
	for i, t := range timelines {
		rank := t.Rank()
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
