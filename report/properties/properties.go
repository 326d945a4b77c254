package properties

import (
	"fmt"
	"io"
	"strings"

	"ompp-attach/report/words"
	"ompp-attach/severity"
)

// Options are choices of the reader.
type Options struct {
	All     bool                     // text shows all findings in detail, and all causes
	Seconds func(ns int64) string    // a time, in seconds
	Clean   func(name string) string // makes a name harmless
}

// Format is a way to write the severities of a run.
type Format struct {
	Name  string
	Write func(io.Writer, *severity.Cube, Options) error
}

// Formats lists the formats, the default first.
var Formats = []Format{{"text", writeText}, {"csv", writeCSV}, {"json", writeJSON}}

// Names returns the names of the formats.
func Names() (names []string) {
	for _, f := range Formats {
		names = append(names, f.Name)
	}
	return names
}

// Named returns the format with a name. ok is false if there is none.
func Named(name string) (f Format, ok bool) {
	for _, f := range Formats {
		if f.Name == name {
			return f, true
		}
	}
	return Format{}, false
}

// Outside is the name of the program's path.
const Outside = "outside of all regions"

// PathText names a call path by its regions, outermost first. Of long paths it has the ends.
func PathText(c *severity.Cube, path int) string {
	if path == 0 {
		return Outside
	}
	var steps []string
	for ; path > 0; path = c.Paths[path].Parent {
		r := &c.Regions[c.Paths[path].Region]
		steps = append([]string{words.Region(r) + " " + r.Construct.String()}, steps...)
	}
	const most = 4
	if n := len(steps); n > most {
		steps = append([]string{steps[0], "..."}, steps[n-most+2:]...)
	}
	return strings.Join(steps, " > ")
}

// lastText names the last region of a call path.
func lastText(c *severity.Cube, path int) string {
	if path == 0 {
		return Outside
	}
	r := &c.Regions[c.Paths[path].Region]
	return words.Region(r) + " " + r.Construct.String()
}

// pathNumbers spells a call path by the regions' numbers, outermost first, as other tables do.
func pathNumbers(c *severity.Cube, path int) string {
	var steps []string
	for ; path > 0; path = c.Paths[path].Parent {
		steps = append([]string{fmt.Sprintf("R%05d", c.Paths[path].Region+1)}, steps...)
	}
	return strings.Join(steps, "/")
}

// ThreadText names a row: the thread, or RANK:THREAD of a job.
func ThreadText(c *severity.Cube, thread int) string {
	t := &c.Threads[thread]
	rank := -1
	if t.Process >= 0 {
		rank = c.Processes[t.Process].Rank
	}
	switch {
	case c.Level == severity.Whole:
		return "all"
	case c.Level == severity.ByProcess:
		return fmt.Sprint(rank)
	case rank >= 0:
		return fmt.Sprintf("%d:%s", rank, words.Thread(t.Thread))
	}
	return words.Thread(t.Thread)
}
