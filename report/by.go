package report

import (
	"io"

	"ompp-attach/analysis"
	"ompp-attach/profile"
	"ompp-attach/report/tables"
	"ompp-attach/report/words"
)

// mostByTime is the number of rows of the section on regions by time.
const mostByTime = 20

// WriteBy writes a table of a profile's time, in one of tables.Formats.
func WriteBy(w io.Writer, p *profile.Profile, by tables.By, format string, o Options) error {
	p = o.view(p)
	return tables.Write(w, p, by, format, o.tables(p))
}

// WriteRanksBy writes the same of all ranks of a job together. thread names a thread of the job.
// hidden says why nothing can be told of the times; nil: they can be told.
func WriteRanksBy(w io.Writer, p *profile.Profile, thread func(profile.Thread) string, hidden *analysis.Hidden, by tables.By, format string, o Options) error {
	p = o.view(p)
	t := o.tables(p)
	t.Thread = thread
	if t.Hidden = hidden; o.Classic { // see Options.hidden
		t.Hidden = nil
	}
	return tables.Write(w, p, by, format, t)
}

// WriteCSV writes all figures of a profile, a line for each call path and thread.
func WriteCSV(w io.Writer, p *profile.Profile, o Options) error {
	p = o.view(p)
	return tables.WriteCells(w, p, o.Volumes, o.tables(p))
}

func (o Options) tables(p *profile.Profile) tables.Options {
	c := o.clock(p)
	return tables.Options{Rules: o.Rules, All: o.All, Hidden: o.hidden(p), Seconds: func(ns int64) string { return c.Seconds(ns, 0) },
		Region: words.Region, Construct: shortName, Thread: words.Thread, Clean: words.Clean, Mark: marked, MarkOwn: markedExclusive}
}

// regionsByTime writes all regions, the longest exclusive time first. ompP has no such section.
func (o *ompp) regionsByTime() {
	if len(o.p.Regions) == 0 {
		return
	}
	o.banner("Regions by Time")
	options := o.tables(o.p)
	if !o.All {
		options.Rows = mostByTime
	}
	by, _ := tables.Named("region")
	for _, line := range tables.Text(o.p, by, options) {
		o.printf("%s\n", line)
	}
	o.printf("\n")
}
