package calibration

import (
	"errors"
	"runtime"
	"slices"
	"testing"

	"ompp-attach/bpf"
)

// figures are those of three rounds in which each use takes so many ns a call.
func figures(t *testing.T, takes func(use int) float64) *run {
	t.Helper()
	m, ok := programs[runtime.GOARCH]
	if !ok {
		t.Skipf("no programs for %s", runtime.GOARCH)
	}
	r := &run{program: m, uses: usesOf(&m), look: []float64{40}, inside: []float64{900}}
	r.ns, r.before = make([][]float64, len(r.uses)), make([][]float64, len(r.uses))
	for i := range r.uses {
		r.ns[i] = slices.Repeat([]float64{takes(i)}, 3)
		r.before[i] = []float64{420}
	}
	return r
}

// Hits and returns that seem to take no time contradict the others: nothing is told then.
func TestContradicted(t *testing.T) {
	right := func(use int) float64 {
		switch use {
		case bare:
			return 100
		case returns:
			return 2100
		}
		return 1100
	}
	c, err := figures(t, right).costs(bpf.Session)
	if err != nil || c.Return.Sum() != 1000 || c.Emulated != (Split{400, 600}) {
		t.Fatalf("%+v, %v; want returns of 1000 ns and hits of 400 and 600", c, err)
	}
	for _, wrong := range []int{returns, instructions} {
		c, err := figures(t, func(use int) float64 {
			if use == wrong {
				return 100
			}
			return right(use)
		}).costs(bpf.Session)
		if !errors.Is(err, errContradicted) {
			t.Errorf("use %d takes no time: %+v, %v", wrong, c, err)
		}
	}
}
