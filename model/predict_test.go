package model

import (
	"math"
	"testing"
)

// program is a run on p ranks x n threads of a program with known times. Serial work is 2, and work
// is 64 over all ranks, of which a tenth is single. Threads wait for a fifth of it. MPI is 1 + 4/p.
func program(p, n int) Measured {
	ranks, threads := float64(p), float64(n)
	work := 64 / ranks
	single := work / 10
	uneven := 0.
	if n > 1 {
		uneven = (work - single) / 5
	}
	x := Measured{Ranks: p, Threads: n, Serial: 2, Work: work, MPI: 1 + 4/ranks, Overhead: .1}
	if n > 1 {
		x.Unparallel, x.Uneven = single, uneven
	}
	x.Time = x.Serial + (work-single+uneven)/threads + single + x.Overhead + x.MPI
	return x
}

func TestPredict(t *testing.T) {
	m := Predict([]Measured{program(1, 1), program(2, 1), program(4, 1), program(1, 2), program(2, 2)}, Options{})
	for _, x := range [][2]int{{1, 1}, {2, 2}, {4, 2}, {8, 1}, {8, 8}, {16, 4}} {
		// The uneven part is taken relative to all of the work.
		near(t, "time", m.Time(x[0], x[1]), program(x[0], x[1]).Time, 0.03*program(x[0], x[1]).Time)
	}
}

// TestPredictAmdahl: the loop of Eq. 3 without overheads comes out exactly.
func TestPredictAmdahl(t *testing.T) {
	amdahl := func(n int) Measured {
		x := Measured{Ranks: 1, Threads: n, Work: 9, Time: 8/float64(n) + 1}
		if n > 1 {
			x.Unparallel = 1
		}
		return x
	}
	m := Predict([]Measured{amdahl(1), amdahl(2)}, Options{})
	for _, n := range []int{1, 2, 4, 8, 64} {
		near(t, "time", m.Time(1, n), amdahl(n).Time, 1e-9)
	}
}

// TestPredictOne: of one run, the work is shared, and all else stays.
func TestPredictOne(t *testing.T) {
	one := []Measured{{Ranks: 2, Threads: 1, Time: 11, Serial: 1, Work: 8, MPI: 2}}
	strong := Predict(one, Options{})
	near(t, "time", strong.Time(4, 2), 1+2+2, 1e-9)
	weak := Predict(one, Options{Weak: true})
	near(t, "time", weak.Time(4, 2), 1+8+2, 1e-9)
	if strong.Interval(2, 1).Why == "" || strong.Interval(4, 1).Why == "" {
		t.Error("one run gives an interval")
	}
}

// TestWeak: the problem grows with the threads of all ranks, whichever of ranks and threads grow.
// The same work per thread takes as long, and such a program is efficient.
func TestWeak(t *testing.T) {
	run := func(p, n int) Measured { return Measured{Ranks: p, Threads: n, Time: 8, Work: 8 * float64(n)} }
	m := Predict([]Measured{run(1, 1), run(2, 1), run(1, 2)}, Options{Weak: true})
	for _, x := range [][2]int{{1, 1}, {1, 4}, {4, 1}, {4, 4}} {
		near(t, "time", m.Time(x[0], x[1]), 8, 1e-9)
		near(t, "efficiency", m.Efficiency(x[0], x[1]), 1, 1e-9)
	}
	// Twice the work per thread with two threads is half the efficiency.
	slow := Measured{Ranks: 1, Threads: 2, Time: 16, Work: 32}
	near(t, "efficiency", Predict([]Measured{run(1, 1), slow}, Options{Weak: true}).Efficiency(1, 2), .5, 1e-9)
}

// TestGrowth: the work grows with threads as it does on each number of ranks, also if these have
// different fewest threads.
func TestGrowth(t *testing.T) {
	grow := map[int]float64{1: 1, 2: 1.5, 4: 2}
	run := func(p, n int) Measured {
		w := 16 / float64(p) * grow[n]
		return Measured{Ranks: p, Threads: n, Time: w / float64(n), Work: w}
	}
	m := Predict([]Measured{run(1, 1), run(1, 2), run(2, 2), run(2, 4), run(4, 2)}, Options{})
	for _, x := range [][2]int{{1, 4}, {4, 1}, {4, 4}, {8, 2}} {
		near(t, "time", m.Time(x[0], x[1]), run(x[0], x[1]).Time, 1e-6)
	}
}

// TestBelow: a fit that falls below 0 is taken for 0, and says so.
func TestBelow(t *testing.T) {
	m := Predict([]Measured{{Ranks: 4, Threads: 1, Time: 1, MPI: 1}, {Ranks: 8, Threads: 1, Time: 2, MPI: 2}}, Options{})
	if p := m.At(2, 1); p.MPI != 0 || len(p.Below) != 1 || p.Below[0] != "MPI" {
		t.Errorf("%+v", p)
	}
	if p := m.At(8, 1); p.MPI <= 0 || p.Below != nil {
		t.Errorf("%+v", p)
	}
}

func TestFit(t *testing.T) {
	x := []float64{1, 4, 9, 16}
	var y []float64
	for _, p := range x {
		y = append(y, 3+8/math.Sqrt(p))
	}
	f := Fit(x, y, 0)
	near(t, "exponent", f.C, .5, 0)
	near(t, "value", f.At(64), 4, 1e-9)
	if f := Fit(nil, nil, 1); f.At(3) != 0 {
		t.Errorf("of nothing: %+v", f)
	}
	near(t, "two places", Fit([]float64{1, 2}, []float64{8, 4}, 0).At(4), 2, 1e-9)
	// By the points alone, a is -0.02 and the function below 0 from 50 on.
	if f := Fit([]float64{1, 2}, []float64{1, .49}, 1); !f.Held || f.A != 0 || f.At(100) <= 0 {
		t.Errorf("below 0: %+v", f)
	}
	if f := Fit(x, y, 0); f.Held {
		t.Errorf("nothing is held: %+v", f)
	}
}

// TestProportional: Cannon's algorithm sends 2 sqrt(p) times, N^2/p values each.
func TestProportional(t *testing.T) {
	f := Proportional([]float64{4, 9}, []float64{4, 6}, 0)
	near(t, "calls", f.At(16), 8, 1e-9)
	f = Proportional([]float64{4, 9, 1}, []float64{900, 400, 0}, 0)
	near(t, "bytes", f.At(16), 225, 1e-9)
	f = Proportional([]float64{4, 4}, []float64{2, 2}, .5)
	near(t, "assumed", f.At(16), 1, 1e-9)
	if f := Proportional([]float64{1}, []float64{0}, 0); f.At(4) != 0 {
		t.Errorf("of nothing: %+v", f)
	}
}

func TestSteps(t *testing.T) {
	s := Steps{{1, 10}, {4, 40}}
	for at, want := range map[int]float64{1: 10, 2: 20, 4: 40, 9: 40} {
		near(t, "step", s.Value(at), want, 1e-9)
	}
	if (Steps)(nil).Value(3) != 0 {
		t.Error("of nothing")
	}
}
