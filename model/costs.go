package model

// Cost is what a supplier of costs foretells: a time, and the standard error of the supplier's own
// measurements, in the same unit.
type Cost struct {
	Time, Error float64
}

// Costs foretells what the OpenMP runtime and MPI take of a run on so many ranks with so many
// threads each. Costs are wall times of a rank, the mean of the ranks. A time may come out below 0
// where a fit ends; the prediction takes 0 then, and says so.
type Costs interface {
	Overhead(ranks, threads int) Cost
	MPI(ranks, threads int) Cost
	// Again learns from other times of the same runs, with the choices that were made for these
	// runs. The intervals ask how far the times of the runs move a prediction.
	Again([]Measured) Costs
	// Forms returns costs with other choices that could be the right ones too; nil: there was
	// nothing to choose.
	Forms() []CostForm
}

// CostForm are costs, and how likely their choices are the right ones, 0 to 1.
type CostForm struct {
	Costs
	Weight float64
}

// Supplier learns costs from recorded runs.
type Supplier func([]Measured) Costs

// Recorded are costs as recorded runs had them.
type Recorded struct {
	ByThreads Steps // the runtime's own work
	ByRanks   Power // MPI
	// Alone is MPI of one rank, which has nobody to exchange with; nil: no run had one rank, or
	// all of them, and ByRanks holds.
	Alone *float64
	forms []Form
}

// RecordedCosts learns from runs; it is a Supplier.
func RecordedCosts(points []Measured) Costs { return learnRecorded(points, nil) }

// Again learns from other times of the same runs.
func (r *Recorded) Again(points []Measured) Costs { return learnRecorded(points, r) }

func learnRecorded(points []Measured, like *Recorded) *Recorded {
	r := &Recorded{}
	overhead := map[int][]float64{}
	for _, p := range points {
		overhead[p.Threads] = append(overhead[p.Threads], p.Overhead)
	}
	r.ByThreads = stepsOf(overhead)
	mpi := func(p Measured) float64 { return p.MPI }
	if like != nil {
		r.ByRanks, r.Alone, _ = FitRanks(points, mpi, &like.ByRanks)
	} else {
		r.ByRanks, r.Alone, r.forms = FitRanks(points, mpi, nil)
	}
	return r
}

// Forms returns the costs with each exponent of MPI.
func (r *Recorded) Forms() (forms []CostForm) {
	for _, f := range r.forms {
		x := *r
		x.ByRanks = f.Power
		forms = append(forms, CostForm{&x, f.Weight})
	}
	return forms
}

// FitRanks fits a figure over the ranks. One rank differs from several in what MPI does, so the
// runs of one rank are apart. alone is their mean, unless there are no others. again gives the
// exponent; nil: it is chosen from forms.
func FitRanks(points []Measured, of func(Measured) float64, again *Power) (f Power, alone *float64, forms []Form) {
	var ranks, values, one []float64
	for _, p := range points {
		if p.Ranks == 1 {
			one = append(one, of(p))
		} else {
			ranks, values = append(ranks, float64(p.Ranks)), append(values, of(p))
		}
	}
	switch {
	case len(ranks) == 0:
		return Power{A: mean(one)}, nil, nil
	case len(one) > 0:
		m := mean(one)
		alone = &m
	}
	if again != nil {
		return again.Again(ranks, values), alone, nil
	}
	return Fit(ranks, values, 0), alone, Forms(ranks, values)
}

// Overhead returns the mean of the runs with as many threads.
func (r *Recorded) Overhead(_, threads int) Cost { return Cost{Time: r.ByThreads.Value(threads)} }

// MPI returns what the fit over the ranks gives.
func (r *Recorded) MPI(ranks, _ int) Cost {
	if ranks == 1 && r.Alone != nil {
		return Cost{Time: *r.Alone}
	}
	return Cost{Time: r.ByRanks.At(float64(ranks))}
}
