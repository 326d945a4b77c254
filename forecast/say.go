package forecast

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"ompp-attach/efficiency"
	"ompp-attach/model"
	"ompp-attach/mpi"
)

// little is the share of a time below which no sentence mentions something.
const little = 0.01

func percent(v float64) string { return fmt.Sprintf("%.1f%%", 100*v) }

// plural prints a number of things.
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// seconds prints a time with three significant digits.
func seconds(t float64) string {
	if t != 0 && math.Abs(t) < 0.01 {
		return fmt.Sprintf("%.3g sec", t)
	}
	return fmt.Sprintf("%.3f sec", t)
}

// power prints a fitted function of p.
func power(f model.Power) (text string) {
	a, b := seconds(f.A), seconds(math.Abs(f.B))+fmt.Sprintf(" / p^%.2f", f.C)
	switch {
	case f.B == 0:
		return a
	case f.A == 0:
		text = b
	case f.B < 0:
		text = a + " - " + b
	default:
		text = a + " + " + b
	}
	if f.Held {
		text += " (a constant part below 0 is taken for 0)"
	}
	return text
}

func stepsText(s model.Steps, format string) string {
	var parts []string
	for _, x := range s {
		parts = append(parts, fmt.Sprintf(format, x.Value)+fmt.Sprintf(" at n = %d", x.At))
	}
	return strings.Join(parts, ", ") + "; linear between, constant beyond"
}

// places returns the number of different values.
func (f *Forecast) places(of func(*model.Measured) int) int {
	all := map[int]bool{}
	for _, r := range f.Runs {
		all[of(r.Times)] = true
	}
	return len(all)
}

// Assumptions returns sentences on what the prediction supposes, and on how good the runs are for
// it.
func (f *Forecast) Assumptions() (out []string) {
	ranks, threads := f.places(func(p *model.Measured) int { return p.Ranks }), f.places(func(p *model.Measured) int { return p.Threads })
	from := "the nearest of the exponents 1, 2/3, 1/2"
	switch ranks {
	case 1:
		from = "assumed, since all runs have as many ranks"
	case 2:
		from = "with an assumed exponent, since there are two numbers of ranks"
	}
	if f.Weak {
		out = append(out, "The problem grows with the threads of all ranks (weak scaling): each thread has the same work in each cell.")
	} else {
		out = append(out, "The problem is the same on all cells (strong scaling).")
	}
	work := "thread time of parallel work"
	if f.Weak {
		work += ", by thread,"
	}
	out = append(out, fmt.Sprintf("Per rank, over p ranks (%s): serial work %s; %s %s.", from, power(f.Serial), work, power(f.Work)),
		fmt.Sprintf("%s of the parallel work stays with one thread while the others wait (limited parallelism).", percent(f.Unparallel)),
		"Growth of the work with threads: "+stepsText(f.Growth, "x%.3f")+".",
		"Waiting for other threads, as a part of the work: "+stepsText(f.Uneven, "%.3f")+".")
	switch costs := f.Costs.(type) {
	case *model.Recorded:
		out = append(out, "The runtime's own work in sec: "+stepsText(costs.ByThreads, "%.4f")+".",
			"MPI, with its waits for late ranks: "+power(costs.ByRanks)+alone(costs.Alone)+". MPI does not depend on the threads.")
	case *systemCosts:
		out = append(out, costs.assumptions()...)
		out = append(out, costs.notes(f.Runs)...)
	}
	if threads == 1 {
		out = append(out, "All runs have the same number of threads: how work and waiting change with threads is not known, and assumed as measured.")
		out = append(out, f.bandwidth()...)
	}
	if math.Abs(f.Beyond-1) >= little {
		out = append(out, fmt.Sprintf("The measured time is x%.3f the sum of these parts (cores taken by others, ranks that wait): this factor is assumed to stay.", f.Beyond))
	}
	switch {
	case f.CPUs > 0:
		out = append(out, fmt.Sprintf("The machine has %s. More threads compute for their number over that as long, as if all always wanted to run; cells with more (!) are rough.", plural(f.CPUs, "CPU")))
	default:
		out = append(out, "The number of CPUs is not known, so no cell is marked for more threads than CPUs: give --cpus.")
	}
	return append(out, f.troubles()...)
}

func alone(t *float64) string {
	if t == nil {
		return ""
	}
	return ", and with one rank " + seconds(*t)
}

