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

// withTimeline adds to the options what happened when in a process, if its timeline was recorded. A
// timeline that cannot be read is told; the report has all else.
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

// withTimelines adds to the options what happened when in a job, as withTimeline does.
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
