package reading

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ompp-attach/cmd/ompp-attach/cli"
	"ompp-attach/job"
	"ompp-attach/profile"
	"ompp-attach/report"
	"ompp-attach/report/jobs"
	"ompp-attach/results"
)

// jobReports are the reports of a job that the user wants.
type jobReports struct {
	formats []string
	page    bool // the page is written, too, if that is possible
}

// jobReportsOf returns the reports that the flags ask for. Without --format these are the text and
// the page, or only the text if the user wants the text as ompP has it.
func jobReportsOf(f *reportFlags) (w jobReports, err error) {
	classic := f.view.Classic || f.view.ClassicOverheads
	w = jobReports{formats: f.formats, page: len(f.formats) == 0 && f.dir == "" && !classic}
	switch {
	case w.page || len(f.formats) == 0 && (f.dir == "-" || classic):
		w.formats = []string{"text"}
	case len(f.formats) == 0:
		w.formats = []string{"text", "html"}
	}
	for _, n := range w.formats {
		if _, ok := results.JobFormatNamed(n); !ok {
			return w, cli.Misuse(fmt.Errorf("unknown format %q of a job; there are %s; others are a single rank's: give --rank", n, results.JobFormatNames()))
		}
	}
	return w, nil
}

// html tells whether the page is among the reports.
func (w *jobReports) html() bool { return w.page || slices.Contains(w.formats, "html") }

// options returns the options with which the ranks' profiles are read for these reports.
func (w *jobReports) options(view *report.Options) job.Options {
	o := job.Options{Paths: w.html() || slices.Contains(w.formats, "pprof"), Strip: w.html(), Path: slices.Contains(w.formats, "text") && !view.Classic, Rules: view.Rules, Classic: view.Classic, Raw: view.Raw}
	formats := w.formats
	if w.page {
		formats = append(slices.Clone(formats), "html")
	}
	for _, n := range formats {
		if format, _ := results.JobFormatNamed(n); format.Severity {
			of := view.Severities()
			o.Severity = &of
		}
	}
	return o
}

// write prints the text if print is set, and returns the files of all other formats. tree tells
// whether some format is a directory of files.
func (w *jobReports) write(j *job.Job, view report.Options, print bool) (files []report.Output, tree bool, err error) {
	for _, n := range w.formats {
		format, _ := results.JobFormatNamed(n)
		tree = tree || format.Tree != nil
		for _, file := range format.Outputs(j, view) {
			if print && n == "text" {
				if err := file.Write(os.Stdout); err != nil {
					return nil, tree, err
				}
				continue
			}
			files = append(files, file)
		}
	}
	return files, tree, nil
}

// reportJob merges the ranks' profiles and writes the job's reports.
func reportJob(dir string, ranks []job.Source, others []string, f *reportFlags) error {
	w, err := jobReportsOf(f)
	if err != nil {
		return err
	}
	view := f.view.Options()
	if w.html() {
		view = withTimelines(view, dir)
	}
	j, err := job.Read(ranks, w.options(&view))
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	if len(others) > 0 {
		cli.Warn("%s also holds profiles of processes that are no ranks, which are left out: %s", dir, results.SomeOf(others))
	}
	if !slices.Contains(w.formats, "text") { // the text names the troubles itself
		for _, t := range j.Troubles() {
			cli.Warn("%s", t)
		}
	}
	files, tree, err := w.write(j, view, f.dir == "")
	if err != nil {
		return err
	}
	if f.dir == "-" && len(files) == 1 && !tree {
		return files[0].Write(os.Stdout)
	}
	if w.page {
		writeJobPage(dir, j, view)
	}
	if len(files) == 0 {
		return nil
	}
	to, err := reportDirectory(dir, f.dir)
	if err != nil {
		return err
	}
	if tree {
		if err := results.Clear(to, jobs.TAUDirectory); err != nil {
			return err
		}
	}
	return saveJobFiles(to, files)
}

// saveJobFiles writes the files into a directory, and tells their names. Of a format that is a
// directory, only the directory's name is told.
func saveJobFiles(to string, files []report.Output) error {
	var errs []error
	told := map[string]bool{}
	for _, file := range files {
		name := filepath.Join(to, file.Name)
		if err := results.Save(name, file.Write); err != nil {
			errs = append(errs, err)
			continue
		}
		if dir, _, isTree := strings.Cut(file.Name, "/"); isTree {
			if name = filepath.Join(to, dir) + "/"; told[name] {
				continue
			}
			told[name] = true
		}
		cli.TellFile(name)
	}
	return errors.Join(errs...)
}

// writeJobPage writes the job's page beside the profiles. The user asked only for the text. So it
// is no failure if the directory cannot be written to.
func writeJobPage(dir string, j *job.Job, view report.Options) {
	format, _ := results.JobFormatNamed("html")
	name := filepath.Join(dir, format.Files[0].Name)
	if err := results.Save(name, func(w io.Writer) error { return format.Files[0].Write(w, j, view) }); err != nil {
		cli.Warn("no page was written: %v", err)
		return
	}
	cli.Tell("the same as a page for the browser: " + name)
}

// reportRank writes the reports of one rank.
func reportRank(dir string, ranks []job.Source, f *reportFlags) error {
	file, err := results.FileOfRank(dir, ranks, f.rank)
	if err != nil {
		return err
	}
	p, err := results.ReadProfile(filepath.Join(dir, file))
	if err != nil {
		return err
	}
	formats := slices.Clone(f.formats)
	for i, n := range formats {
		if n == "text" { // the name of a job's text; a rank's is ompp
			formats[i] = "ompp"
		}
	}
	plain := len(formats) == 0
	if plain {
		formats = []string{"ompp"}
	}
	if err := results.CheckFormats(formats); err != nil {
		return cli.Misuse(err)
	}
	stem := strings.TrimSuffix(file, results.RecordSuffix)
	view := withTimeline(f.view.Options(), dir, stem, formats)
	if plain && f.dir == "" || f.dir == "-" && len(formats) == 1 && !isTree(formats[0]) {
		return writeReport(os.Stdout, p, formats[0], view)
	}
	to, err := reportDirectory(dir, f.dir)
	if err != nil {
		return err
	}
	return reportOne(to, stem, p, formats, view)
}

// isTree tells whether a format is a directory of files.
func isTree(format string) bool {
	f, _ := results.FormatNamed(format)
	return f.Tree != nil
}

func writeReport(w io.Writer, p *profile.Profile, format string, o report.Options) error {
	if err := cli.CheckFormulas(o.Evaluators, report.CounterNames(p)); err != nil {
		return err
	}
	f, _ := results.FormatNamed(format)
	return f.Write(w, p, o)
}
