package model

import (
	"fmt"
	"math"
	"slices"

	"github.com/aclements/go-moremath/stats"
)

// Coverage is the share of runs whose time lies in its Interval, if the form of the model is right.
const Coverage = 0.9

// Interval is the range in which a share Coverage of the runs on a cell lies. Why says why there is
// no interval; empty: there is one.
type Interval struct {
	Low, High float64
	Why       string
}

// component is a part of a run's time that varies from run to run, independently of other parts.
type component int

const (
	serial component = iota
	work
	unparallel
	uneven
	overhead
	mpi
	beyond
	components
)

var componentNames = [components]string{"serial work", "parallel work", "limited parallelism", "waiting for threads", "overhead", "MPI", "time without a core"}

// figures are a figure by component.
type figures [components]float64

// measured returns a run's components.
func (m *Prediction) measured(p *Measured) figures {
	return figures{p.Serial, p.Work, p.Unparallel, p.Uneven, p.Overhead, p.MPI, m.beyond(p)}
}

// scaled returns the run on so many CPUs with a component larger by a part of it.
func (p Measured) scaled(c component, by float64, cpus int) Measured {
	before := p.explained(cpus)
	parts := [...]*float64{&p.Serial, &p.Work, &p.Unparallel, &p.Uneven, &p.Overhead, &p.MPI}
	if c == beyond {
		p.Time *= 1 + by
		return p
	}
	*parts[c] *= 1 + by
	p.Time *= ratio(p.explained(cpus), before)
	return p
}

// foretold returns what the model has for the components of a run.
func (m *Prediction) foretold(ranks, threads int) figures {
	p := m.At(ranks, threads)
	alone := m.Unparallel * p.Thread
	if threads == 1 {
		alone = 0 // no other thread waits
	}
	return figures{p.Serial, p.Thread, alone, m.Uneven.Value(threads) * p.Thread, p.Overhead, p.MPI, m.Beyond}
}

// spread is how much the runs differ from the model, by component, and how far each run moves the
// model.
//
// Each component of each run is assumed to deviate from the model's value by a normally distributed
// share. The shares of one run may be correlated: a run that others disturb is longer in all
// components. So the covariance of the components is estimated from the residuals of all runs. It
// has the degrees of freedom that the fits have left of each component.
type spread struct {
	covariance [components]figures // relative
	freedom    figures             // degrees; 0: none
	moved      [][components]*Prediction
}

// step is the part by which a component is moved to see what that moves: small against all noise,
// large against rounding.
const step = 1e-4

// spreadOf finds the spread. It keeps the choices of exponents: see Interval.
func (m *Prediction) spreadOf() *spread {
	if m.spread != nil {
		return m.spread
	}
	s := &spread{}
	m.spread = s
	n := len(m.points)
	fitted := make([]figures, n)
	for i, p := range m.points {
		fitted[i] = m.foretold(p.Ranks, p.Threads)
	}
	for i := range m.points {
		var moved [components]*Prediction
		for c := range components {
			other := append([]Measured{}, m.points...)
			other[i] = other[i].scaled(c, step, m.options.LearntCPUs)
			moved[c] = m.relearn(other)
		}
		s.moved = append(s.moved, moved)
	}
	residuals := make([]figures, n)
	for c := range components {
		var active []int
		for i := range m.points {
			if fitted[i][c] > negligible*m.points[i].Time {
				active = append(active, i)
			}
		}
		if len(active) <= m.parameters(c) {
			continue
		}
		left := s.left(m, c, active, fitted)
		if left.trace < least {
			continue
		}
		s.freedom[c] = left.trace * left.trace / left.square
		for _, i := range active {
			residuals[i][c] = (m.measured(&m.points[i])[c]/fitted[i][c] - 1) / math.Sqrt(left.trace)
		}
	}
	for _, r := range residuals {
		for a := range components {
			for b := range components {
				s.covariance[a][b] += r[a] * r[b]
			}
		}
	}
	return s
}

const (
	negligible = 1e-6 // of a time
	least      = 0.5  // degree of freedom: less is none, apart from rounding
)

