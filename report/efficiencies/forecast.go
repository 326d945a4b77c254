package efficiencies

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strings"

	"ompp-attach/forecast"
	"ompp-attach/model"
	"ompp-attach/profile"
)

// WriteForecastText writes a matrix of ranks and threads with intervals, what measured runs say of
// its worth, the assumptions, and advice.
func WriteForecastText(w io.Writer, f *forecast.Forecast) error {
	out := bufio.NewWriter(w)
	t := &text{Writer: out}
	cells, exact := f.Cells(), digits(f)
	percentage := fmt.Sprintf("%.0f %%", 100*model.Coverage)
	t.section(fmt.Sprintf("Predicted seconds on up to %d cores, ranks down, threads per rank across", f.Cores))
	t.matrix(f, cells, func(c *forecast.Cell) string {
		s := "~" + exact(c.Time)
		if len(c.Measured) > 0 {
			s = "[" + s + "]"
		}
		return s + marks(c)
	}, func(c *forecast.Cell) string {
		return between(c.Interval, exact)
	})
	t.printf("Below each time the interval in which %s of runs lie, if the assumptions hold; -: none can be given.\n"+
		"*: the best. [ ]: also measured.", percentage)
	t.legend(cells)
	t.whys(cells)
	kind := "Efficiency: speed-up over one core, by the number of cores"
	if f.Weak {
		kind = "Efficiency: time on one core over time"
	}
	t.section(kind)
	t.matrix(f, cells, func(c *forecast.Cell) string { return "~" + percent(c.Efficiency) + marks(c) }, func(c *forecast.Cell) string {
		if c.Ranks*c.Threads == 1 {
			return "" // by definition
		}
		return between(c.EfficiencyInterval, func(v float64) string { return fmt.Sprintf("%.0f", 100*v) })
	})
	t.compared(f, exact)
	t.figures("Multithreading efficiency e_mt (Eq. 4) outside of MPI, as the paper's Table 3", f.Multithreading(), true)
	t.figures("Message-passing efficiency e_mp (Eq. 1), as the paper's Table 2", f.MessagePassing(), false)
	t.section("Assumptions")
	t.items(f.Assumptions())
	if advice := f.Advice(cells); len(advice) > 0 {
		t.printf("\n")
		t.section("Advice")
		t.items(advice)
	}
	return out.Flush()
}

// digits prints times with as many decimals, at least three,
// as show three digits of the shortest run.
func digits(f *forecast.Forecast) func(float64) string {
	const least, most = 3, 9
	shortest := math.Inf(1)
	for _, r := range f.Runs {
		shortest = min(shortest, r.Times.Time)
	}
	decimals := min(most, max(least, 2-int(math.Floor(math.Log10(shortest)))))
	return func(v float64) string { return fmt.Sprintf("%.*f", decimals, v) }
}

// items writes sentences as a list.
func (t *text) items(sentences []string) {
	for _, s := range sentences {
		t.printf(" * %s\n", profile.Pasteable(s))
	}
}

// marks are those of a cell: the best, too many threads, a fit that falls below 0, costs that were
// not measured.
func marks(c *forecast.Cell) (s string) {
	if c.Best {
		s += "*"
	}
	if c.Oversubscribed {
		s += "!"
	}
	if len(c.Below) > 0 {
		s += "v"
	}
	if c.CostsBeyond {
		s += "x"
	}
	return s
}

func (t *text) legend(cells []forecast.Cell) {
	var crowded, beyond bool
	below := map[string]bool{}
	var names []string
	for i := range cells {
		crowded, beyond = crowded || cells[i].Oversubscribed, beyond || cells[i].CostsBeyond
		for _, b := range cells[i].Below {
			if !below[b] {
				below[b] = true
				names = append(names, b)
			}
		}
	}
	if crowded {
		t.printf(" !: more threads than CPUs.")
	}
	if beyond {
		t.printf(" x: costs beyond those in the profile.")
	}
	if len(names) > 0 {
		t.printf("\nv: the fit of %s falls below 0 there and is taken for 0.", strings.Join(names, ", "))
	}
	t.printf("\n\n")
}

