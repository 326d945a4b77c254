package model

import (
	"math"
	"testing"
)

// table1 is the paper's Table 1 in seconds. The seconds are used, because the cycles belong to no
// clock of the machine. All three rows have 3.888e-7 s a cycle, which is 2.572 MHz.
var table1 = Serial{Machine: 0.050544, Overhead: 0.204217978, Cache: 0.033358818}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > tolerance {
		t.Errorf("%s: %.9g, want %.9g +- %g", what, got, want, tolerance)
	}
}

// TestTable1: Eq. 2. The cycles add up to the printed total. The seconds do not: the printed total
// is 0.289514255, 1.393459 ms more than its parts.
func TestTable1(t *testing.T) {
	near(t, "cycles", Serial{Machine: 130000, Overhead: 525252, Cache: 85799.43}.Time(), 741051.43, 1e-9)
	near(t, "seconds", table1.Time(), 0.288120796, 1e-9)
	for _, row := range [][2]float64{{130000, table1.Machine}, {525252, table1.Overhead}, {85799.43, table1.Cache}} {
		near(t, "seconds of a cycle", row[1]/row[0], 3.888e-7, 3.888e-12)
	}
}

// TestTable2: the error is by the larger of the two values: the measured one for 9 processors, the
// estimated one for 16.
func TestTable2(t *testing.T) {
	for _, row := range []struct{ estimated, real, percent float64 }{{1, 1, 0}, {1.832, 2.731, 32.916}, {3.139, 2.758, 12.132}} {
		near(t, "error", 100*Error(min(row.estimated, row.real), max(row.estimated, row.real)), row.percent, 0.01)
	}
	near(t, "error of 9 by the measured value", 100*Error(1.832, 2.731), 32.918, 0.001)
	near(t, "error of 16 by the measured value", 100*Error(3.139, 2.758), 13.814, 0.001)
}

// TestTable3: Eq. 3 to 5 with the printed overheads, which are known to half a millisecond. The
// printed total of Table 1 instead of the sum of its parts would miss rows 2 and 3.
func TestTable3(t *testing.T) {
	for _, row := range []struct {
		n                                        int
		o, printed, tolerance, parallel, speedup float64
		real, percent, percentTolerance          float64
	}{
		{1, 0.013, 0.956, 0.0012, 0.3011, 0.957, 1, 4.402, 0.01},
		{2, 0.144, 0.499, 0.0012, 0.2881, 1.000, 0.500, 0.184, 0.5},
		{3, 0.179, 0.349, 0.0005, 0.2750, 1.048, 0.334, 4.609, 0.5},
		{4, 0.203, 0.262, 0.0005, 0.2750, 1.048, 0.249, 5.214, 0.5},
	} {
		l := Loop{Serial: table1.Time(), Overhead: row.o, Threads: row.n}
		near(t, "e_mt by Eq. 5", l.Efficiency(), row.printed, row.tolerance)
		near(t, "t_par by Eq. 3", l.Parallel(), row.parallel, 1e-4)
		near(t, "speed-up", l.Speedup(), row.speedup, 1e-3)
		near(t, "e_mt by Eq. 4", Multithreading(l.Serial, row.n, l.Parallel()), l.Efficiency(), 1e-15)
		// e_mt is in the interval that the last digit of O leaves.
		l.Overhead = row.o - 0.0005
		most := l.Efficiency()
		l.Overhead = row.o + 0.0005
		if least := l.Efficiency(); row.printed < least-0.0005 || row.printed > most+0.0005 {
			t.Errorf("n_t = %d: printed %.3f is outside of %.5f to %.5f", row.n, row.printed, least, most)
		}
		near(t, "error in %", 100*Error(row.printed, row.real), row.percent, row.percentTolerance)
	}
	for _, n := range []int{2, 3} {
		l := Loop{Serial: 0.289514255, Overhead: map[int]float64{2: 0.144 + 0.0005, 3: 0.179 + 0.0005}[n], Threads: n}
		if l.Efficiency() <= map[int]float64{2: 0.4995, 3: 0.3495}[n] {
			t.Errorf("n_t = %d: the printed total of Table 1 would do as well", n)
		}
	}
}

func TestEfficiencyOfNothing(t *testing.T) {
	if e := Multithreading(0, 4, 0); e != 0 {
		t.Errorf("no time: %g", e)
	}
	if l := (Loop{Serial: 8, Threads: 4}); l.Efficiency() != 1 || l.Speedup() != 4 {
		t.Errorf("no overhead: %g", l.Efficiency())
	}
	l := Loop{Serial: 8, Unparallel: 1, Overhead: 1, Threads: 4}
	near(t, "e_mt with code that one thread executes", l.Efficiency(), 0.5, 1e-15)
}

func TestCommunication(t *testing.T) {
	c := Communication{Hybrid: 3, Pure: 2}
	if c.Efficiency() != 1.5 || c.Gain() != 2./3 {
		t.Errorf("%g, %g", c.Efficiency(), c.Gain())
	}
	if e := (Communication{Hybrid: 3}).Efficiency(); e != 0 {
		t.Errorf("nothing to compare with: %g", e)
	}
}
