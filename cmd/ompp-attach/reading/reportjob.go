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

// reportJob merges the ranks' profiles and writes the job's reports.
func reportJob(dir string, ranks []job.Source, others []string, f *reportFlags) error {
	formats := f.formats
	classic := f.view.Classic || f.view.ClassicOverheads // for readers of the text
	page := len(formats) == 0 && f.dir == "" && !classic // also written, if that is possible
	switch {
	case page || len(formats) == 0 && (f.dir == "-" || classic):
		formats = []string{"text"}
	case len(formats) == 0:
		formats = []string{"text", "html"}
	}
	for _, n := range formats {
		if _, ok := results.JobFormatNamed(n); !ok {
			return cli.Misuse(fmt.Errorf("unknown format %q of a job; there are %s; others are a single rank's: give --rank", n, results.JobFormatNames()))
		}
	}
	view := f.view.Options()
	if page || slices.Contains(formats, "html") {
		view = withTimelines(view, dir)
	}
	html := page || slices.Contains(formats, "html")
	options := job.Options{Paths: html || slices.Contains(formats, "pprof"), Strip: html, Rules: view.Rules, Classic: view.Classic, Raw: view.Raw}
	for _, n := range append(slices.Clone(formats), "html") {
		if format, _ := results.JobFormatNamed(n); format.Severity && (n != "html" || page || slices.Contains(formats, n)) {
			of := view.Severities()
			options.Severity = &of
		}
	}
	j, err := job.Read(ranks, options)
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	if len(others) > 0 {
		cli.Warn("%s also holds profiles of processes that are no ranks, which are left out: %s", dir, results.SomeOf(others))
	}
	if !slices.Contains(formats, "text") { // the text has them
		for _, t := range j.Troubles() {
			cli.Warn("%s", t)
		}
	}
	var files []report.Output
	tree := false
	for _, n := range formats {
		format, _ := results.JobFormatNamed(n)
		tree = tree || format.Tree != nil
		for _, file := range format.Outputs(j, view) {
			if f.dir == "" && n == "text" {
				if err := file.Write(os.Stdout); err != nil {
					return err
				}
				continue
			}
			files = append(files, file)
		}
	}
	if f.dir == "-" && len(files) == 1 && !tree {
		return files[0].Write(os.Stdout)
	}
	if page {
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
	var errs []error
	told := map[string]bool{}
	for _, file := range files {
		name := filepath.Join(to, file.Name)
		if err := results.Save(name, file.Write); err != nil {
			errs = append(errs, err)
			continue
		}
		if dir, _, isTree := strings.Cut(file.Name, "/"); isTree { // told once
			if name = filepath.Join(to, dir) + "/"; told[name] {
				continue
			}
			told[name] = true
		}
		cli.TellFile(name)
	}
	return errors.Join(errs...)
}

// writeJobPage writes the job's page beside the profiles. The user asked for the text, so the page
// is no part of the output, and a directory that cannot be written to is no failure.
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
		if n == "text" { // as the text for a job is called
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
