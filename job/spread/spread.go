// Package spread tells how figures are distributed over the ranks of a job, and which of them vary
// together. Sums are exact. A rank without a figure counts with 0.
package spread

import (
	"math"
	"math/big"
	"math/bits"
)

// Stats is the distribution of a figure over ranks. A rank that does not have the figure counts
// with 0.
type Stats struct {
	Sum  *big.Int // sum over ranks; the bytes of a large job exceed 64 bits
	Mean float64
	// StdDev is the standard deviation of the ranks themselves (divided by N). They are not a
	// sample of a larger population.
	StdDev float64
	Min    int64
	Max    int64
	// The lowest ranks that have the extreme values; -1 if there are no ranks.
	MinRank, MaxRank int
}

// Variation returns the coefficient of variation: the standard deviation over the mean, or 0 if the
// mean is 0.
func (s *Stats) Variation() float64 {
	if s.Mean == 0 {
		return 0
	}
	return s.StdDev / math.Abs(s.Mean)
}

// Range returns Max - Min.
func (s *Stats) Range() float64 { return float64(s.Max) - float64(s.Min) }

// Total returns Sum as a floating-point number.
func (s *Stats) Total() float64 {
	f, _ := new(big.Float).SetInt(s.Sum).Float64()
	return f
}

// Moments gathers one figure over ranks by Welford's method. The mean is kept as a difference from
// the first value. Differences of integers are exact. So no digits are lost if the mean is much
// larger than the spread.
type Moments struct {
	n        int
	first    int64
	mean     float64
	squares  float64 // sum of the squared deviations from the mean
	sum      sum
	min, max int64
	// The lowest ranks that have the extreme values.
	minRank, maxRank int
}

// Add adds the value of a rank. Of ranks with equal extreme values the lowest one counts.
func (m *Moments) Add(v int64, rank int) {
	if m.n == 0 {
		m.first = v
	}
	if m.n == 0 || v < m.min || v == m.min && rank < m.minRank {
		m.min, m.minRank = v, rank
	}
	if m.n == 0 || v > m.max || v == m.max && rank < m.maxRank {
		m.max, m.maxRank = v, rank
	}
	m.n++
	m.sum.add(v)
	d := float64(v - m.first)
	off := d - m.mean
	m.mean += off / float64(m.n)
	m.squares += off * (d - m.mean)
}

// N returns how many ranks were added.
func (m *Moments) N() int { return m.n }

// scatter returns the sum of the squared deviations over n ranks. Ranks that were not added count
// with 0.
func (m *Moments) scatter(n int) float64 {
	mean := float64(m.first) + m.mean
	return m.squares + mean*mean*absence(m.n, n)
}

// absence is the factor of the squared mean of k ranks in the sum of the squared deviations over n
// ranks. The other ranks count with 0 (Chan, Golub and LeVeque, Updating Formulae and a Pairwise
// Algorithm, 1979).
func absence(k, n int) float64 {
	if n <= k {
		return 0
	}
	return float64(k) * float64(n-k) / float64(n)
}

// Over returns the distribution over n ranks. Ranks that were not added count with 0. absent is the
// lowest of them.
func (m Moments) Over(n, absent int) Stats {
	s := Stats{Sum: m.sum.big(), MinRank: -1, MaxRank: -1}
	if n == 0 {
		return s
	}
	s.Mean = s.Total() / float64(n)
	s.StdDev = math.Sqrt(m.scatter(n) / float64(n))
	if m.n < n {
		m.Add(0, absent)
	}
	s.Min, s.Max, s.MinRank, s.MaxRank = m.min, m.max, m.minRank, m.maxRank
	return s
}

// sum is a sum of values in 128 bits: the bytes of a large job need more than 64.
type sum struct {
	high int64
	low  uint64
}

func (s *sum) add(v int64) {
	var carry uint64
	s.low, carry = bits.Add64(s.low, uint64(v), 0)
	s.high += v>>63 + int64(carry)
}

func (s *sum) big() *big.Int {
	v := big.NewInt(s.high)
	return v.Lsh(v, 64).Add(v, new(big.Int).SetUint64(s.low))
}

// Joint gathers how two figures vary together over ranks. It works as Moments does for one figure.
type Joint struct {
	n              int
	firstX, firstY int64
	meanX, meanY   float64
	products       float64 // sum of the products of both deviations from the means
}

// Add adds the values of a rank.
func (j *Joint) Add(x, y int64) {
	if j.n == 0 {
		j.firstX, j.firstY = x, y
	}
	j.n++
	offX, dy := float64(x-j.firstX)-j.meanX, float64(y-j.firstY)
	j.meanX += offX / float64(j.n)
	j.meanY += (dy - j.meanY) / float64(j.n)
	j.products += offX * (dy - j.meanY)
}

// scatter returns the sum of the products of the deviations over n ranks. Ranks that were not added
// count with 0.
func (j *Joint) scatter(n int) float64 {
	return j.products + (float64(j.firstX)+j.meanX)*(float64(j.firstY)+j.meanY)*absence(j.n, n)
}

// Correlation returns Pearson's correlation coefficient over n ranks. ok is false if a figure does
// not vary.
func Correlation(n int, xy *Joint, x, y *Moments) (r float64, ok bool) {
	vx, vy := x.scatter(n), y.scatter(n)
	if vx <= 0 || vy <= 0 {
		return 0, false
	}
	return max(-1, min(1, xy.scatter(n)/math.Sqrt(vx)/math.Sqrt(vy))), true
}

// Share returns the share of y's variance over n ranks that goes with x. y is a sum of figures, and
// x is one of them. The share is the covariance divided by the variance. The shares of all summands
// add up to 1.
func Share(n int, xy *Joint, y *Moments) (s float64, ok bool) {
	v := y.scatter(n)
	if v <= 0 {
		return 0, false
	}
	return xy.scatter(n) / v, true
}
