package reading

import (
	"math"
	"path/filepath"

	"ompp-attach/cmd/ompp-attach/cli"
	"ompp-attach/files"
	"ompp-attach/report"
	"ompp-attach/report/when"
	"ompp-attach/results"
)

// withTimeline adds the picture of a process's timeline to the options, if one was recorded. If the
// timeline cannot be read, the user is told, and the report is written without it.
func withTimeline(o report.Options, dir, stem string, formats []string) report.Options {
	if !results.DrawsWhen(formats) {
		return o
	}
	drawn, err := results.WithTimeline(o, filepath.Join(dir, stem+results.TimelineSuffix), math.MaxUint64)
	if err != nil {
		cli.Warn("%v", err)
	}
	return drawn
}

// withTimelines is withTimeline for a job.
func withTimelines(o report.Options, dir string) report.Options {
	if len(files.Matching(dir, results.RecordStem+"*"+results.TimelineSuffix)) == 0 {
		return o
	}
	timelines, done, err := results.OpenTimelines(dir, -1, cli.Warn)
	defer done()
	if err != nil {
		cli.Warn("%v", err)
		return o
	}
	p, err := when.Of(timelines)
	if err != nil {
		cli.Warn("%v", err)
		return o
	}
	o.When = p
	return o
}
