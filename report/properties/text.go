package properties

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"ompp-attach/analysis"
	"ompp-attach/report/words"
	"ompp-attach/severity"
)

// little is the share of all threads' time below which text leaves findings out and counts them.
const little = 0.001

// most is the largest number of findings that text shows.
const most = 20

// width of the lines of text.
const width = 100

type text struct {
	*bufio.Writer
	Options
	c *severity.Cube
}

func writeText(w io.Writer, c *severity.Cube, o Options) error {
	t := &text{bufio.NewWriter(w), o, c}
	t.head()
	t.tree()
	t.findings()
	return t.Flush()
}

func (t *text) share(ns int64) string {
	return words.Decimal(100*analysis.Ratio(ns, t.c.ThreadTime), 0, 1)
}

func (t *text) head() {
	run := words.Plural(len(t.c.Threads), "thread")
	switch {
	case t.c.Level != severity.ByThread:
		run = words.Plural(len(t.c.Processes), "process")
	case len(t.c.Processes) > 1:
		run += " of " + words.Plural(len(t.c.Processes), "rank")
	}
	fmt.Fprintf(t, "The time of %s: %s sec of %s, by property. Shares are of that time.\n", t.Clean(t.c.Program), t.Seconds(t.c.ThreadTime), run)
	switch t.c.Level {
	case severity.ByProcess:
		t.lines("", "There are too many values to hold those of threads: values are those of whole processes.")
	case severity.Whole:
		t.lines("", "There are too many values to hold those of processes: values are those of the run.")
	}
}

// tree prints the properties that divide the time, with the time of those below each.
func (t *text) tree() {
	all := t.c.Total(severity.Time)
	if more := all - t.c.ThreadTime; analysis.Ratio(more, t.c.ThreadTime) >= little/2 {
		t.lines("", "The sum is more than wall time times threads: teams that nest have more threads than there are numbers, "+
			"or the time that probes took fits into no part.")
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

func (t *text) findings() {
	found, left, rest := t.c.Findings(), 0, int64(0)
	fmt.Fprintf(t, "\nWhat costs time, worst first:\n")
	told := map[string]bool{}
	for i := range found {
		f := &found[i]
		if analysis.Ratio(f.Time, t.c.ThreadTime) < little && !t.All || i >= most && !t.All {
			left++
			rest += f.Time
			continue
		}
		t.finding(f, told)
	}
	switch {
	case len(found) == 0:
		fmt.Fprintln(t, "\nNothing: no property holds.")
	case left > 0:
		fmt.Fprintf(t, "\n... and %d more, %s sec together\n", left, t.Seconds(rest))
	}
}

// finding prints a finding. What helps is printed where a property is told of first.
func (t *text) finding(f *severity.Finding, told map[string]bool) {
	p := &t.c.Properties[f.Property]
	mark := ""
	if f.Estimated {
		mark = "~"
	}
	fmt.Fprintf(t, "\n%s%s sec  %s %%  %s\n", mark, t.Seconds(f.Time), t.share(f.Time), t.Clean(p.Title()))
	line := func(key, text string) {
		if text != "" {
			t.lines(fmt.Sprintf("    %-7s ", key), text)
		}
	}
	line("where", pathText(t.c, f.Path))
	line("who", t.who(f))
	line("saves", t.saving(f))
	switch t.c.DoubtOf(f) {
	case severity.ByProbes:
		line("doubt", "Probes took more than a tenth of the time around: they may have made this.")
	case severity.ByTasks:
		line("doubt", "Tasks were not observed all of the time: this may be tasks that threads executed.")
	}
	if !told[p.ID] {
		line("means", p.Description)
		line("look at", p.Diagnosis)
		line("helps", p.Helps)
	}
	told[p.ID] = true
}

// who says how many threads have the time, and which one most.
func (t *text) who(f *severity.Finding) string {
	most := f.Threads[0]
	if t.c.Level == severity.Whole {
		return ""
	}
	row := "thread"
	if t.c.Level == severity.ByProcess {
		row = "rank"
	}
	text := fmt.Sprintf("%d of %s", len(f.Threads), words.Plural(len(t.c.Threads), row))
	if row == "thread" && len(t.c.Processes) > 1 {
		ranks := map[int]bool{}
		for _, x := range f.Threads {
			ranks[t.c.Threads[x.Thread].Process] = true
		}
		text += fmt.Sprintf(", of %d of %s", len(ranks), words.Plural(len(t.c.Processes), "rank"))
	}
	return text + fmt.Sprintf("; longest: %s %s, %s sec", row, threadText(t.c, most.Thread), t.Seconds(most.Time))
}

func (t *text) saving(f *severity.Finding) string {
	if !f.Saving.Known {
		return ""
	}
	p := &t.c.Processes[f.Saving.Process]
	of := "the run's " + t.Seconds(p.Wall) + " sec"
	if len(t.c.Processes) > 1 {
		of = fmt.Sprintf("rank %d's %s sec, and not more of any other rank's", p.Rank, t.Seconds(p.Wall))
	}
	return "at most " + t.Seconds(f.Saving.Time) + " of " + of
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
