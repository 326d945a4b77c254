package main

import (
	"math"
	"os"
	"testing"
	"time"
)

func TestQuantile(t *testing.T) {
	for _, tc := range []struct {
		values []float64
		part   float64
		want   float64
	}{
		{[]float64{7}, 0.25, 7},
		{[]float64{5, 1, 3, 2, 4}, 0.25, 2},
		{[]float64{4, 1, 2, 3}, 0.25, 1.75},
		{[]float64{4, 1, 2, 3}, 1, 4},
	} {
		if got := quantile(tc.values, tc.part); got != tc.want {
			t.Errorf("quantile %v of %v: %v, want %v", tc.part, tc.values, got, tc.want)
		}
	}
}

// One delayed turn in each way does not move the slow-down. The way that comes first changes.
func TestPairsOfTurns(t *testing.T) {
	bare, ours := []float64{2, 2, 9, 2}, []float64{3, 30, 3, 3}
	order := ""
	turn := func(name string, values *[]float64) func() (float64, error) {
		return func() (float64, error) {
			order += name
			v := (*values)[0]
			*values = (*values)[1:]
			return v, nil
		}
	}
	var p pairs
	if err := p.take(4, turn("b", &bare), turn("o", &ours)); err != nil {
		t.Fatal(err)
	}
	if order != "boobboob" {
		t.Errorf("order %s", order)
	}
	share, lower, upper, ok := p.slowdown()
	// Pair by pair: 0.5, 14, -2/3, 0.5.
	wantLower, wantUpper := 0.5-0.25*(0.5+2./3), 0.5+0.25*(14-0.5)
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }
	if !ok || share != 0.5 || !near(lower, wantLower) || !near(upper, wantUpper) {
		t.Errorf("slow-down %v (%v to %v), %v; want 0.5 (%v to %v)", share, lower, upper, ok, wantLower, wantUpper)
	}
	if _, _, _, ok := (&pairs{}).slowdown(); ok {
		t.Error("a slow-down without turns")
	}
}

// The processor time of a process grows while the process computes.
func TestProcessorTime(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	pids := executing(exe, os.Getpid())
	if len(pids) != 1 || pids[0] != os.Getpid() {
		t.Fatalf("processes that execute this test: %v", pids)
	}
	before, err := processorTimes(pids)
	if err != nil {
		t.Fatal(err)
	}
	const long = 20 * time.Millisecond
	for own := before; own-before < long.Seconds(); {
		if own, err = processorTimes(pids); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := processorTimes([]int{1 << 28}); err == nil {
		t.Error("processor time of no process")
	}
}
