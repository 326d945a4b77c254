package results

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"ompp-attach/profile"
	"ompp-attach/report"
	"ompp-attach/report/when"
	"ompp-attach/timeline"
)

// mostDrawn and mostDrawnOfRank bound the executions that are drawn when a measurement ends,
// because the user waits meanwhile. A node's ranks are drawn one after the other.
const (
	mostDrawn       = 2_000_000
	mostDrawnOfRank = 250_000
)

// DrawsWhen tells whether one of the formats shows a timeline's picture (package report/when).
func DrawsWhen(formats []string) bool {
	return slices.Contains(formats, "html") || slices.Contains(formats, "json")
}

// drawable returns the most executions of a process that are drawn when a measurement ends.
func drawable(p *profile.Profile) uint64 {
	if isRank(p) {
		return mostDrawnOfRank
	}
	return mostDrawn
}

// WithTimeline adds the picture of a process's timeline to the options, if the timeline's file is
// there. If the timeline has more executions than most, the picture only says how to get the whole.
// The error says why the timeline cannot be read; the options are unchanged then.
func WithTimeline(o report.Options, name string, most uint64) (report.Options, error) {
	f, c, err := OpenTimeline(name)
	if errors.Is(err, fs.ErrNotExist) {
		return o, nil
	}
	if err != nil {
		return o, err
	}
	defer c.Close()
	if n, _ := f.Spans(); n > most {
		o.When = &when.Picture{Names: []when.Name{}, Rows: []when.Thread{}, Levels: []when.Level{},
			Notes: []string{fmt.Sprintf("The timeline holds %d executions, which are not drawn while the measurement ends. `ompp-attach report` on this directory draws them.", n)}}
		return o, nil
	}
	p, err := when.Of([]*timeline.File{f})
	if err != nil {
		return o, err
	}
	o.When = p
	return o, nil
}
