package properties

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
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
	t.causes("What late threads did more than those who waited for them at barriers, worst first:", t.c.Delays())
	t.causes("What threads did while others waited for the locks that they held, worst first:", t.c.Held())
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
	line("of it", t.parts(f))
	line("due to", t.dueTo(f))
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

// parts says what the time is made of.
func (t *text) parts(f *severity.Finding) string {
	var parts []string
	for _, p := range f.Parts {
		mark := ""
		if p.Mark != 0 {
			mark = "~"
		}
		parts = append(parts, fmt.Sprintf("%s %s%s sec", strings.ToLower(t.c.Properties[p.Property].Name), mark, t.Seconds(p.Time)))
	}
	return strings.Join(parts, ", ")
}

// dueTo says which threads others waited for at a barrier.
func (t *text) dueTo(f *severity.Finding) string {
	if t.c.Properties[f.Property].Gain != severity.Balance {
		return t.heldBy(f)
	}
	last := t.c.LastAt(f.Path)
	var threads []string
	for i, x := range last {
		if i >= few || x.Time*20 < last[0].Time {
			threads = append(threads, fmt.Sprintf("and %d more", len(last)-i))
			break
		}
		threads = append(threads, fmt.Sprintf("thread %s, which came last %s and held up others for %s sec%s", threadText(t.c, x.Thread), times(x.Times), t.Seconds(x.Time), t.cameFrom(f.Path, x.Thread)))
	}
	held, waited := int64(0), int64(0)
	for _, x := range last {
		held += x.Time
	}
	for _, p := range f.Parts {
		waited += p.Time
	}
	if held > waited+waited/10 {
		threads = append(threads, "with the others' time without a core")
	}
	return strings.Join(threads, "; ")
}

// heldBy says which threads held a critical section or lock while others waited for it.
func (t *text) heldBy(f *severity.Finding) string {
	locks := func(p severity.Part) bool {
		return strings.HasSuffix(t.c.Properties[p.Property].ID, severity.Contended)
	}
	if !slices.ContainsFunc(f.Parts, locks) {
		return ""
	}
	held := map[int]int64{}
	for _, x := range t.c.Holders(f.Path) {
		held[x.Thread] += x.Time
	}
	threads := slices.SortedFunc(maps.Keys(held), func(a, b int) int { return cmp.Or(cmp.Compare(held[b], held[a]), a-b) })
	var names []string
	for i, x := range threads {
		if i >= few {
			names = append(names, fmt.Sprintf("and %d more", len(threads)-i))
			break
		}
		names = append(names, fmt.Sprintf("thread %s, which held it while others waited for %s sec", threadText(t.c, x), t.Seconds(held[x])))
	}
	return strings.Join(names, "; ")
}

// cameFrom says from where a thread came last. The record has that for all barriers of the team. To
// the barrier of a construct it came from the construct itself.
func (t *text) cameFrom(path, thread int) string {
	from := t.c.CameFrom(path, thread)
	name := func(x severity.Cause) string {
		region := t.c.Paths[x.Path].Region
		return words.Region(&t.c.Regions[region]) + " " + t.c.Regions[region].Construct.String()
	}
	switch {
	case len(from) == 0 || slices.ContainsFunc(from, func(x severity.Cause) bool { return x.Path == path }):
		return ""
	case len(from) == 1:
		return ", from " + name(from[0])
	}
	return fmt.Sprintf(", at this team's barriers mostly from %s", name(from[0]))
}

// few is the largest number of threads or call paths that a line names.
const few = 3

func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// causes prints what threads did for which others waited.
func (t *text) causes(title string, all []severity.Cause) {
	left, rest := 0, int64(0)
	if len(all) == 0 || analysis.Ratio(all[0].Time, t.c.ThreadTime) < little && !t.All {
		return
	}
	for i, x := range all {
		if i == 0 {
			t.lines("\n", title)
			fmt.Fprintln(t)
		}
		if analysis.Ratio(x.Time, t.c.ThreadTime) < little && !t.All || i >= most && !t.All {
			left++
			rest += x.Time
			continue
		}
		t.lines(fmt.Sprintf("%s sec  %s %%  ", t.Seconds(x.Time), t.share(x.Time)), fmt.Sprintf("thread %s in %s", threadText(t.c, x.Thread), pathText(t.c, x.Path)))
	}
	if left > 0 {
		fmt.Fprintf(t, "... and %d more, %s sec together\n", left, t.Seconds(rest))
	}
}

func (t *text) saving(f *severity.Finding) string {
	if !f.Saving.Known {
		return ""
	}
	p := &t.c.Processes[f.Saving.Process]
	of := "the run's " + t.Seconds(p.Wall) + " sec"
	if len(t.c.Processes) > 1 {
		of = fmt.Sprintf("rank %d's %s sec, and not more of any other rank's, besides less waiting in MPI", p.Rank, t.Seconds(p.Wall))
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
