package model

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestCoverage: of simulated programs whose runs vary, the interval has the stated share of runs,
// also on cells without a run. Runs vary in each component for itself, or as a whole.
func TestCoverage(t *testing.T) {
	few := [][2]int{{1, 1}, {2, 1}, {4, 1}, {8, 1}, {1, 2}, {2, 2}}
	many := append([][2]int{{4, 2}, {8, 2}}, few...)
	for _, c := range []struct {
		name   string
		cells  [][2]int
		repeat int
		at     [][2]int // beyond the greatest number of ranks, too
		noise  func(*rand.Rand, Measured) Measured
	}{
		{"repeated, each for itself", few, 3, [][2]int{{4, 2}, {16, 1}}, separate},
		{"repeated, as a whole", few, 2, [][2]int{{4, 2}, {2, 2}}, together},
		{"once, each for itself", many, 1, [][2]int{{4, 2}, {16, 1}, {16, 2}}, separate},
		{"once, as a whole", many, 1, [][2]int{{1, 1}, {4, 2}, {16, 2}}, together},
	} {
		t.Run(c.name, func(t *testing.T) {
			const cases = 300
			r := rand.New(rand.NewPCG(1, 2))
			inside, efficient := make([]int, len(c.at)), make([]int, len(c.at))
			for range cases {
				var points []Measured
				for _, x := range c.cells {
					for range c.repeat {
						points = append(points, c.noise(r, program(x[0], x[1])))
					}
				}
				m := Predict(points, Options{})
				for i, at := range c.at {
					run, one := c.noise(r, program(at[0], at[1])).Time, c.noise(r, program(1, 1)).Time
					x := m.Interval(at[0], at[1])
					if x.Why != "" {
						t.Fatal(x.Why)
					}
					if x.Low <= run && run <= x.High {
						inside[i]++
					}
					e := m.EfficiencyInterval(at[0], at[1])
					if v := one / run / float64(at[0]*at[1]); e.Low <= v && v <= e.High || at == [2]int{1, 1} {
						efficient[i]++
					}
				}
			}
			for i, at := range c.at {
				t.Logf("%v: %.1f%% of the times, %.1f%% of the efficiencies", at, 100*float64(inside[i])/cases, 100*float64(efficient[i])/cases)
				if in := float64(inside[i]) / cases; in < .85 || in > .95 {
					t.Errorf("%v: the interval has %.1f%% of the times", at, 100*in)
				}
				if in := float64(efficient[i]) / cases; at != [2]int{1, 1} && (in < .85 || in > .95) {
					t.Errorf("%v: the interval has %.1f%% of the efficiencies", at, 100*in)
				}
			}
		})
	}
}

// separate varies each component for itself, MPI most.
func separate(r *rand.Rand, p Measured) Measured {
	for c, sd := range (figures{.03, .02, .05, .2, .1, .15, .01}) {
		p = p.scaled(component(c), sd*r.NormFloat64(), 0)
	}
	return p
}

// together varies all components of a run alike.
func together(r *rand.Rand, p Measured) Measured {
	by := .04 * r.NormFloat64()
	for c := range beyond {
		p = p.scaled(c, by, 0)
	}
	return p.scaled(beyond, .01*r.NormFloat64(), 0)
}

// TestNoInterval: too few runs, and what is assumed and not fitted, give no interval.
func TestNoInterval(t *testing.T) {
	few := Predict([]Measured{program(1, 1), program(2, 1), program(2, 2)}, Options{})
	if why := few.Interval(2, 1).Why; !strings.Contains(why, "too few runs") {
		t.Errorf("as many runs as parameters: %q", why)
	}
	r := rand.New(rand.NewPCG(3, 4))
	var points []Measured
	for _, x := range [][2]int{{1, 1}, {2, 1}, {1, 2}, {2, 2}} {
		for range 3 {
			points = append(points, separate(r, program(x[0], x[1])))
		}
	}
	m := Predict(points, Options{})
	if i := m.Interval(2, 2); i.Why != "" || i.Low >= i.High || m.Time(2, 2) < i.Low || m.Time(2, 2) > i.High {
		t.Errorf("%+v", i)
	}
	if why := m.Interval(4, 2).Why; !strings.Contains(why, "three numbers of ranks") {
		t.Errorf("beyond two numbers of ranks: %q", why)
	}
	if why := m.Interval(2, 4).Why; !strings.Contains(why, "threads") {
		t.Errorf("beyond the numbers of threads: %q", why)
	}
	if why := Predict(points, Options{CPUs: 2}).Interval(2, 2).Why; !strings.Contains(why, "CPUs") {
		t.Errorf("more threads than CPUs: %q", why)
	}
	if why := Predict(points, Options{CPUs: 2, LearntCPUs: 2}).Interval(2, 2).Why; why != "" {
		t.Errorf("runs had more threads than CPUs: %q", why)
	}
	var huge []Measured
	for _, p := range points {
		p.Work, p.Time = 1e308, 1e308
		huge = append(huge, p)
	}
	if i := Predict(huge, Options{}).Interval(2, 2); i.Why == "" && !(i.Low <= i.High) {
		t.Errorf("huge times: %+v", i)
	}
	if i := m.EfficiencyInterval(1, 1); i.Low != 1 || i.High != 1 || math.IsNaN(i.Low) {
		t.Errorf("by definition: %+v", i)
	}
}

// TestIntervalOfMPI: runs of one rank tell nothing of MPI. So MPI's form is assumed where two
// numbers of ranks above one do not enclose a cell.
func TestIntervalOfMPI(t *testing.T) {
	const why = "ranks above one"
	for _, c := range []struct {
		ranks  []int
		at     int
		silent bool
		want   string
	}{
		{[]int{1, 2, 4}, 8, false, why}, {[]int{1, 2, 4}, 8, true, ""}, {[]int{1, 2, 4}, 4, false, ""}, {[]int{1, 2, 4}, 3, false, ""},
		{[]int{1, 2, 4}, 1, false, ""}, {[]int{1, 2, 4, 8}, 16, false, ""}, {[]int{1, 8}, 4, false, why}, {[]int{1, 8}, 8, false, ""},
	} {
		r := rand.New(rand.NewPCG(9, 10))
		var points []Measured
		for _, p := range c.ranks {
			for range 4 {
				x := program(p, 1)
				if c.silent {
					x.Time -= x.MPI
					x.MPI = 0
				}
				points = append(points, separate(r, x))
			}
		}
		i := Predict(points, Options{}).Interval(c.at, 1)
		if c.want == "" && i.Why != "" || !strings.Contains(i.Why, c.want) {
			t.Errorf("%v ranks, at %d, silent %v: %q, want %q", c.ranks, c.at, c.silent, i.Why, c.want)
		}
	}
}

// TestFormsWiden: which exponent is right is not known for sure, so the other ones widen the
// interval.
func TestFormsWiden(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	var points []Measured
	for _, x := range [][2]int{{1, 1}, {2, 1}, {4, 1}, {8, 1}, {1, 2}, {2, 2}} {
		points = append(points, separate(r, program(x[0], x[1])), separate(r, program(x[0], x[1])))
	}
	m := Predict(points, Options{})
	with := m.Interval(16, 1)
	m.forms = nil
	if without := m.Interval(16, 1); with.High-with.Low <= without.High-without.Low {
		t.Errorf("with all forms %+v, with one %+v", with, without)
	}
}
