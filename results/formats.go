package results

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"ompp-attach/page"
	"ompp-attach/profile"
	"ompp-attach/report"
	"ompp-attach/report/jobs"
	"ompp-attach/report/words"
)

// formats are those of a process or rank, jobFormats those of a job, in the order of the help.
var (
	formats = append(slices.Clone(report.Formats),
		report.Format{Name: "html", Suffix: "profile.html", Description: "a page for the browser", Write: page.WriteProcess},
		report.Format{Name: "json", Suffix: "profile.report.json", Description: "the figures of that page", Write: page.WriteProcessJSON})
	jobFormats = append(slices.Clone(jobs.Formats),
		jobs.Format{Name: "html", Description: "a page for the browser", Severity: true, Files: []jobs.File{{Name: "job.html", Write: page.WriteJob}}})
)

// DefaultFormats are the formats in which reports of a process or rank are written.
var DefaultFormats = []string{"ompp", "pprof", "samples", "html"}

// mostRankPages is the number of ranks of a job up to which each has a page of its own by default.
const mostRankPages = 64

// formatsOf returns the formats in which a profile is written. Ranks of a large job have no pages,
// unless the user asks for them: the job has one.
func formatsOf(p *profile.Profile, wanted []string) []string {
	if m := p.Meta.MPI; m == nil || m.Size <= mostRankPages || !slices.Equal(wanted, DefaultFormats) {
		return wanted
	}
	return slices.DeleteFunc(slices.Clone(wanted), func(name string) bool { return name == "html" })
}

// FormatNamed finds a format of a process or rank.
func FormatNamed(name string) (f report.Format, ok bool) {
	return words.Named(formats, nameOf, name)
}

func nameOf(f *report.Format) string { return f.Name }

// JobFormatNamed finds a format of a job.
func JobFormatNamed(name string) (f jobs.Format, ok bool) {
	return words.Named(jobFormats, jobNameOf, name)
}

func jobNameOf(f *jobs.Format) string { return f.Name }

// FormatNames lists the formats of a process or rank, for messages.
func FormatNames() string {
	return words.Names(formats, nameOf)
}

// JobFormatNames lists the formats of a job, for messages.
func JobFormatNames() string {
	return words.Names(jobFormats, jobNameOf)
}

// CheckFormats refuses names that are no formats of a process or rank.
func CheckFormats(names []string) error {
	for _, n := range names {
		if _, ok := FormatNamed(n); !ok {
			if _, ok := JobFormatNamed(n); ok {
				return fmt.Errorf("format %q is of the report of a whole MPI job; of a process or rank there are %s", n, FormatNames())
			}
			return fmt.Errorf("unknown format %q; there are %s", n, FormatNames())
		}
	}
	if len(names) == 0 || slices.Contains(names, "") {
		return fmt.Errorf("--format needs one or more of %s", FormatNames())
	}
	return nil
}

// RenderAll writes a profile's reports. If one file cannot be written, the others are written
// nevertheless.
func RenderAll(dir, stem string, p *profile.Profile, formats []string, o report.Options) (files []string, err error) {
	var errs []error
	for _, n := range formats {
		f, _ := FormatNamed(n)
		if !f.Has(p) {
			continue
		}
		if f.Tree != nil {
			name := filepath.Join(dir, stem+strings.TrimPrefix(f.Suffix, RecordStem))
			if err := Clear(dir, filepath.Base(name)); err != nil {
				errs = append(errs, err)
				continue
			}
			files = append(files, name+"/")
		}
		for _, out := range f.Outputs(p, o) {
			name := filepath.Join(dir, stem+strings.TrimPrefix(out.Name, RecordStem))
			if err := Save(name, out.Write); err != nil {
				errs = append(errs, err)
				continue
			}
			if f.Tree == nil {
				files = append(files, name)
			}
		}
	}
	return files, unwritten(errs)
}

// unwritten joins the errors of files. If all have the reason of the first one, the others are only
// counted.
func unwritten(errs []error) error {
	if len(errs) < 2 {
		return errors.Join(errs...)
	}
	var reason syscall.Errno
	same := errors.As(errs[0], &reason)
	for _, err := range errs[1:] {
		same = same && errors.Is(err, reason)
	}
	if !same {
		return errors.Join(errs...)
	}
	return fmt.Errorf("%w (and %d more files, for the same reason)", errs[0], len(errs)-1)
}
