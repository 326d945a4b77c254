package stack

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The sum of what is derived follows what is known, also where the next events come early.
func TestMeanKeepsSums(t *testing.T) {
	y := &Mean{}
	rnd := rand.New(rand.NewPCG(1, 1))
	takes := func() (d, gap int64) { // half of the next events come at once
		if gap = 5000 + rnd.Int64N(1000); rnd.IntN(2) == 0 {
			gap = 400 + rnd.Int64N(50)
		}
		return min(gap, 900+rnd.Int64N(200)), gap
	}
	want, got := int64(0), int64(0)
	for i := range 20_000 {
		d, gap := takes()
		if i%16 == 0 {
			y.Learn(d, gap, true)
			continue
		}
		want += d
		derived := y.Derive(gap, nil)
		if derived < 0 || derived > gap {
			t.Fatalf("an execution of at most %d ns took %d", gap, derived)
		}
		got += derived
	}
	if math.Abs(float64(got-want)) > 0.01*float64(want) {
		t.Errorf("the executions took %d ns, derived are %d", want, got)
	}
}

// Executions that took long stand for those with a gap as long, and not for others.
func TestMeanOfLongGaps(t *testing.T) {
	y := &Mean{}
	for range 1000 {
		y.Learn(1000, 3000, true)
	}
	for range 10 {
		y.Learn(3_000_000, 3_002_000, true)
	}
	if d := y.Derive(3000, nil); d < 990 || d > 1010 {
		t.Errorf("of 3 us: %d ns, want 1000", d)
	}
	if d := y.Derive(3_500_000, nil); d < 2_400_000 {
		t.Errorf("of 3.5 ms: %d ns, want most of it", d)
	}
	// The same with what is known of other regions.
	z := &Mean{}
	z.Learn(1000, 3000, true)
	if d := z.Derive(3_500_000, y); d < 2_400_000 {
		t.Errorf("of 3.5 ms, as in other regions: %d ns, want most of it", d)
	}
}

// The first executions of a place stand for later ones only as long as there are no others.
func TestMeanOfChance(t *testing.T) {
	y := &Mean{}
	for range 64 {
		y.Learn(9000, 50_000, false)
	}
	if d := y.Derive(50_000, nil); d != 9000 {
		t.Errorf("with the first executions only: %d", d)
	}
	for range 100 {
		y.Learn(1000, 50_000, true)
	}
	y.Learn(9000, 50_000, false)
	sum := int64(0)
	for range 100 {
		sum += y.Derive(50_000, nil)
	}
	if sum < 90_000 || sum > 105_000 {
		t.Errorf("100 executions of 1000 ns take %d ns", sum)
	}
	if !y.Fits(1500) || y.Fits(500) {
		t.Error("an execution of 1000 ns is over after 500 ns, or not after 1500")
	}
}
