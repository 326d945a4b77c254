package main

import (
	"errors"
	"testing"
)

func TestSpreadOf(t *testing.T) {
	for _, tc := range []struct {
		in   []float64
		want spread
	}{
		{nil, spread{}},
		{[]float64{3}, spread{3, 3, 3}},
		{[]float64{9, 1, 2}, spread{2, 1, 9}},
		{[]float64{8, 1, 2, 4}, spread{3, 1, 8}},
	} {
		if got := spreadOf(tc.in); got != tc.want {
			t.Errorf("spread of %v: %v, want %v", tc.in, got, tc.want)
		}
	}
}

// Differences and ratios compare ways within one round, in rounds in which both ways had a turn.
func TestPairs(t *testing.T) {
	v := func(values ...float64) (rounds [][]float64) {
		for _, x := range values {
			if x == 0 {
				rounds = append(rounds, nil)
			} else {
				rounds = append(rounds, []float64{x})
			}
		}
		return rounds
	}
	all := &turns{bare: v(100, 200, 300), empty: v(110, 220, 310), ours: v(130, 260, 330), script: v(400, 0, 400)}
	for _, tc := range []struct {
		name string
		got  func() (spread, bool)
		want spread
		ok   bool
	}{
		{"own", func() (spread, bool) { return all.of(bare, 0) }, spread{200, 100, 300}, true},
		{"added", func() (spread, bool) { return all.added(ours, bare, 0) }, spread{30, 30, 60}, true},
		{"ratio", func() (spread, bool) { return all.ratio(ours, empty, 0) }, spread{3, 3, 3}, true},
		{"share", func() (spread, bool) { return all.share(empty, 0) }, spread{0.1, 10. / 300, 0.1}, true},
		{"every other round", func() (spread, bool) { return all.ratio(script, ours, 0) }, spread{(10 + 100./30) / 2, 100. / 30, 10}, true},
		{"not measured", func() (spread, bool) { return all.added(shim, bare, 0) }, spread{}, false},
	} {
		got, ok := tc.got()
		near := func(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 }
		if ok != tc.ok || !near(got.median, tc.want.median) || !near(got.min, tc.want.min) || !near(got.max, tc.want.max) {
			t.Errorf("%s: %v, %t, want %v, %t", tc.name, got, ok, tc.want, tc.ok)
		}
	}
}

// Each way gets a turn in each round; slow ways get one in every other round. Each turn that begins
// also ends, and an error stops the measurement.
func TestTakeTurns(t *testing.T) {
	open, begun := 0, 0
	begin := func() (func() error, error) {
		open++
		begun++
		return func() error { open--; return nil }, nil
	}
	by := [numWays]*means{bare: {}, ours: {begin: begin}, script: {begin: begin}}
	got, err := takeTurns(by, 3, 2, func(m *means, item int) (float64, error) { return float64(10*open + item), nil })
	if err != nil || open != 0 || begun != 3+2 {
		t.Fatalf("%v; %d open, %d begun", err, open, begun)
	}
	if s, _ := got.of(ours, 1); s != (spread{11, 11, 11}) {
		t.Errorf("ours: %v", s)
	}
	if got[script][1] != nil || got[script][2] == nil || got[shim][0] != nil {
		t.Errorf("turns of the script: %v, of the shim: %v", got[script], got[shim])
	}
	if _, err := takeTurns(by, 3, 1, func(*means, int) (float64, error) { return 0, errors.New("no") }); err == nil || open != 0 {
		t.Errorf("%v; %d open", err, open)
	}
}
