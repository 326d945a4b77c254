// Package difference writes the comparison of two sides as text and as JSON.
package difference

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"ompp-attach/compare"
	"ompp-attach/job"
	"ompp-attach/profile"
	"ompp-attach/report/words"
)

// Options are choices of the reader.
type Options struct {
	All bool // all regions, not only those with the greatest changes
}

const (
	// mostRegions bounds the regions that the table shows, unless Options ask for all.
	mostRegions = 20
	// little is the share of the thread time below which a region's change is not shown by
	// itself, 0 to 1.
	little = 0.001
)

// WriteText writes a comparison for people.
func WriteText(w io.Writer, c *compare.Comparison, o Options) error {
	t := &text{Writer: bufio.NewWriter(w), c: c, Options: o}
	t.clock = clockOf(c)
	t.head()
	t.findings()
	t.program()
	t.regions()
	t.only(compare.After, "New in B")
	t.only(compare.Before, "Gone from A")
	t.counters()
	t.notes()
	return t.Flush()
}

// text is a report that is being written. The bufio.Writer keeps errors until the final Flush.
type text struct {
	*bufio.Writer
	Options
	c *compare.Comparison
	clock
}

func (t *text) printf(format string, args ...any) { fmt.Fprintf(t, format, args...) }

// wrapped writes a paragraph.
func (t *text) wrapped(first, indent, s string) {
	const width = 100
	column, lead := 0, first
	for _, word := range strings.Fields(profile.Pasteable(s)) {
		if column > 0 && column+1+len(word) > width {
			t.printf("\n")
			column, lead = 0, indent
		}
		if column == 0 {
			t.printf("%s%s", lead, word)
			column = len(lead) + len(word)
			continue
		}
		t.printf(" %s", word)
		column += 1 + len(word)
	}
	t.printf("\n")
}

func (t *text) head() {
	for side, runs := range t.c.Sides {
		var names, programs []string
		for _, run := range runs {
			names = append(names, run.Name)
			for i := range run.Job.Ranks {
				if p := run.Job.Ranks[i].Program; !slices.Contains(programs, p) {
					programs = append(programs, p)
				}
			}
		}
		t.wrapped(string("AB"[side])+": ", "   ", fmt.Sprintf("%s (%s of %s, %s)", strings.Join(names, ", "), words.Plural(len(runs), "run"),
			strings.Join(programs, ", "), compare.Width(runs[0].Job)))
	}
	t.printf("\n")
}

// findings names what is more than noise.
func (t *text) findings() {
	if !t.c.Repeated() {
		return
	}
	t.printf("Findings\n")
	all := findings(t.c)
	for _, f := range all {
		t.wrapped("  ", "    ", f.says)
	}
	if len(all) == 0 {
		t.wrapped("  ", "    ", Headline(t.c))
	}
	t.wrapped("  ", "  ", "("+testedText(t.c)+")")
	t.printf("\n")
}

// median writes a side's median, with its interval if there is one.
func (t *text) median(s compare.Summary, unit string) string {
	v := t.amount(s.Median, unit)
	if s.Confidence > 0 && s.Median != 0 {
		v += fmt.Sprintf(" ±%2.0f%%", 100*math.Max(s.Hi-s.Median, s.Median-s.Lo)/math.Abs(s.Median))
	}
	return v
}

func (t *text) amount(v float64, unit string) string {
	if unit == "ns" {
		return t.sec(v)
	}
	return compare.Amount(v, unit)
}

// change writes a change in percent, and its chance to be noise.
func change(x compare.Change) (percent, p string) {
	switch r := x.Ratio(); {
	case r == 0:
		percent = "="
	case math.IsInf(r, 0):
		percent = "from 0"
	default:
		percent = fmt.Sprintf("%+.1f%%", 100*r)
	}
	if x.Tested {
		p = fmt.Sprintf("%.3f", x.P)
	}
	return percent, p
}

func (t *text) program() {
	tab := table{head: []string{"Program", "A", "B", "change", "p"}}
	for _, q := range t.c.Program {
		a, b := q.Change.Sides[0], q.Change.Sides[1]
		if a.Median == 0 && b.Median == 0 {
			continue
		}
		percent, p := change(q.Change)
		tab.add(q.Name, t.median(a, q.Unit), t.median(b, q.Unit), percent, p)
	}
	tab.write(t)
	t.printf("  wall: the longest process; the other times: sums over threads; serial: outside of all\n  regions; work: in regions, in no class of overhead; idle: workers outside of regions\n\n")
}

