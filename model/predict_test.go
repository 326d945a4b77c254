package model

import (
	"math"
	"testing"
)

// program is a run on p ranks x n threads of a program whose times are known: serial work 2, work 64
// over all ranks of which a tenth is single, threads that wait for a fifth of it, MPI 1 + 4/p.
func program(p, n int) Point {
	ranks, threads := float64(p), float64(n)
	work := 64 / ranks
	single := work / 10
	uneven := 0.
	if n > 1 {
		uneven = (work - single) / 5
	}
	x := Point{Ranks: p, Threads: n, Serial: 2, Work: work, MPI: 1 + 4/ranks, Overhead: .1}
	if n > 1 {
		x.Unparallel, x.Uneven = single, uneven
	}
	x.Time = x.Serial + (work-single+uneven)/threads + single + x.Overhead + x.MPI
	return x
}

func TestPredict(t *testing.T) {
	m := Predict([]Point{program(1, 1), program(2, 1), program(4, 1), program(1, 2), program(2, 2)}, false)
	for _, x := range [][2]int{{1, 1}, {2, 2}, {4, 2}, {8, 1}, {8, 8}, {16, 4}} {
		// The uneven part is taken relative to all of the work.
		near(t, "time", m.At(x[0], x[1]), program(x[0], x[1]).Time, 0.03*program(x[0], x[1]).Time)
	}
	if len(m.Check()) != 5 || !(m.Worst() >= 0) {
		t.Errorf("%+v", m.Check())
	}
	near(t, "communication", m.Communication(1, 1), 5/72., .05)
}

// TestPredictAmdahl: the loop of Eq. 3 without overheads comes out exactly.
func TestPredictAmdahl(t *testing.T) {
	amdahl := func(n int) Point {
		x := Point{Ranks: 1, Threads: n, Work: 9, Time: 8/float64(n) + 1}
		if n > 1 {
			x.Unparallel = 1
		}
		return x
	}
	m := Predict([]Point{amdahl(1), amdahl(2)}, false)
	for _, n := range []int{1, 2, 4, 8, 64} {
		near(t, "time", m.At(1, n), amdahl(n).Time, 1e-9)
	}
}

// TestPredictOne: of one run, the work is shared, and all else stays.
func TestPredictOne(t *testing.T) {
	strong := Predict([]Point{{Ranks: 2, Threads: 1, Time: 11, Serial: 1, Work: 8, MPI: 2}}, false)
	near(t, "time", strong.At(4, 2), 1+2+2, 1e-9)
	weak := Predict([]Point{{Ranks: 2, Threads: 1, Time: 11, Serial: 1, Work: 8, MPI: 2}}, true)
	near(t, "time", weak.At(4, 2), 1+4+2, 1e-9)
	if strong.Check() != nil || !math.IsNaN(strong.Worst()) {
		t.Error("an error of one run is known")
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
	near(t, "never below 0", Fit([]float64{1, 2}, []float64{1, 0}, 1).At(100), 0, 0)
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
