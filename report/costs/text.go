// Package costs writes a system profile as text: tables, with a bar where a curve says more.
package costs

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"ompp-attach/system"
)

// Write writes the profile as tables.
func Write(w io.Writer, p *system.Profile) error {
	out := bufio.NewWriter(w)
	t := &text{Writer: out, p: p}
	t.machine()
	t.software()
	t.openmp()
	t.messages()
	t.collectives()
	t.hybrid()
	t.rates()
	t.probe()
	t.notes()
	return out.Flush()
}

type text struct {
	*bufio.Writer
	p *system.Profile
	// marks that were used, and are to be explained
	bound, oversubscribed bool
}

func (t *text) printf(format string, args ...any) { fmt.Fprintf(t, format, args...) }

func (t *text) section(title string) { t.printf("\n%s\n%s\n", title, strings.Repeat("-", len(title))) }

// table writes rows of cells, the first of which are to the left.
func (t *text) table(left int, rows [][]string) {
	right := tabwriter.NewWriter(t, 0, 8, 2, ' ', 0)
	widths := map[int]int{}
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], len(cell))
		}
	}
	for _, row := range rows {
		cells := slices.Clone(row)
		for i := left; i < len(cells); i++ {
			if !strings.HasPrefix(cells[i], "#") {
				cells[i] = strings.Repeat(" ", widths[i]-len(cells[i])) + cells[i]
			}
		}
		fmt.Fprintln(right, strings.TrimRight(strings.Join(cells, "\t"), " \t"))
	}
	right.Flush()
}

// us is a figure in microseconds with its standard error and marks.
func (t *text) us(f system.Figure, over bool) string {
	return t.marked(micros(f.Median), micros(f.Error), f, over)
}

func (t *text) marked(value, err string, f system.Figure, over bool) string {
	marks := ""
	if f.Stopped == system.Bound {
		marks, t.bound = "*", true
	}
	if over {
		marks, t.oversubscribed = marks+"!", true
	}
	return fmt.Sprintf("%s +- %s%-2s", value, err, marks)
}

// micros writes ns as microseconds, with three digits that count.
func micros(ns float64) string { return digits(ns / 1e3) }

func digits(x float64) string {
	switch a := math.Abs(x); {
	case a >= 100:
		return fmt.Sprintf("%.0f", x)
	case a >= 10:
		return fmt.Sprintf("%.1f", x)
	case a >= 1:
		return fmt.Sprintf("%.2f", x)
	case a < 0.0005:
		return "0.000" // and no -0.000
	default:
		return fmt.Sprintf("%.3f", x)
	}
}

// amount writes a number of bytes as people say it.
func amount(n uint64) string {
	for _, u := range []struct {
		size uint64
		name string
	}{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if n >= u.size {
			return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/float64(u.size)), ".0") + " " + u.name
		}
	}
	return fmt.Sprintf("%d B", n)
}

// quiet is how many CPUs others may use without a note.
const quiet = 0.05

// bar is as long as a value's part of the greatest.
func bar(x, most float64) string {
	const width = 24
	if most <= 0 || x <= 0 {
		return ""
	}
	return strings.Repeat("#", max(1, int(math.Round(width*x/most))))
}

func (t *text) notes() {
	p := t.p
	t.printf("\n")
	if m := p.Method; m.Error > 0 {
		t.printf("Figures are medians with their standard errors. Each was repeated until its error was below\n")
		t.printf("%g %%, at most %d samples or %g s.\n", 100*m.Error, m.Samples, m.Seconds)
	}
	if t.bound {
		t.printf("*  a bound was reached first: the error is larger\n")
	}
	if t.oversubscribed {
		t.printf("!  more threads or processes than CPUs: waiting for a CPU is in it\n")
	}
	if p.Others > quiet {
		t.printf("Other programs used %.2f CPUs meanwhile: the figures show them, too.\n", p.Others)
	}
	for _, l := range p.LeftOut {
		t.printf("Left out: %s: %s.\n", l.Part, strings.TrimSuffix(l.Reason, "."))
	}
	if p.Interrupted {
		t.printf("The measurement was interrupted: what had been measured is here.\n")
	}
}