// parameters returns the number of values that are fitted of a component. A constant part that is
// held at 0 counts, since other runs would not have held it.
func (m *Prediction) parameters(c component) int {
	var ranks, several, threads []float64
	for _, p := range m.points {
		ranks, threads = append(ranks, float64(p.Ranks)), append(threads, float64(p.Threads))
		if p.Ranks > 1 {
			several = append(several, float64(p.Ranks))
		}
	}
	fitted := func(x []float64) int { return min(2, len(places(x))) }
	switch c {
	case serial:
		return fitted(ranks)
	case work:
		return fitted(ranks) + len(places(threads)) - 1
	case mpi:
		return fitted(several) + len(places(ranks)) - len(places(several))
	case overhead:
		return len(places(threads))
	}
	return 1
}

// traces tell how much of the noise is left in the residuals of a fit. H is the matrix that makes
// fitted values of measured ones. traces are, with A = (I-H)'(I-H), the traces of A and of its
// square. Noise of variance v leaves squared residuals of v trace(A) in the mean, with trace(A)^2 /
// trace(A^2) degrees of freedom (Satterthwaite).
type traces struct{ trace, square float64 }

func (s *spread) left(m *Prediction, c component, active []int, fitted []figures) (out traces) {
	n := len(active)
	rest := make([][]float64, n) // I - H
	for a, i := range active {
		rest[a] = make([]float64, n)
		for b, j := range active {
			p := m.points[i]
			rest[a][b] = -(s.moved[j][c].foretold(p.Ranks, p.Threads)[c]/fitted[i][c] - 1) / step
		}
		rest[a][a]++
	}
	for a := range n {
		for b := range n {
			var product float64
			for k := range n {
				product += rest[k][a] * rest[k][b]
			}
			if a == b {
				out.trace += product
			}
			out.square += product * product
		}
	}
	return out
}

// Interval returns the interval of the time of a run on a cell. It holds if the model's form is
// right. So there is none where the form is assumed, and not fitted. This is so for other numbers
// of threads than between the measured ones. It is so for ranks that one or two measured numbers do
// not enclose (with MPI, numbers above one). It is also so for more threads than CPUs, if no run
// had these.
func (m *Prediction) Interval(ranks, threads int) Interval {
	t := m.Time(ranks, threads)
	v, freedom, why := m.variance(ranks, threads, 0, 0)
	return interval(t, v, freedom, why)
}

// EfficiencyInterval returns the interval of the Efficiency that a run on a cell and a run on one
// core have.
func (m *Prediction) EfficiencyInterval(ranks, threads int) Interval {
	if ranks == 1 && threads == 1 {
		return Interval{Low: 1, High: 1}
	}
	v, freedom, why := m.variance(ranks, threads, 1, 1)
	return interval(m.Efficiency(ranks, threads), v, freedom, why)
}

func interval(value, variance, freedom float64, why string) Interval {
	if why != "" {
		return Interval{Why: why}
	}
	if !(freedom >= least) || !(variance >= 0) || math.IsInf(variance, 0) {
		return Interval{Why: "the runs' times are beyond what can be computed with"}
	}
	// A factor that says nothing, and at last overflows: the runs have noise only.
	const most = 1e3
	by := math.Exp(quantile(freedom) * math.Sqrt(variance))
	if by > most {
		return Interval{Why: fmt.Sprintf("the runs vary so much that the interval would reach beyond x%.0f", most)}
	}
	return Interval{Low: value / by, High: value * by}
}

// quantile returns the t-value that a part Coverage of the values do not exceed in size.
func quantile(freedom float64) float64 {
	const normal = 1e3 // from here on the values are those of a normal distribution
	return stats.InvCDF(stats.TDist{V: min(freedom, normal)})((1 + Coverage) / 2)
}

