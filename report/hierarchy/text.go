package hierarchy

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"ompp-attach/hiera"
	"ompp-attach/report/words"
)

// WriteText writes the statistics for a reader.
func WriteText(w io.Writer, s *hiera.Statistics, o Options) error {
	out := bufio.NewWriter(w)
	program := words.Clean(s.Program)
	if program == "" {
		program = "a program"
	}
	fmt.Fprintf(out, "Hierarchical statistics of %s: %s, %d operations\n", program, processes(len(s.Processes)), s.Operations())
	summary(out, s)
	for _, x := range all {
		if t := x.build(s, o); t != nil {
			t.write(out, o.All)
		}
	}
	for i, n := range s.Notes {
		if i == 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintln(out, words.Clean(n))
	}
	return out.Flush()
}

// summary says in a line how long each library took.
func summary(out io.Writer, s *hiera.Statistics) {
	var parts []string
	for _, c := range s.Categories() {
		parts = append(parts, fmt.Sprintf("%s %s s", words.Clean(c), words.Decimal(float64(s.Exclusive(c))/1e9, 0, 3)))
	}
	if len(parts) > 0 {
		fmt.Fprintf(out, "Exclusive time, all processes: %s\n", strings.Join(parts, ", "))
	}
}

// write prints the table with columns as wide as their cells. Words are on the left, numbers on the
// right.
func (t *table) write(out io.Writer, everything bool) {
	fmt.Fprintf(out, "\n%s\n", t.title)
	rows := t.rows
	if t.few > 0 && len(rows) > t.few && !everything {
		rows = rows[:t.few]
	}
	lines := make([][]string, 0, len(rows)+1)
	var head []string
	for _, c := range t.columns {
		head = append(head, words.Clean(c.title))
	}
	lines = append(lines, head)
	for _, r := range rows {
		var cells []string
		for i, c := range t.columns {
			cells = append(cells, c.shown(r[i]))
		}
		lines = append(lines, cells)
	}
	width := make([]int, len(t.columns))
	for _, l := range lines {
		for i, cell := range l {
			width[i] = max(width[i], len([]rune(cell)))
		}
	}
	for _, l := range lines {
		var b strings.Builder
		for i, cell := range l {
			b.WriteString("  ")
			if t.columns[i].unit == text {
				fmt.Fprintf(&b, "%-*s", width[i], cell)
			} else {
				fmt.Fprintf(&b, "%*s", width[i], cell)
			}
		}
		fmt.Fprintln(out, strings.TrimRight(b.String(), " "))
	}
	if left := len(t.rows) - len(rows); left > 0 {
		fmt.Fprintf(out, "  ... and %d more rows: --all shows them.\n", left)
	}
	for _, n := range t.notes {
		fmt.Fprintf(out, "  %s\n", n)
	}
}

func processes(n int) string {
	if n == 1 {
		return "1 process"
	}
	return fmt.Sprintf("%d processes", n)
}
