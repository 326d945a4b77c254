package efficiencies

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"

	"ompp-attach/efficiency"
	"ompp-attach/model"
)

// Forecast is a prediction, and the processors to which it is limited.
type Forecast struct {
	*model.Prediction
	Scaling *efficiency.Scaling
	Cores   int
}

// cell is a predicted run.
type cell struct {
	Ranks      int      `json:"ranks"`
	Threads    int      `json:"threads"`
	Time       float64  `json:"predicted_s"`
	Efficiency float64  `json:"efficiency"` // speed-up over 1 x 1, also predicted, by the cores used; weak: the time of 1 x 1 over this one's
	Measured   *float64 `json:"measured_s,omitempty"`
	Best       bool     `json:"best,omitempty"`
}

// numbers returns the powers of two up to the cores, and the measured numbers.
func (f *Forecast) numbers(of func(*efficiency.Scaled) int) (all []int) {
	for n := 1; n <= f.Cores; n *= 2 {
		all = append(all, n)
	}
	for i := range f.Scaling.Runs {
		if n := of(&f.Scaling.Runs[i]); n <= f.Cores {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// ranks returns the numbers of ranks. A program without MPI has no others than the measured ones.
func (f *Forecast) ranks() []int {
	if !f.usesMPI() {
		return slices.Compact(f.sorted(func(x *efficiency.Scaled) int { return x.Ranks }))
	}
	return f.numbers(func(x *efficiency.Scaled) int { return x.Ranks })
}

func (f *Forecast) usesMPI() bool {
	return slices.ContainsFunc(f.Scaling.Runs, func(x efficiency.Scaled) bool { return x.UsesMPI() })
}

func (f *Forecast) threads() []int {
	return f.numbers(func(x *efficiency.Scaled) int { return x.PerRank })
}

// cells returns all cells that fit the cores, the best one marked: that with the least time; for
// weak scaling, of those with most cores.
func (f *Forecast) cells() (out []cell) {
	one := f.At(1, 1)
	best := -1
	for _, p := range f.ranks() {
		for _, n := range f.threads() {
			if p*n > f.Cores {
				continue
			}
			c := cell{Ranks: p, Threads: n, Time: f.At(p, n)}
			c.Efficiency = one / c.Time
			if !f.Scaling.Weak {
				c.Efficiency /= float64(p * n)
			}
			for i := range f.Scaling.Runs {
				if x := &f.Scaling.Runs[i]; x.Ranks == p && x.PerRank == n && c.Measured == nil {
					t := float64(x.Runtime) / 1e9
					c.Measured = &t
				}
			}
			out = append(out, c)
			if b := len(out) - 1; best < 0 || !f.Scaling.Weak && c.Time < out[best].Time ||
				f.Scaling.Weak && (p*n > out[best].Ranks*out[best].Threads || p*n == out[best].Ranks*out[best].Threads && c.Time < out[best].Time) {
				best = b
			}
		}
	}
	if best >= 0 {
		out[best].Best = true
	}
	return out
}

// WriteForecastText writes a matrix of ranks and threads, what measured runs say of its worth, the
// assumptions, and advice.
func WriteForecastText(w io.Writer, f *Forecast, o Options) error {
	out := bufio.NewWriter(w)
	t := &text{Writer: out, Options: o}
	cells := f.cells()
	t.section(fmt.Sprintf("Predicted seconds on up to %d cores, ranks down, threads per rank across", f.Cores))
	matrix := func(show func(c *cell) string) {
		t.printf("%8s", "p \\ n")
		for _, n := range f.threads() {
			t.printf(" %11d", n)
		}
		for i, last := 0, 0; i < len(cells); i++ {
			if cells[i].Ranks != last {
				last = cells[i].Ranks
				t.printf("\n%8d", last)
			}
			t.printf(" %11s", show(&cells[i]))
		}
		t.printf("\n\n")
	}
	matrix(func(c *cell) string {
		mark := " "
		if c.Best {
			mark = "*"
		}
		if c.Measured != nil {
			return fmt.Sprintf("[~%.3f]%s", c.Time, mark)
		}
		return fmt.Sprintf("~%.3f %s", c.Time, mark)
	})
	t.printf("*: the best. [ ]: also measured.\n\n")
	kind := "Speed-up over one core, by core"
	if f.Scaling.Weak {
		kind = "Time on one core over time"
	}
	t.section(kind)
	matrix(func(c *cell) string { return "~" + percent(c.Efficiency) })
	t.checked(f)
	t.section("Assumptions")
	for _, n := range f.assumptions() {
		t.printf(" * %s\n", n)
	}
	if advice := f.advice(cells); len(advice) > 0 {
		t.printf("\n")
		t.section("Advice")
		for _, n := range advice {
			t.printf(" * %s\n", n)
		}
	}
	return out.Flush()
}

// checked compares each measured run with what the other runs foretell of it.
func (t *text) checked(f *Forecast) {
	t.section("Measured runs, and what the other runs foretell of each")
	checks := f.Check()
	if checks == nil {
		t.printf("Fewer than three runs: by how much predictions may be off is not known.\n\n")
		return
	}
	t.printf("%9s %11s %11s %9s\n", "p x n", "measured", "predicted", "error")
	for _, c := range checks {
		t.printf("%4d x %-4d %9.3f %11s %9s\n", c.Ranks, c.Threads, c.Time, fmt.Sprintf("~%.3f", c.Predicted), percent(c.Error))
	}
	t.printf("\nThe error is |predicted - measured| / measured. Predictions of other cells may be off by more than the\n"+
		"greatest one, %s.\n\n", percent(f.Worst()))
}

// power prints a fitted function of p.
func power(f model.Power) string {
	const shown = 0.0005
	switch {
	case math.Abs(f.B) < shown:
		return fmt.Sprintf("%.3f sec", math.Abs(f.A))
	case math.Abs(f.A) < shown && f.B > 0:
		return fmt.Sprintf("%.3f sec / p^%.2f", f.B, f.C)
	case f.B < 0:
		return fmt.Sprintf("%.3f sec - %.3f sec / p^%.2f", f.A, -f.B, f.C)
	}
	return fmt.Sprintf("%.3f sec + %.3f sec / p^%.2f", f.A, f.B, f.C)
}

func (f *Forecast) assumptions() []string {
	places := len(slices.Compact(f.sorted(func(x *efficiency.Scaled) int { return x.Ranks })))
	from := "fitted"
	if places == 1 {
		from = "assumed, since all runs have as many ranks"
	} else if places == 2 {
		from = "fitted with an assumed exponent, since there are two numbers of ranks"
	}
	out := []string{
		fmt.Sprintf("Per rank, over p ranks (%s): serial work %s; thread time of parallel work %s; MPI %s.", from, power(f.Serial), power(f.Work), power(f.MPI)),
		fmt.Sprintf("%s of the parallel work stays with one thread while the others wait (limited parallelism).", percent(f.Unparallel)),
		"Growth of the work with threads" + stepsText(f.Growth, "x%.3f") + ".",
		"Waiting for other threads, as a part of the work" + stepsText(f.Uneven, "%.3f") + ".",
		"The runtime's own work in sec" + stepsText(f.Overhead, "%.4f") + ".",
		"MPI does not depend on the threads; its waits for late ranks are as measured.",
	}
	if len(f.Growth) == 1 {
		out = append(out, "All runs have as many threads: how work and waiting grow with threads is not known, and taken as measured.")
	}
	if math.Abs(f.Rest) >= little {
		out = append(out, fmt.Sprintf("%s of the measured time has none of these causes (no core, ranks that wait): taken to stay in proportion.", percent(f.Rest)))
	}
	return append(out, f.Scaling.Troubles()...)
}

func (f *Forecast) sorted(of func(*efficiency.Scaled) int) (all []int) {
	for i := range f.Scaling.Runs {
		all = append(all, of(&f.Scaling.Runs[i]))
	}
	slices.Sort(all)
	return all
}

func stepsText(s model.Steps, format string) string {
	text := ""
	for i, x := range s {
		sep := ": "
		if i > 0 {
			sep = ", "
		}
		text += sep + fmt.Sprintf(format, x.Value) + fmt.Sprintf(" at n = %d", x.At)
	}
	return text + "; linear between, constant beyond"
}

// pays is the least gain by which twice the threads or ranks pay.
const pays = 0.1

func (f *Forecast) advice(cells []cell) (out []string) {
	at := slices.IndexFunc(cells, func(c cell) bool { return c.Best })
	if at < 0 || f.Scaling.Weak {
		return nil
	}
	best := cells[at]
	out = append(out, fmt.Sprintf("The least time, ~%.3f sec, is that of %s of %s.", best.Time, plural(best.Ranks, "rank"), plural(best.Threads, "thread")))
	ranks := f.Scaling.Runs[0].Ranks
	for n := 1; ranks*2*n <= f.Cores; n *= 2 {
		now, twice := f.At(ranks, n), f.At(ranks, 2*n)
		if gain := 1 - twice/now; gain < pays {
			out = append(out, fmt.Sprintf("With %s, threads beyond %d do not pay: twice as many %s.", plural(ranks, "rank"), n, gainText(gain)))
			break
		}
	}
	threads := f.Scaling.Runs[0].PerRank
	for p := 1; f.usesMPI() && 2*p*threads <= f.Cores; p *= 2 {
		now, twice := f.At(p, threads), f.At(2*p, threads)
		if gain := 1 - twice/now; gain < pays {
			out = append(out, fmt.Sprintf("With %s per rank, ranks beyond %d do not pay: twice as many %s.", plural(threads, "thread"), p, gainText(gain)))
			break
		}
	}
	if share := f.Communication(best.Ranks, best.Threads); share >= little {
		out = append(out, fmt.Sprintf("There, communication is ~%s of the time, so that is all that faster communication could gain.", percent(share)))
	}
	return out
}

func gainText(gain float64) string {
	if gain < 0 {
		return fmt.Sprintf("take ~%s longer", percent(-gain))
	}
	return fmt.Sprintf("gain ~%s", percent(gain))
}

type forecastJSON struct {
	Version     int           `json:"version"`
	Weak        bool          `json:"weak"`
	Cores       int           `json:"cores"`
	Estimated   []string      `json:"estimated"`
	Cells       []cell        `json:"cells"`
	Checks      []checkedJSON `json:"checks"` // empty: fewer than three runs
	Serial      model.Power   `json:"serial"`
	Work        model.Power   `json:"work"`
	MPI         model.Power   `json:"mpi"`
	Growth      model.Steps   `json:"growth"`
	Uneven      model.Steps   `json:"uneven"`
	Overhead    model.Steps   `json:"overhead"`
	Unparallel  float64       `json:"unparallel"`
	Rest        float64       `json:"rest"`
	Assumptions []string      `json:"assumptions"`
	Advice      []string      `json:"advice"`
}

type checkedJSON struct {
	Ranks     int     `json:"ranks"`
	Threads   int     `json:"threads"`
	Measured  float64 `json:"measured_s"`
	Predicted float64 `json:"predicted_s"`
	Error     float64 `json:"error"`
}

// WriteForecastJSON writes all of it.
func WriteForecastJSON(w io.Writer, f *Forecast, _ Options) error {
	cells := f.cells()
	out := forecastJSON{Version: jsonVersion, Weak: f.Scaling.Weak, Cores: f.Cores, Estimated: []string{"all but measured_s"}, Cells: cells, Checks: []checkedJSON{},
		Serial: f.Serial, Work: f.Work, MPI: f.MPI, Growth: f.Growth, Uneven: f.Uneven, Overhead: f.Overhead, Unparallel: f.Unparallel, Rest: f.Rest,
		Assumptions: f.assumptions(), Advice: append([]string{}, f.advice(cells)...)}
	for _, c := range f.Check() {
		out.Checks = append(out.Checks, checkedJSON{c.Ranks, c.Threads, c.Time, c.Predicted, c.Error})
	}
	return encode(w, out)
}
