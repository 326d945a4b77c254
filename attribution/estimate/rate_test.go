package estimate

import (
	"math"
	"testing"
)

// The rates before and after a gap give its estimate.
func TestEstimate(t *testing.T) {
	perTime := func(each, doubt float64) rate {
		return rate{v: amounts{0: 0.1, 1: each}, doubt: [2]float64{doubt, doubt}, known: true}
	}
	perExecution := func(each float64) rate {
		return rate{v: amounts{0: 50, 1: each}, perExecution: true, known: true}
	}
	gap := stay{wall: 1e6, ran: 1e6, own: 1e6, executions: 5000}
	for _, c := range []struct {
		name          string
		gap           stay
		before, after rate
		time, count   float64
		sigma         float64 // of the count
	}{
		{"per time", gap, perTime(0.01, 0), perTime(0.01, 0), 1e5, 10000, 0},
		{"it changes", gap, perTime(0.01, 0), perTime(0.03, 0), 1e5, 20000, 20000 / math.Sqrt2},
		{"one period", gap, perTime(0.01, 0), rate{}, 1e5, 10000, 5000},
		{"per execution", gap, perExecution(1), perExecution(3), 250000, 10000, 10000 / math.Sqrt2},
		{"one says nothing", gap, perTime(9, 1.5), perExecution(1), 250000, 5000, 1250},
		{"neither does", gap, perTime(0.01, 1), perTime(0.01, 1), 1e5, 10000, 10000},
		{"less time than that", stay{wall: 5e4, ran: 5e4, own: 5e4, executions: 5000}, perExecution(1), perExecution(1), 5e4, 5000, 0},
		{"more at once than there is time", stay{wall: 5e4, ran: 1e6, own: 1e6}, perTime(0.01, 0), perTime(0.01, 0), 5e4, 5000, 0},
		{"nobody was there", gap, rate{}, rate{}, 0, 0, 0},
	} {
		var g estimate
		g.add(c.gap, c.before, c.after)
		sigma := math.Hypot(math.Sqrt(g.variance[1]), g.doubt[1])
		for _, x := range [][2]float64{{g.v[0], c.time}, {g.v[1], c.count}, {sigma, c.sigma}} {
			if math.Abs(x[0]-x[1]) > 1e-6*x[1] {
				t.Errorf("%s: %.1f ns, %.1f executions +- %.1f, want %.1f, %.1f +- %.1f", c.name, g.v[0], g.v[1], sigma, c.time, c.count, c.sigma)
				break
			}
		}
	}
}

// Together the constructs in a region last no longer than it can spare; their
// executions stay.
func TestFit(t *testing.T) {
	for _, c := range []struct {
		name        string
		times, want []float64
		spare       int64
	}{
		{"enough", []float64{30, 60}, []float64{30, 60}, 100},
		{"each its share", []float64{300, 100}, []float64{75, 25}, 100},
		{"nothing left", []float64{300, 0}, []float64{0, 0}, 0},
	} {
		var estimates []*estimate
		for _, time := range c.times {
			estimates = append(estimates, &estimate{v: amounts{0: time, 1: 7, 4: time / 2, 5: 7}})
		}
		fit(estimates, c.spare)
		for i, g := range estimates {
			if math.Abs(g.v[0]-c.want[i])+math.Abs(g.v[4]-c.want[i]/2) > 1e-9 || g.v[1] != 7 || g.v[5] != 7 {
				t.Errorf("%s: %v, want %v", c.name, g.v, c.want[i])
			}
		}
	}
}
