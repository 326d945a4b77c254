package main

import (
	"slices"
	"strings"

	"ompp-attach/page"
	"ompp-attach/profile"
	"ompp-attach/report"
)

// formats are those of a process or rank, jobFormats those of a job, in the order of the help.
var (
	formats = append(slices.Clone(report.Formats),
		report.Format{Name: "html", Suffix: "profile.html", Description: "a page for the browser", Write: page.WriteProcess},
		report.Format{Name: "json", Suffix: "profile.report.json", Description: "the figures of that page", Write: page.WriteProcessJSON})
	jobFormats = append(slices.Clone(report.JobFormats),
		report.JobFormat{Name: "html", Description: "a page for the browser", Files: []report.JobFile{{Name: "job.html", Write: page.WriteJob}}})
)

// mostRankPages is the number of ranks of a job up to which each has a page of its own by default.
const mostRankPages = 64

// formatsOf returns the formats in which a profile is written. Ranks of a large job have no pages,
// unless the user asks for them: the job has one.
func formatsOf(p *profile.Profile, wanted []string) []string {
	if m := p.Meta.MPI; m == nil || m.Size <= mostRankPages || !slices.Equal(wanted, defaultFormats) {
		return wanted
	}
	return slices.DeleteFunc(slices.Clone(wanted), func(name string) bool { return name == "html" })
}

func formatNamed(name string) (f report.Format, ok bool) {
	at := slices.IndexFunc(formats, func(f report.Format) bool { return f.Name == name })
	if at < 0 {
		return f, false
	}
	return formats[at], true
}

func jobFormatNamed(name string) (f report.JobFormat, ok bool) {
	at := slices.IndexFunc(jobFormats, func(f report.JobFormat) bool { return f.Name == name })
	if at < 0 {
		return f, false
	}
	return jobFormats[at], true
}

func formatNames() string {
	var names []string
	for _, f := range formats {
		names = append(names, f.Name)
	}
	return strings.Join(names, ", ")
}

func jobFormatNames() string {
	var names []string
	for _, f := range jobFormats {
		names = append(names, f.Name)
	}
	return strings.Join(names, ", ")
}
