package properties

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"ompp-attach/analysis"
	"ompp-attach/profile"
	"ompp-attach/report/words"
	"ompp-attach/severity"
)

const little = severity.Little

// width of the lines of text.
const width = 100

type text struct {
	*bufio.Writer
	Options
	c *severity.Cube
}

func writeText(w io.Writer, c *severity.Cube, o Options) error {
	t := &text{bufio.NewWriter(w), o, c}
	if why := c.CannotTell(); why != "" {
		t.untold(why)
		return t.Flush()
	}
	t.head()
	found := c.Findings()
	t.worst(found)
	t.tree()
	t.findings(c.List(found, t.All))
	t.causes("Delays: where a thread that came late to a barrier spent more time than the threads that waited for it:", t.c.Delays())
	t.causes("Of these, because other threads or processes had the cores, by where the late thread came from:", t.c.LateCores())
	t.causes("Long-term delays: where a thread held a lock, or executed a task, while another thread waited for it and so came late:", t.c.FarDelays())
	t.jobPath()
	t.rankDelays("Delays between ranks: where a late rank spent more time than the ranks that waited for it:", false)
	t.rankDelays("Long-term delays between ranks: where a rank spent more time, so that a rank that waited for it came late for others:", true)
	t.critical()
	t.causes("Locks: where a thread was that held a lock while other threads waited for it:", t.c.Held())
	return t.Flush()
}

func (t *text) share(ns int64) string {
	return words.Decimal(100*analysis.Ratio(ns, t.c.ThreadTime), 0, 1)
}

// known is the number of the table's rows without those of threads that were not told apart.
func (t *text) known() (n int) {
	for i := range t.c.Threads {
		if t.c.Threads[i].Num != profile.UnknownNum {
			n++
		}
	}
	return n
}

func (t *text) head() {
	run := words.Plural(t.known(), "thread")
	switch {
	case t.c.Level != severity.ByThread:
		run = words.Plural(len(t.c.Processes), "process")
	case len(t.c.Processes) > 1:
		run += " of " + words.Plural(len(t.c.Processes), "rank")
	}
	fmt.Fprintf(t, "The time of %s: %s sec of %s. Shares are of that time.\n", t.Clean(t.c.Program), t.Seconds(t.c.ThreadTime), run)
	for _, s := range t.c.Notes {
		t.lines("", t.Clean(s))
	}
	switch t.c.Level {
	case severity.ByProcess:
		t.lines("", "There are too many values to hold those of threads: values are those of whole processes.")
	case severity.Whole:
		t.lines("", "There are too many values to hold those of processes: values are those of the run.")
	}
}

// untold says why nothing can be told of the run but the time without a core, which probes do not
// change.
func (t *text) untold(why string) {
	t.lines("", fmt.Sprintf("What costs time in %s %s", t.Clean(t.c.Program), why))
	if away := t.c.Total(severity.NoCore); away > 0 {
		t.lines("", fmt.Sprintf("Threads were ready to run, but had no core, for %s sec.", t.Seconds(away)))
	}
}

// nests tells whether a team started another one.
func nests(c *severity.Cube) bool {
	inTeam := make([]bool, len(c.Paths))
	for i, p := range c.Paths {
		if p.Parent < 0 {
			continue
		}
		team := p.Region >= 0 && c.Regions[p.Region].Construct.IsParallel()
		if team && inTeam[p.Parent] {
			return true
		}
		inTeam[i] = team || inTeam[p.Parent]
	}
	return false
}

// tree prints the properties that divide the time. The time of the properties below is with each.
func (t *text) tree() {
	all := t.c.Total(severity.Time)
	if more := all - t.c.ThreadTime; analysis.Ratio(more, t.c.ThreadTime) >= little/2 {
		why := "the time that probes took fits into no part."
		if nests(t.c) {
			why = "teams that nest have more threads than there are numbers, or " + why
		}
		t.lines("", "The sum below is more than wall time times threads: "+why)
	}
	rows, wide := t.branch(t.c.Property(severity.Time), 0), 0
	for _, r := range rows {
		wide = max(wide, len(r.name))
	}
	fmt.Fprintln(t)
	for _, r := range rows {
		fmt.Fprintf(t, "%-*s  %*s sec  %5s %%\n", wide, r.name, len(t.Seconds(rows[0].time)), t.Seconds(r.time), t.share(r.time))
	}
}

type branch struct {
	name string
	time int64
}

// branch returns a property and those below it that have values. A property that adds nothing to
// the only one below it is left out, as long as it is no root.
func (t *text) branch(property, depth int) (rows []branch) {
	p := &t.c.Properties[property]
	total := t.c.Total(p.ID)
	if total == 0 && depth > 0 {
		return nil
	}
	rows = append(rows, branch{strings.Repeat("  ", depth) + p.Name, total})
	for i := range t.c.Properties {
		if t.c.Above(i) == property {
			rows = append(rows, t.branch(i, depth+1)...)
		}
	}
	return rows
}

// lines prints a text behind a title, in lines of at most width.
func (t *text) lines(title, text string) {
	room, line := width-len(title), ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > room {
			fmt.Fprintln(t, title+line)
			title, line = strings.Repeat(" ", len(title)), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	fmt.Fprintln(t, title+line)
}
