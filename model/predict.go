package model

import (
	"math"
	"slices"
)

// Point is a measured run on so many ranks with so many threads each. Times are the mean of the
// ranks, in one unit.
type Point struct {
	Ranks, Threads int
	Time           float64 // wall time of the run
	Serial         float64 // wall time of work outside of parallel regions
	Work           float64 // thread time of work in them
	Unparallel     float64 // the part of Work that one thread does while the others wait for it
	Uneven         float64 // thread time of waiting for others that had more work, and for locks
	Overhead       float64 // wall time of the runtime's own work
	MPI            float64 // wall time of the primary thread in MPI
}

// Prediction foretells the time of runs by Eq. 3, with what the paper's compiler and benchmarks
// provide taken from measured runs:
//
//	T(p, n) = S(p) + (w(p) g(n) - U) / n (1 + i(n)) + U + O(n) + M(p)
//
// S, w and M are fitted over p. g is the growth of the work with threads, i the uneven part, O the
// overhead: measured at some n, linear between, constant beyond. U is a constant part of the work.
type Prediction struct {
	Serial, Work, MPI        Power
	Growth, Uneven, Overhead Steps
	Unparallel               float64 // part of the work
	Rest                     float64 // part of the measured time that none of these explain
	points                   []Point
	weak                     bool
}

// Predict learns from measured runs, at least one. weak says that the problem grew with the ranks.
func Predict(points []Point, weak bool) *Prediction {
	m := &Prediction{points: points, weak: weak}
	m.learnThreads()
	var ranks, serial, work, mpi []float64
	for _, p := range points {
		ranks, serial, mpi = append(ranks, float64(p.Ranks)), append(serial, p.Serial), append(mpi, p.MPI)
		work = append(work, ratio(p.Work, m.Growth.Value(p.Threads)))
	}
	share := 1.0 // of the work, a rank has a part
	if weak {
		share = 0
	}
	m.Serial, m.Work, m.MPI = Fit(ranks, serial, 0), Fit(ranks, work, share), Fit(ranks, mpi, 0)
	var explained, measured float64
	for _, p := range points {
		explained += m.parts(p.Ranks, p.Threads)
		measured += p.Time
	}
	m.Rest = ratio(measured-explained, measured)
	return m
}

// learnThreads finds what depends on the threads: means of the runs with as many threads.
func (m *Prediction) learnThreads() {
	uneven, overhead, growth := map[int][]float64{}, map[int][]float64{}, map[int][]float64{}
	var single []float64
	for _, p := range m.points {
		uneven[p.Threads] = append(uneven[p.Threads], ratio(p.Uneven, p.Work))
		overhead[p.Threads] = append(overhead[p.Threads], p.Overhead)
		if p.Threads > 1 {
			single = append(single, ratio(p.Unparallel, p.Work))
		}
		if base := m.fewest(p.Ranks); base.Work > 0 {
			growth[p.Threads] = append(growth[p.Threads], p.Work/base.Work)
		}
	}
	uneven[1] = []float64{0}
	m.Uneven, m.Overhead, m.Growth = steps(uneven), steps(overhead), steps(growth)
	if len(m.Growth) == 0 {
		m.Growth = Steps{{1, 1}}
	}
	m.Unparallel = mean(single)
}

// fewest returns the run with the fewest threads on so many ranks.
func (m *Prediction) fewest(ranks int) (least Point) {
	for _, p := range m.points {
		if p.Ranks == ranks && (least.Threads == 0 || p.Threads < least.Threads) {
			least = p
		}
	}
	return least
}

// steps returns the means by number.
func steps(values map[int][]float64) (s Steps) {
	for n, v := range values {
		s = append(s, Step{n, mean(v)})
	}
	slices.SortFunc(s, func(a, b Step) int { return a.At - b.At })
	return s
}

func mean(v []float64) (sum float64) {
	for _, x := range v {
		sum += x / float64(len(v))
	}
	return sum
}

func (m *Prediction) parts(ranks, threads int) float64 {
	p, n := float64(ranks), float64(threads)
	work := m.Work.At(p) * m.Growth.Value(threads)
	single := m.Unparallel * work
	return m.Serial.At(p) + (work-single)/n*(1+m.Uneven.Value(threads)) + single + m.Overhead.Value(threads) + m.MPI.At(p)
}

// At returns the predicted time.
func (m *Prediction) At(ranks, threads int) float64 {
	return m.parts(ranks, threads) / (1 - min(m.Rest, 0.99))
}

// Communication returns the predicted part of the time in MPI, 0 to 1.
func (m *Prediction) Communication(ranks, threads int) float64 {
	return ratio(m.MPI.At(float64(ranks)), m.parts(ranks, threads))
}

// Checked is a measured run and what the other runs foretell of it.
type Checked struct {
	Point
	Predicted float64
	Error     float64 // |predicted - measured| / measured
}

// Check leaves each run out in turn and foretells it by the others. It returns nil if there are
// fewer than three runs.
func (m *Prediction) Check() (out []Checked) {
	const least = 3
	if len(m.points) < least {
		return nil
	}
	for i, p := range m.points {
		others := slices.Delete(slices.Clone(m.points), i, i+1)
		t := Predict(others, m.weak).At(p.Ranks, p.Threads)
		out = append(out, Checked{p, t, Error(t, p.Time)})
	}
	return out
}

// Worst returns the greatest error of Check, by which predictions may be off; NaN if it is not known.
func (m *Prediction) Worst() float64 {
	worst := math.NaN()
	for _, c := range m.Check() {
		if math.IsNaN(worst) || c.Error > worst {
			worst = c.Error
		}
	}
	return worst
}