func (s *systemCosts) assumptions() (out []string) {
	var names, fixed []string
	for _, c := range s.constructs {
		names = append(names, c.construct.String())
		if c.shared == spread || c.shared == inTurn && !c.construct.IsParallel() {
			fixed = append(fixed, c.construct.String())
		}
	}
	if len(names) > 0 {
		out = append(out, "The runtime's own work is by the system profile: executions of "+strings.Join(names, ", ")+
			" times the cost of one, as by an idle machine and threads that come at once. What the runs lost beyond that is in the waiting.")
	}
	if len(fixed) > 0 {
		out = append(out, "A rank has as many executions of "+strings.Join(fixed, ", ")+" for any number of threads.")
	}
	names = nil
	var collective []string
	for _, c := range s.calls {
		n := c.op.String()
		if !slices.Contains(names, n) {
			names = append(names, n)
		}
		if c.op.Info().Kind != mpi.PointToPoint && !slices.Contains(collective, n) {
			collective = append(collective, n)
		}
	}
	if len(names) > 0 {
		out = append(out, "MPI's transfer is by the system profile, for the farthest processes that it has: calls and bytes of "+strings.Join(names, ", ")+
			", fitted over the ranks. Each message counts once.")
	}
	if len(collective) > 0 {
		out = append(out, "Each call of "+strings.Join(collective, ", ")+" is taken for one of all ranks: communicators of fewer ranks are not known.")
	}
	return append(out, "MPI's waits, what the runs took beyond the transfer: "+power(s.wait)+alone(s.alone)+". MPI does not depend on the threads.")
}

// bandwidth says how work would grow if it only moved data, by the system profile.
func (f *Forecast) bandwidth() (out []string) {
	if f.System == nil {
		return nil
	}
	const kernel = "triad-memory" // cores have caches of their own, and share the memory
	rates := map[int]float64{}
	for _, r := range f.System.Compute {
		if r.Kernel == kernel && !r.Oversubscribed {
			rates[r.Threads] = r.Rate.Median
		}
	}
	at := f.Runs[0].Times.Threads
	most := at
	for n := range rates {
		most = max(most, n)
	}
	if own, top := rates[at], rates[most]; most > at && own > 0 && top > 0 {
		out = append(out, fmt.Sprintf("If it moved data only, as the profile's kernel %s, the work would grow x%.2f from %s to %d.", kernel, own/top*float64(most)/float64(at), plural(at, "thread"), most))
	}
	return out
}

// troubles returns sentences about runs that cannot be compared with each other, or that were
// disturbed.
func (f *Forecast) troubles() (out []string) {
	all := slices.Concat(f.Runs, f.Against)
	var labels, crowded []string
	for _, r := range all {
		labels = append(labels, r.Label)
	}
	differ := func(what, meaning string, of func(Run) string) {
		var values []string
		for _, r := range all {
			values = append(values, of(r))
		}
		if t := efficiency.Differ(labels, values, what, meaning); t != "" {
			out = append(out, t)
		}
	}
	differ("the program", "Figures of different programs do not belong together.", func(r Run) string { return r.Program })
	meaning := "If the input differs, the runs show no strong scaling."
	if f.Weak {
		meaning = "For weak scaling that is right if the work of a thread stayed the same."
	}
	differ("the arguments", meaning, func(r Run) string { return "\"" + r.Arguments + "\"" })
	differ("the machine", "Times of different machines do not compare.", func(r Run) string { return strings.Join(r.Hosts, ", ") })
	for _, r := range all {
		if r.NoCore >= efficiency.Crowding {
			crowded = append(crowded, fmt.Sprintf("%s (%.0f%% of its threads' time)", r.Label, 100*r.NoCore))
		}
		if r.Missing > 0 {
			out = append(out, fmt.Sprintf("%s lacks %d of its ranks: the others stand for them.", r.Label, r.Missing))
		}
		if slices.Contains(r.Estimated, "all") {
			out = append(out, fmt.Sprintf("Figures of %s hold estimates, because constructs were not observed all of the time.", r.Label))
		}
	}
	if len(crowded) > 0 {
		out = append(out, "Threads lacked cores in "+strings.Join(crowded, ", ")+": these runs had more threads than free cores, and foretell little of a machine that has them.")
	}
	return out
}

// pays is the least share of the time that doubling the threads, or the ranks, has to save.
const pays = 0.1

