package reading

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"ompp-attach/cmd/ompp-attach/cli"
	"ompp-attach/files"
	"ompp-attach/report"
	"ompp-attach/report/when"
	"ompp-attach/results"
	"ompp-attach/timeline"
)

// drawsWhen tells whether one of the formats shows what happened when.
func drawsWhen(formats []string) bool {
	return slices.Contains(formats, "html") || slices.Contains(formats, "json")
}

// withTimeline adds to the options what happened when in a process, if its timeline was recorded. A
// timeline that cannot be read is told; the report has all else.
func withTimeline(o report.Options, dir, stem string, formats []string) report.Options {
	if !drawsWhen(formats) {
		return o
	}
	f, c, err := results.OpenTimeline(filepath.Join(dir, stem+results.TimelineSuffix))
	if errors.Is(err, fs.ErrNotExist) {
		return o
	}
	if err != nil {
		cli.Warn("%v", err)
		return o
	}
	defer c.Close()
	return drawn(o, []*timeline.File{f})
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
	return drawn(o, timelines)
}

func drawn(o report.Options, timelines []*timeline.File) report.Options {
	p, err := when.Of(timelines)
	if err != nil {
		cli.Warn("%v", err)
		return o
	}
	o.When = p
	return o
}
