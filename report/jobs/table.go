package jobs

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"ompp-attach/job"
	"ompp-attach/report/words"
)

// table is a text table. A column is as wide as its widest cell. The first column is left-aligned,
// the others are right-aligned.
type table struct {
	indent int
	head   []string
	rows   [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// join adds a line. If the table has a line with the same cells, it adds the name to that line.
func (t *table) join(name string, cells ...string) {
	for _, r := range t.rows {
		if slices.Equal(r[1:], cells) {
			r[0] += ", " + name
			return
		}
	}
	t.add(append([]string{name}, cells...)...)
}

// withoutZeros leaves out those pairs of columns, a time and its share, that are 0 in all lines. It
// looks at the columns from one up to another.
func (t *table) withoutZeros(from, to int) {
	zero := func(s string) bool { return strings.Trim(s, "0.") == "" }
	for at := to - 2; at >= from; at -= 2 {
		if slices.ContainsFunc(t.rows, func(r []string) bool { return !zero(r[at]) || !zero(r[at+1]) }) {
			continue
		}
		t.head = slices.Delete(slices.Clone(t.head), at, at+2)
		for i := range t.rows {
			t.rows[i] = slices.Delete(t.rows[i], at, at+2)
		}
	}
}

// addFigure adds a line on a region's figure, unless the figure is 0 on all ranks.
func (t *jobText) addFigure(tab *table, g *job.Region, f job.Figure) {
	s := g.Stats(f)
	if s.Min == 0 && s.Max == 0 {
		return
	}
	show := func(v float64) string { return words.Decimal(v, 0, 1) }
	whole := func(v int64) string { return fmt.Sprint(v) }
	sum := s.Sum.String()
	if f.Unit() == "ns" {
		show = t.sec
		whole = func(v int64) string { return t.sec(float64(v)) }
		sum = t.sec(s.Total())
	}
	name := strings.TrimSuffix(strings.TrimSuffix(f.String(), "_minimal"), "_naive")
	tab.join(name, whole(s.Min), rankNum(s.MinRank), show(s.Mean), whole(s.Max), rankNum(s.MaxRank), show(s.StdDev),
		words.Decimal(100*s.Variation(), 0, 1)+"%", sum)
}

func (t *table) write(w io.Writer) {
	width := make([]int, len(t.head))
	for _, r := range append([][]string{t.head}, t.rows...) {
		for i, c := range r {
			width[i] = max(width[i], utf8.RuneCountInString(c))
		}
	}
	for _, r := range append([][]string{t.head}, t.rows...) {
		line := strings.Repeat(" ", t.indent)
		for i, c := range r {
			if i == 0 {
				line += fmt.Sprintf("%-*s", width[i], c)
			} else {
				line += fmt.Sprintf("  %*s", width[i], c)
			}
		}
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
}