// variance returns the variance of the logarithm of a run's time, and its degrees of freedom. If
// other ranks are not 0, the variance is that of the ratio of the times of two runs. why is not
// empty if it is not known.
func (m *Prediction) variance(ranks, threads, otherRanks, otherThreads int) (v, freedom float64, why string) {
	cells := [][2]int{{ranks, threads}}
	if otherRanks > 0 {
		cells = append(cells, [2]int{otherRanks, otherThreads})
	}
	s := m.spreadOf()
	var shares figures // of the variance
	moved := make([]figures, len(m.points))
	for at, cell := range cells {
		if why := m.unknown(cell[0], cell[1]); why != "" {
			return 0, 0, why
		}
		p := m.At(cell[0], cell[1])
		t := p.Time()
		serially, inParallel := crowding(cell[0], m.options.CPUs), crowding(cell[0]*cell[1], m.options.CPUs)
		whole := t - p.Beyond
		own := figures{p.Serial * serially, p.Work * inParallel, p.Unparallel * inParallel, p.Uneven * inParallel, p.Overhead * inParallel, p.MPI, whole}
		for c := range own {
			own[c] /= whole
			if own[c] > noticed && s.freedom[c] == 0 {
				return 0, 0, "there are too few runs to tell how much " + componentNames[c] + " varies"
			}
		}
		s.add(&shares, &own)
		sign := 1 - 2*float64(at)
		for i := range m.points {
			for c := range components {
				moved[i][c] += sign * math.Log(s.moved[i][c].Time(cell[0], cell[1])/t) / step
			}
		}
		v += (math.Pow(p.overheadError*inParallel, 2) + math.Pow(p.mpiError, 2)) / (whole * whole)
	}
	for i := range moved {
		s.add(&shares, &moved[i])
	}
	for _, f := range m.forms {
		var off float64
		for at, cell := range cells {
			off += (1 - 2*float64(at)) * math.Log(f.Time(cell[0], cell[1])/m.Time(cell[0], cell[1]))
		}
		v += f.weight * off * off
	}
	// Components that go together have the degrees of freedom of one, so these are not added up
	// but averaged, by the components' shares.
	var sum, size, inverse float64
	for c, share := range shares {
		sum += share
		if share != 0 {
			size += math.Abs(share)
			inverse += math.Abs(share) / s.freedom[c]
		}
	}
	freedom = math.Inf(1)
	if inverse > 0 {
		freedom = size / inverse
	}
	return v + sum, freedom, ""
}

// noticed is the part of a time below which it does not matter whether a component varies.
const noticed = 0.01

// add adds the variance of a sum of components with the given weights, by component.
func (s *spread) add(shares, weights *figures) {
	for a := range components {
		for b := range components {
			shares[a] += weights[a] * weights[b] * s.covariance[a][b]
		}
	}
}

// unknown says why the form of the model is not known on a cell; empty: it is.
func (m *Prediction) unknown(ranks, threads int) string {
	var p, several, n []float64
	for _, x := range m.points {
		p, n = append(p, float64(x.Ranks)), append(n, float64(x.Threads))
		if x.Ranks > 1 {
			several = append(several, float64(x.Ranks))
		}
	}
	crowded := false
	for _, x := range m.points {
		crowded = crowded || crowding(x.Ranks*x.Threads, m.options.LearntCPUs) > 1
	}
	p, several, n = places(p), places(several), places(n)
	// assumed: too few numbers of ranks to fit an exponent, and the cell is not between them.
	assumed := func(p []float64) bool {
		const fitted = 3
		return len(p) < fitted && (float64(ranks) < p[0] || float64(ranks) > p[len(p)-1])
	}
	switch {
	case !crowded && crowding(ranks*threads, m.options.CPUs) > 1:
		return "no run had more threads than CPUs: what these take is assumed"
	case float64(threads) < n[0] || float64(threads) > n[len(n)-1]:
		return "no run had as many threads, or as few: how the work changes with them is assumed"
	case assumed(p):
		return "there are fewer than three numbers of ranks, and these do not enclose the cell: how the times change with the ranks is assumed"
	case ranks > 1 && assumed(several) && m.communicates(ranks, threads):
		// FitRanks leaves out one rank.
		return "there are fewer than three numbers of ranks above one, and these do not enclose the cell: how MPI changes with the ranks is assumed"
	}
	return ""
}

// communicates says whether MPI is a part that counts of a cell, or of a run of several ranks.
func (m *Prediction) communicates(ranks, threads int) bool {
	at := m.At(ranks, threads)
	if at.MPI > noticed*at.Time() {
		return true
	}
	return slices.ContainsFunc(m.points, func(p Measured) bool { return p.Ranks > 1 && p.MPI > noticed*p.Time })
}
