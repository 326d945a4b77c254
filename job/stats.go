package job

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
	// Standard deviation of the ranks themselves, not of a population that they were drawn
	// from: divided by N.
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
func (s *Stats) Total() float64 { return toFloat(s.Sum) }

// wide is a 192-bit integer in two's complement, least significant word first. A product of two
// figures takes 126 bits, so sums of squares are exact for any number of ranks. Neither the order
// of ranks, nor a mean much larger than the spread, can falsify a deviation.
type wide [3]uint64

// addProduct adds a*b.
func (w *wide) addProduct(a, b int64) {
	hi, lo := bits.Mul64(magnitude(a), magnitude(b))
	var carry uint64
	if (a < 0) != (b < 0) {
		w[0], carry = bits.Sub64(w[0], lo, 0)
		w[1], carry = bits.Sub64(w[1], hi, carry)
		w[2] -= carry
		return
	}
	w[0], carry = bits.Add64(w[0], lo, 0)
	w[1], carry = bits.Add64(w[1], hi, carry)
	w[2] += carry
}

func magnitude(v int64) uint64 {
	if v < 0 {
		return -uint64(v)
	}
	return uint64(v)
}

func (w *wide) big() *big.Int {
	v := new(big.Int).SetUint64(w[2])
	if int64(w[2]) < 0 {
		v.SetInt64(int64(w[2]))
	}
	for _, word := range []uint64{w[1], w[0]} {
		v.Lsh(v, 64).Add(v, new(big.Int).SetUint64(word))
	}
	return v
}

// moments gathers the sums of one figure over ranks.
type moments struct {
	n        int
	sum, sq  wide
	min, max int64
	// The lowest ranks that have the extreme values.
	minRank, maxRank int
}

// add adds the value of a rank. Of ranks with equal extreme values the lowest one counts, so that
// the order of adding does not matter.
func (m *moments) add(v int64, rank int) {
	if m.n == 0 || v < m.min || v == m.min && rank < m.minRank {
		m.min, m.minRank = v, rank
	}
	if m.n == 0 || v > m.max || v == m.max && rank < m.maxRank {
		m.max, m.maxRank = v, rank
	}
	m.n++
	m.sum.addProduct(v, 1)
	m.sq.addProduct(v, v)
}

// scatter returns n times the sum of products less the product of the sums. This is n² times a
// covariance, exactly.
func scatter(n int, xy, x, y *wide) *big.Int {
	v := xy.big()
	v.Mul(v, big.NewInt(int64(n)))
	return v.Sub(v, new(big.Int).Mul(x.big(), y.big()))
}

// over returns the distribution over n ranks. Ranks that were not added count with 0; absent is the
// lowest of these.
func (m moments) over(n, absent int) Stats {
	if m.n < n {
		missing := n - m.n
		m.add(0, absent)
		m.n += missing - 1
	}
	s := Stats{Sum: m.sum.big(), Min: m.min, Max: m.max, MinRank: -1, MaxRank: -1}
	if n == 0 {
		return s
	}
	s.MinRank, s.MaxRank = m.minRank, m.maxRank
	s.Mean = s.Total() / float64(n)
	s.StdDev = math.Sqrt(toFloat(scatter(n, &m.sq, &m.sum, &m.sum))) / float64(n)
	return s
}

func toFloat(v *big.Int) float64 {
	f, _ := new(big.Float).SetInt(v).Float64()
	return f
}

// correlation returns Pearson's correlation coefficient over n ranks. ok is false if one of the two
// figures does not vary.
func correlation(n int, xy *wide, x, y *moments) (r float64, ok bool) {
	vx, vy := scatter(n, &x.sq, &x.sum, &x.sum), scatter(n, &y.sq, &y.sum, &y.sum)
	if vx.Sign() <= 0 || vy.Sign() <= 0 {
		return 0, false
	}
	r = toFloat(scatter(n, xy, &x.sum, &y.sum)) / math.Sqrt(toFloat(vx)) / math.Sqrt(toFloat(vy))
	return max(-1, min(1, r)), true
}

// share returns the part of y's variance over n ranks that goes with x, where y is a sum of figures
// that include x. It is the covariance over the variance. The shares of all summands add up to 1.
func share(n int, xy *wide, x, y *moments) (s float64, ok bool) {
	v := scatter(n, &y.sq, &y.sum, &y.sum)
	if v.Sign() <= 0 {
		return 0, false
	}
	return toFloat(scatter(n, xy, &x.sum, &y.sum)) / toFloat(v), true
}
