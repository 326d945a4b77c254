// Package forecast foretells the time of runs on other numbers of ranks and threads. It joins the
// signatures of recorded runs with costs. The costs come from these runs or from a system profile.
// It is pure. Times are in seconds.
package forecast

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"ompp-attach/model"
	"ompp-attach/signature"
	"ompp-attach/system"
)

// Run is a recorded run.
type Run struct {
	Label string // as the user named the run
	*signature.Signature
}

// Options say what is to be foretold.
type Options struct {
	Weak  bool // the problem grows with the threads of all ranks; otherwise it is the same
	Cores int  // the most cores, ranks times threads; 0: four times those of the largest run
	CPUs  int  // of the machine or machines on which the runs are to run; 0: not known
	// System is the system profile that the costs come from; nil: they are the runs' own.
	System *system.Profile
}

// Forecast is a prediction of runs up to a number of cores.
type Forecast struct {
	*model.Prediction
	Options
	Runs    []Run        // learnt from, by rising numbers of threads
	Against []Run        // not learnt from: to compare with
	system  *systemCosts // nil: costs are the runs' own
}

// New learns from runs, at least one. It fails if the runs' figures do not suffice.
func New(runs, against []Run, o Options) (*Forecast, error) {
	if len(runs) == 0 {
		return nil, errors.New("a prediction needs at least one run to learn from")
	}
	for _, r := range slices.Concat(runs, against) {
		switch {
		case r.CannotTell != "":
			return nil, fmt.Errorf("the times of %s %s", r.Label, r.CannotTell)
		case r.Times == nil:
			return nil, fmt.Errorf("%s was written by an older version and lacks the times: write it anew with ompp-attach signature", r.Label)
		case r.Times.Threads == 0:
			return nil, fmt.Errorf("the ranks of %s have different numbers of threads: give runs with the same number on each rank", r.Label)
		case r.Times.Time == 0:
			return nil, fmt.Errorf("%s took no time, apart from that of the probes: predict needs longer runs", r.Label)
		case !r.Times.Sound():
			return nil, fmt.Errorf("%s has times that no run has: predict needs another run", r.Label)
		}
	}
	f := &Forecast{Options: o, Runs: slices.Clone(runs), Against: against}
	cores := func(r Run) int { return r.Times.Ranks * r.Times.Threads }
	slices.SortStableFunc(f.Runs, func(a, b Run) int {
		return cmp.Or(cmp.Compare(cores(a), cores(b)), cmp.Compare(a.Times.Ranks, b.Times.Ranks))
	})
	if f.Cores == 0 {
		f.Cores = 4 * cores(f.Runs[len(f.Runs)-1])
	}
	learn := model.Options{Weak: o.Weak, CPUs: o.CPUs, LearntCPUs: o.CPUs}
	points := pointsOf(f.Runs)
	if o.System != nil {
		costs, err := newSystemCosts(o.System, f.Runs, o.Weak)
		if err != nil {
			return nil, err
		}
		points, learn.Supplier = costs.reconcile(points), costs.supply
		if costs.elsewhere(f.Runs) != nil {
			learn.LearntCPUs = 0
		}
	}
	f.Prediction = model.Predict(points, learn)
	f.system, _ = f.Costs.(*systemCosts)
	return f, f.check()
}

// check says in one sentence why the model is of no use: some time is no number, or all times are
// 0.
func (f *Forecast) check() error {
	most := 0.
	for _, p := range f.Ranks() {
		for _, n := range f.Threads() {
			t := f.Time(p, n)
			if !(t >= 0) || math.IsInf(t, 0) {
				return errors.New("the times of these runs are beyond what can be computed with: give other runs")
			}
			most = max(most, t)
		}
	}
	if most == 0 {
		return errors.New("these runs are too short to learn from: without the probes' cost and time without a core, nothing is left; give longer runs")
	}
	return nil
}

func pointsOf(runs []Run) (points []model.Measured) {
	for _, r := range runs {
		points = append(points, *r.Times)
	}
	return points
}

// UsesMPI says whether a run used MPI. A program without MPI has one rank.
func (f *Forecast) UsesMPI() bool {
	return slices.ContainsFunc(f.Runs, func(r Run) bool { return r.UsesMPI })
}

// Cell is a prediction for a number of ranks and a number of threads per rank.
type Cell struct {
	Ranks, Threads int
	model.Parts
	Time               float64
	Efficiency         float64 // see model.Prediction
	Interval           model.Interval
	EfficiencyInterval model.Interval
	Measured           []float64 // times of the runs with these numbers, learnt from or not
	Best               bool      // see Forecast.Cells
	Oversubscribed     bool      // there are fewer CPUs than threads
	CostsBeyond        bool      // costs lie beyond what the system profile has measured
}

// Ranks returns the numbers of ranks of the cells: powers of two, and the measured ones.
func (f *Forecast) Ranks() []int {
	if !f.UsesMPI() {
		return []int{1}
	}
	return f.numbers(func(p *model.Measured) int { return p.Ranks })
}

// Threads returns the numbers of threads of the cells: powers of two, and the measured ones.
func (f *Forecast) Threads() []int {
	return f.numbers(func(p *model.Measured) int { return p.Threads })
}

func (f *Forecast) numbers(of func(*model.Measured) int) (all []int) {
	for n := 1; n <= f.Cores; n *= 2 {
		all = append(all, n)
	}
	for _, r := range slices.Concat(f.Runs, f.Against) {
		if n := of(r.Times); n <= f.Cores {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Cells returns all cells that fit the cores, by ranks and threads. The best one has the least
// time. If the problem grows with the threads, the best one has the least time of the cells with
// most cores. A cell with more threads than CPUs is the best one only if all have. A cell that
// would take no time, because the fits of all its parts fall below 0, is never the best one.
func (f *Forecast) Cells() (out []Cell) {
	for _, p := range f.Ranks() {
		for _, n := range f.Threads() {
			if p*n > f.Cores {
				continue
			}
			c := Cell{Ranks: p, Threads: n, Parts: f.At(p, n), Efficiency: f.Efficiency(p, n), Oversubscribed: f.CPUs > 0 && p*n > f.CPUs,
				CostsBeyond: f.system != nil && f.system.extrapolated(p, n), Interval: f.Interval(p, n), EfficiencyInterval: f.EfficiencyInterval(p, n)}
			c.Time = c.Parts.Time()
			for _, r := range slices.Concat(f.Runs, f.Against) {
				if r.Times.Ranks == p && r.Times.Threads == n {
					c.Measured = append(c.Measured, r.Times.Time)
				}
			}
			out = append(out, c)
		}
	}
	worse := func(a, b Cell) int {
		fits := func(c Cell) int {
			if c.Oversubscribed {
				return 1
			}
			return 0
		}
		most := 0
		if f.Weak {
			most = cmp.Compare(b.Ranks*b.Threads, a.Ranks*a.Threads)
		}
		return cmp.Or(cmp.Compare(fits(a), fits(b)), most, cmp.Compare(a.Time, b.Time))
	}
	best := -1
	for i := range out {
		if out[i].Time > 0 && (best < 0 || worse(out[i], out[best]) < 0) {
			best = i
		}
	}
	if best >= 0 {
		out[best].Best = true
	}
	return out
}

// Best returns the best of cells; ok is false if there is none.
func Best(cells []Cell) (best Cell, ok bool) {
	i := slices.IndexFunc(cells, func(c Cell) bool { return c.Best })
	if i < 0 {
		return Cell{}, false
	}
	return cells[i], true
}
