package forecast

import (
	"slices"

	"ompp-attach/model"
)

// Compared is a cell with measured runs, and the prediction for this cell from other runs.
type Compared struct {
	Ranks, Threads int
	Measured       float64 // mean of the cell's runs
	Predicted      float64
	Error          float64 // |predicted - measured| / measured
	// Against: the model never learns from these runs. Otherwise they were left out for this
	// prediction only.
	Against  bool
	Interval model.Interval
	Inside   bool // all runs are in the interval
}

// Compare compares predictions with measurements. If the model has learnt from at least three
// cells, each of them is predicted from the runs of the others. Runs from which the model has not
// learnt (Against) are predicted from all that it has learnt from.
func (f *Forecast) Compare() (out []Compared) {
	on := func(a, b Run) bool { return a.Times.Ranks == b.Times.Ranks && a.Times.Threads == b.Times.Threads }
	cells := 0
	first := func(runs []Run, i int) bool {
		return !slices.ContainsFunc(runs[:i], func(o Run) bool { return on(o, runs[i]) })
	}
	for i := range f.Runs {
		if first(f.Runs, i) {
			cells++
		}
	}
	const least = 3
	for i, r := range f.Runs {
		if cells < least || !first(f.Runs, i) {
			continue
		}
		var own, others []Run
		for _, o := range f.Runs {
			if on(o, r) {
				own = append(own, o)
			} else {
				others = append(others, o)
			}
		}
		if x, err := New(others, nil, f.Options); err == nil {
			out = append(out, x.compare(own))
		}
	}
	for i, r := range f.Against {
		if !first(f.Against, i) {
			continue
		}
		var own []Run
		for _, o := range f.Against[i:] {
			if on(o, r) {
				own = append(own, o)
			}
		}
		c := f.compare(own)
		c.Against = true
		out = append(out, c)
	}
	return out
}

// compare compares runs on one cell with the prediction.
func (f *Forecast) compare(runs []Run) Compared {
	p := runs[0].Times
	c := Compared{Ranks: p.Ranks, Threads: p.Threads, Predicted: f.Time(p.Ranks, p.Threads), Interval: f.Interval(p.Ranks, p.Threads)}
	c.Inside = c.Interval.Why == ""
	for _, r := range runs {
		c.Measured += r.Times.Time / float64(len(runs))
		c.Inside = c.Inside && c.Interval.Low <= r.Times.Time && r.Times.Time <= c.Interval.High
	}
	c.Error = model.Error(c.Predicted, c.Measured)
	return c
}

// Figure is an efficiency of a measured run (Real), and the same by the model (Estimated), as in
// the paper's Tables 2 and 3.
type Figure struct {
	Ranks, Threads int
	// Overhead is O of Eq. 3 as wall time: the runtime's own work and waits for threads. It is set
	// for e_mt only.
	Overhead        float64
	Estimated, Real float64
	Error           float64
	Against         bool // the run was not learnt from
}

// Multithreading returns e_mt of the measured cells (Eq. 4). e_mt is the time outside of MPI with
// one thread per rank, divided by the number of threads and by the time outside of MPI with these
// threads. Estimated has the model's times instead. Cells of one thread, and cells without a run of
// one thread on as many ranks, are left out. All cells are left out if the problem grows, since the
// times are of different problems then.
func (f *Forecast) Multithreading() (out []Figure) {
	if f.Weak {
		return nil
	}
	// The time of MPI is a mean over several threads' clocks, so it may exceed the time of the run.
	outside := func(time, mpi float64) float64 { return max(0, time-mpi) }
	f.measured(func(p, one *model.Measured, against bool) {
		if p.Threads == 1 {
			return // e_mt is 1 by definition
		}
		at, single := f.At(p.Ranks, p.Threads), f.At(p.Ranks, 1)
		x := Figure{Ranks: p.Ranks, Threads: p.Threads, Overhead: at.Overhead + at.Uneven, Against: against,
			Estimated: model.Multithreading(outside(single.Time(), single.MPI), p.Threads, outside(at.Time(), at.MPI)),
			Real:      model.Multithreading(outside(one.Time, one.MPI), p.Threads, outside(p.Time, p.MPI))}
		x.Error = model.Error(x.Estimated, x.Real)
		out = append(out, x)
	}, func(p *model.Measured) (int, int) { return p.Ranks, 1 })
	return out
}

// MessagePassing returns e_mp (Eq. 1) of the measured cells. A cell needs a run with one thread per
// rank on as many cores. Runs without a sum of communication are left out.
func (f *Forecast) MessagePassing() (out []Figure) {
	f.measured(func(p, pure *model.Measured, against bool) {
		if p.Threads == 1 || p.Communication == nil || pure.Communication == nil {
			return
		}
		x := Figure{Ranks: p.Ranks, Threads: p.Threads, Against: against, Estimated: f.Communication(p.Ranks, p.Threads).Efficiency(),
			Real: model.Communication{Hybrid: *p.Communication, Pure: *pure.Communication}.Efficiency()}
		x.Error = model.Error(x.Estimated, x.Real)
		out = append(out, x)
	}, func(p *model.Measured) (int, int) { return p.Ranks * p.Threads, 1 })
	return out
}

// measured calls do for each cell, with the first run of the cell and the first run of its
// reference cell. of returns the ranks and threads of the reference.
func (f *Forecast) measured(do func(p, reference *model.Measured, against bool), of func(*model.Measured) (ranks, threads int)) {
	all := slices.Concat(f.Runs, f.Against)
	find := func(ranks, threads int) int {
		return slices.IndexFunc(all, func(r Run) bool { return r.Times.Ranks == ranks && r.Times.Threads == threads })
	}
	for i, r := range all {
		if find(r.Times.Ranks, r.Times.Threads) != i {
			continue
		}
		if at := find(of(r.Times)); at >= 0 {
			do(r.Times, all[at].Times, i >= len(f.Runs))
		}
	}
}
