package spread

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// exactly returns n² times the covariance over n ranks, computed in whole numbers.
func exactly(n int, xs, ys []int64) float64 {
	var sx, sy, sxy big.Int
	for i := range xs {
		x, y := big.NewInt(xs[i]), big.NewInt(ys[i])
		sx.Add(&sx, x)
		sy.Add(&sy, y)
		sxy.Add(&sxy, new(big.Int).Mul(x, y))
	}
	sxy.Mul(&sxy, big.NewInt(int64(n)))
	f, _ := new(big.Float).SetInt(sxy.Sub(&sxy, sx.Mul(&sx, &sy))).Float64()
	return f
}

// TestStatsOfHardFigures: deviations and correlations are right for figures that differ by little,
// compared to their size. They are also right if some ranks lack the figure, and for figures that
// no float64 holds.
func TestStatsOfHardFigures(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, base := range []int64{0, 1e6, 1e15, 1 << 60, -1 << 60, math.MinInt64 + 10} {
		for _, spread := range []int64{1, 3, 1000, 1e9} {
			for _, absent := range []int{0, 1, 500} {
				const k = 1000
				var xs, ys []int64
				var x, y Moments
				var xy Joint
				for i := range k {
					a := base + random.Int64N(spread+1)
					b := a/2 + random.Int64N(spread+1)
					xs, ys = append(xs, a), append(ys, b)
					x.Add(a, i)
					y.Add(b, i)
					xy.Add(a, b)
				}
				n := k + absent
				vx, vy, cov := exactly(n, xs, xs), exactly(n, ys, ys), exactly(n, xs, ys)
				if got, want := x.Over(n, k).StdDev, math.Sqrt(vx)/float64(n); math.Abs(got-want) > 1e-9*want {
					t.Errorf("%d+%d, %d absent: a deviation of %v, want %v", base, spread, absent, got, want)
				}
				r, ok := Correlation(n, &xy, &x, &y)
				if want := cov / math.Sqrt(vx) / math.Sqrt(vy); !ok || math.Abs(r-want) > 1e-9 {
					t.Errorf("%d+%d, %d absent: a correlation of %v, want %v", base, spread, absent, r, want)
				}
				part, ok := Share(n, &xy, &y)
				if want := cov / vy; !ok || math.Abs(part-want) > 1e-9*math.Abs(want)+1e-12 {
					t.Errorf("%d+%d, %d absent: a share of %v, want %v", base, spread, absent, part, want)
				}
			}
		}
	}
}

// Sums are exact, and equal figures do not vary at all.
func TestStatsOfEqualFigures(t *testing.T) {
	for _, v := range []int64{0, 7, math.MaxInt64, math.MinInt64} {
		var m Moments
		var with Joint
		for i := range 1000 {
			m.Add(v, i)
			with.Add(v, int64(i))
		}
		s := m.Over(1000, -1)
		if want := new(big.Int).Mul(big.NewInt(v), big.NewInt(1000)); s.Sum.Cmp(want) != 0 || s.StdDev != 0 {
			t.Errorf("1000 times %d: %+v", v, s)
		}
		if r, ok := Correlation(1000, &with, &m, &m); ok {
			t.Errorf("%d goes with something, by %v", v, r)
		}
		if s := m.Over(1001, 1000); v != 0 && (s.StdDev == 0 || s.MinRank+s.MaxRank != 1000) {
			t.Errorf("%d, and a rank without: %+v", v, s)
		}
	}
}