// whys says why cells have no interval.
func (t *text) whys(cells []forecast.Cell) {
	var order []string
	count := map[string]int{}
	for i := range cells {
		if why := cells[i].Interval.Why; why != "" {
			if count[why] == 0 {
				order = append(order, why)
			}
			count[why]++
		}
	}
	for _, why := range order {
		t.printf("No interval on %d of %d cells: %s.\n", count[why], len(cells), why)
	}
	if len(order) > 0 {
		t.printf("\n")
	}
}

func between(i model.Interval, show func(float64) string) string {
	if i.Why != "" {
		return "-"
	}
	return show(i.Low) + "-" + show(i.High)
}

// matrix writes cells, ranks down, threads across, each with a line and one below.
func (t *text) matrix(f *forecast.Forecast, cells []forecast.Cell, show, below func(*forecast.Cell) string) {
	width := 11
	for i := range cells {
		width = max(width, len(show(&cells[i])), len(below(&cells[i])))
	}
	t.printf("%8s", "p \\ n")
	for _, n := range f.Threads() {
		t.printf("  %*d", width, n)
	}
	t.printf("\n")
	for i := 0; i < len(cells); {
		end := i
		for end < len(cells) && cells[end].Ranks == cells[i].Ranks {
			end++
		}
		t.printf("%8d", cells[i].Ranks)
		for j := i; j < end; j++ {
			t.printf("  %*s", width, show(&cells[j]))
		}
		line := fmt.Sprintf("%8s", "")
		for j := i; j < end; j++ {
			line += fmt.Sprintf("  %*s", width, below(&cells[j]))
		}
		t.printf("\n%s\n", strings.TrimRight(line, " "))
		i = end
	}
	t.printf("\n")
}

// compared compares each measured run with what other runs foretell of it.
func (t *text) compared(f *forecast.Forecast, exact func(float64) string) {
	t.section("Measured runs, and what others foretell of each")
	rows := f.Compare()
	if len(rows) == 0 {
		t.printf("Runs on fewer than three cells cannot foretell each other: what the prediction is worth is not known.\n\n")
		return
	}
	t.printf("%11s %11s %11s %9s %17s  %s\n", "p x n", "measured", "predicted", "error", "interval", "learnt from")
	learnt := false
	for _, c := range rows {
		inside, from := "", "the other cells"
		if c.Against {
			from = "all but this"
		} else {
			learnt = true
		}
		if c.Interval.Why == "" && !c.Inside {
			inside = " outside"
		}
		t.printf("%5d x %-3d %11s %11s %9s %17s  %s%s\n", c.Ranks, c.Threads, exact(c.Measured), "~"+exact(c.Predicted), percent(c.Error),
			between(c.Interval, exact), from, inside)
	}
	t.printf("\nThe error is |predicted - measured| / measured.")
	if !learnt {
		t.printf("\nRuns on fewer than three cells cannot foretell each other.")
	}
	t.printf("\n\n")
}

func (t *text) figures(title string, rows []forecast.Figure, overhead bool) {
	if len(rows) == 0 {
		return
	}
	t.section(title)
	t.printf("%11s", "p x n")
	if overhead {
		t.printf(" %11s", "O (sec)")
	}
	t.printf(" %11s %11s %9s\n", "estimated", "real", "error")
	for _, x := range rows {
		t.printf("%5d x %-3d", x.Ranks, x.Threads)
		if overhead {
			t.printf(" %11s", fmt.Sprintf("~%.4f", x.Overhead))
		}
		from := ""
		if x.Against {
			from = "  not learnt from"
		}
		t.printf(" %11s %11.3f %9s%s\n", fmt.Sprintf("~%.3f", x.Estimated), x.Real, percent(x.Error), from)
	}
	if overhead {
		t.printf("\nO: overhead and waiting for threads. Cells that were learnt from are estimated with their own run.\n\n")
	} else {
		t.printf("\nAbove 1 the hybrid run communicates for longer than one thread per rank on as many cores.\n\n")
	}
}
