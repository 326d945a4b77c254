package stack

import "testing"

// What a derived execution gets too little, because its next event came early, later ones get.
func TestMeanKeepsSums(t *testing.T) {
	y := &Mean{}
	for range 20 {
		y.Learn(1000, true)
	}
	sum := int64(0)
	for i := range 1000 {
		gap := int64(5000)
		if i%2 == 0 {
			gap = 400
		}
		d := y.Derive(gap)
		if d < 0 || d > gap {
			t.Fatalf("an execution of at most %d ns took %d", gap, d)
		}
		sum += d
	}
	if sum < 990_000 || sum > 1_000_000 {
		t.Errorf("1000 executions of 1000 ns take %d ns", sum)
	}
}

// The first executions of a place stand for later ones only as long as there are no others.
func TestMeanOfChance(t *testing.T) {
	y := &Mean{}
	for range 64 {
		y.Learn(9000, false)
	}
	if d := y.Derive(50_000); d != 9000 {
		t.Errorf("with the first executions only: %d", d)
	}
	for range enough {
		y.Learn(1000, true)
	}
	y.Learn(9000, false)
	y.Learn(3_000_000, true) // had no core
	y.owed = 0
	if d := y.Derive(50_000); d != 1000 {
		t.Errorf("executions chosen by chance took 1000 ns, derived are %d", d)
	}
	if s := y.Share(); s != 0.02 { // 1000 of 50 000 ns
		t.Errorf("share of the gaps is %g", s)
	}
}