// shown are the regions that both sides have and whose change is worth a row.
func (t *text) shown() (rows []*compare.Region, others int) {
	all := math.Max(t.c.Quantity("threads").Change.Sides[0].Median, t.c.Quantity("threads").Change.Sides[1].Median)
	for _, r := range t.c.Regions {
		if r.New() || r.Gone() {
			continue
		}
		own := r.Change(compare.OwnT)
		execs := r.Change(compare.Executions)
		if !t.All && !r.Changed() && (len(rows) >= mostRegions || math.Abs(own.Delta()) < little*all && r.Share < compare.Worthwhile && execs.Delta() == 0) {
			others++
			continue
		}
		rows = append(rows, r)
	}
	return rows, others
}

func (t *text) regions() {
	rows, others := t.shown()
	if len(rows)+others == 0 {
		return
	}
	tab := table{head: []string{"Regions, own time of all threads", "A", "B", "change", "", "p", "executions"}}
	moved, marked := 0, 0
	for _, r := range rows {
		own := r.Change(compare.OwnT)
		percent, p := change(own)
		if r.Changed() {
			p += " *"
			marked++
		} else if p != "" {
			p += "  "
		}
		name := compare.Title(r.Any())
		if r.Moved() {
			moved++
		}
		tab.add(name, t.median(own.Sides[0], "ns"), t.median(own.Sides[1], "ns"), t.delta(own.Delta()), percent, p, counts(r.Change(compare.Executions)))
		if t.All || r.Changed() || t.notable(own) {
			tab.note("    " + t.parts(r) + t.volume(r))
		}
	}
	tab.write(t)
	if marked > 0 {
		t.printf("  *: named above; p is that of the own time\n")
	}
	if moved > 0 {
		t.printf("  %s in other lines now: the places are B's.\n", isAre(moved, "region is", "regions are"))
	}
	if others > 0 {
		t.printf("  %s hardly changed (--all shows them).\n", isAre(others, "further region has", "further regions have"))
	}
	t.printf("\n")
}

// notable tells whether a change may be more than noise.
func (t *text) notable(x compare.Change) bool {
	const little = 0.02
	return x.Tested && x.P < t.c.Alpha || !x.Tested && math.Abs(x.Ratio()) >= little
}

func isAre(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", many)
}

func counts(x compare.Change) string {
	a, b := compare.Amount(x.Sides[0].Median, "count"), compare.Amount(x.Sides[1].Median, "count")
	if a == b {
		return a
	}
	return a + " -> " + b
}

// volume says how the bytes of a region changed.
func (t *text) volume(r *compare.Region) string {
	_, _, both := job.Volumes(t.c.Volumes)
	x := r.Change(compare.Figure(both))
	if x.Delta() == 0 {
		return ""
	}
	return fmt.Sprintf(", bytes %s -> %s", compare.Amount(x.Sides[0].Median, "bytes"), compare.Amount(x.Sides[1].Median, "bytes"))
}

// only lists the regions that one side alone has.
func (t *text) only(side int, title string) {
	all := t.c.Only(side)
	if len(all) == 0 {
		return
	}
	tab := table{head: []string{title, "own time", "executions"}}
	for i, r := range all {
		if i == mostRegions && !t.All {
			tab.note(fmt.Sprintf("    and %d more (--all)", len(all)-i))
			break
		}
		tab.add(compare.Title(r.Any()), t.median(r.Change(compare.OwnT).Sides[side], "ns"), compare.Amount(r.Change(compare.Executions).Sides[side].Median, "count"))
	}
	tab.write(t)
	t.printf("\n")
}

func (t *text) counters() {
	tab := table{head: []string{"Counters, inner regions included", "", "A", "B", "change", "p"}}
	rows, _ := t.shown()
	for _, r := range rows {
		name := compare.Title(r.Any())
		for _, counter := range r.Counters() {
			x := r.Counter(counter)
			if !t.All && !t.notable(x) {
				continue
			}
			percent, p := change(x)
			tab.add(name, counter, compare.Amount(x.Sides[0].Median, "count"), compare.Amount(x.Sides[1].Median, "count"), percent, p)
			name = ""
		}
	}
	if len(tab.rows) > 0 {
		tab.write(t)
		t.printf("\n")
	}
}

func (t *text) notes() {
	if len(t.c.Notes) == 0 {
		return
	}
	t.printf("Notes\n")
	for _, n := range t.c.Notes {
		t.wrapped("  - ", "    ", n)
	}
}