// Advice returns sentences on how many ranks and threads pay; nil for problems that grow, where
// each cell does more work.
func (f *Forecast) Advice(cells []Cell) (out []string) {
	best, ok := Best(cells)
	if !ok || f.Weak {
		return nil
	}
	text := fmt.Sprintf("The least time, ~%s, is that of %s of %s.", seconds(best.Time), plural(best.Ranks, "rank"), plural(best.Threads, "thread"))
	if best.Interval.Why != "" {
		text += " It has no interval: " + best.Interval.Why + "."
	}
	out = append(out, text+f.near(cells, best))
	ranks := f.Runs[0].Times.Ranks
	for n := 1; ranks*2*n <= f.Cores; n *= 2 {
		now, twice := f.At(ranks, n), f.At(ranks, 2*n)
		t := twice.Time()
		if gain, known := gainOf(now.Time(), t); known && gain < pays {
			out = append(out, fmt.Sprintf("With %s, threads beyond %d do not pay: twice as many %s. Then overhead and waiting for threads take ~%s of ~%s.",
				plural(ranks, "rank"), n, gainText(gain), seconds(twice.Overhead+twice.Uneven+twice.Unparallel), seconds(t)))
			break
		}
	}
	threads := f.Runs[0].Times.Threads
	for p := 1; f.UsesMPI() && 2*p*threads <= f.Cores; p *= 2 {
		now, twice := f.At(p, threads), f.At(2*p, threads)
		t := twice.Time()
		if gain, known := gainOf(now.Time(), t); known && gain < pays {
			out = append(out, fmt.Sprintf("With %s per rank, ranks beyond %d do not pay: twice as many %s. Then MPI takes ~%s of ~%s.",
				plural(threads, "thread"), p, gainText(gain), seconds(twice.MPI), seconds(t)))
			break
		}
	}
	if share := best.MPI / best.Time; share >= little {
		out = append(out, fmt.Sprintf("On the best cell, communication is ~%s of the time: faster communication gains no more.", percent(share)))
	} else if f.UsesMPI() {
		out = append(out, fmt.Sprintf("On the best cell, communication is ~%s of the time: faster communication gains nothing.", percent(share)))
	}
	if at := f.sendThenReceive(); at != "" {
		out = append(out, at)
	}
	return out
}

// near names the cells whose interval reaches below the best cell's predicted time: such a cell may
// be as good as the best one.
func (f *Forecast) near(cells []Cell, best Cell) string {
	var names []string
	for _, c := range cells {
		if !c.Best && !c.Oversubscribed && c.Interval.Why == "" && c.Interval.Low <= best.Time {
			names = append(names, fmt.Sprintf("%d x %d", c.Ranks, c.Threads))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return " By their intervals, " + strings.Join(names, ", ") + " may be as good."
}

// gainOf returns which share of the time now is saved if the time is then. known is false if the
// model's time is 0: the fits of all parts fell below 0.
func gainOf(now, then float64) (gain float64, known bool) {
	if now <= 0 {
		return 0, false
	}
	return 1 - then/now, true
}

func gainText(gain float64) string {
	switch {
	case gain < -1:
		return fmt.Sprintf("take ~x%.3g the time", 1-gain)
	case gain < 0:
		return fmt.Sprintf("take ~%s longer", percent(-gain))
	}
	return fmt.Sprintf("gain ~%s", percent(gain))
}

// sendThenReceive finds a function whose ranks send and receive equally many messages with blocking
// calls.
func (f *Forecast) sendThenReceive() string {
	type messages struct {
		sent, received float64
		at             string
	}
	by := map[string]*messages{}
	var order []string
	last := f.Runs[len(f.Runs)-1]
	for i := range last.Calls {
		c := &last.Calls[i]
		in := c.Location.Function
		if in == "" || c.Operation != "MPI_Send" && c.Operation != "MPI_Recv" {
			continue
		}
		if by[in] == nil {
			by[in] = &messages{at: fmt.Sprintf("%s:%d", path.Base(c.Location.File), c.Location.Begin)}
			order = append(order, in)
		}
		by[in].sent += c.Sends.Mean
		by[in].received += c.Receives.Mean
	}
	for _, in := range order {
		if m := by[in]; m.sent > 0 && m.sent == m.received {
			return fmt.Sprintf("In %s (%s), ranks first send and then receive as many messages: MPI_Sendrecv does both at once.", in, m.at)
		}
	}
	return ""
}
