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
	free := func(use int) float64 { return min(right(use), 1100) }
	if c, err := figures(t, free).costs(bpf.Session); !errors.Is(err, errContradicted) || c == nil || c.Return != (Split{}) || c.Emulated.Sum() != 1000 {
		t.Errorf("returns take no time: %+v, %v", c, err)
	}
	nothing := func(use int) float64 {
		if use == instructions {
			return 100
		}
		return right(use)
	}
	if c, err := figures(t, nothing).costs(bpf.Session); !errors.Is(err, errContradicted) || c != nil {
		t.Errorf("a hit takes no time: %+v, %v", c, err)
	}
}

// Turns are taken again while their figures contradict each other, a few times at most.
func TestCostsOfTurns(t *testing.T) {
	other := errors.New("other")
	good, half := &Costs{Read: 1}, &Costs{Read: 2}
	type result struct {
		costs *Costs
		err   error
	}
	nothing, part := result{nil, errContradicted}, result{half, errContradicted}
	for name, c := range map[string]struct {
		tries []result
		want  result
	}{
		"at once":                  {[]result{{good, nil}}, result{good, nil}},
		"at the second":            {[]result{nothing, {good, nil}}, result{good, nil}},
		"better at the second":     {[]result{part, {good, nil}}, result{good, nil}},
		"never":                    {[]result{nothing, nothing, nothing}, nothing},
		"in part, nothing after":   {[]result{part, nothing, nothing}, result{half, nil}},
		"for another reason, once": {[]result{{nil, other}}, result{nil, other}},
	} {
		turns := 0
		got, err := costsOfTurns(func() error { turns++; return nil }, func() (*Costs, error) {
			r := c.tries[turns-1]
			return r.costs, r.err
		})
		if turns != len(c.tries) || got != c.want.costs || !errors.Is(err, c.want.err) {
			t.Errorf("%s: %d turns, %+v, %v", name, turns, got, err)
		}
	}
	if _, err := costsOfTurns(func() error { return other }, nil); !errors.Is(err, other) {
		t.Errorf("turns that fail: %v", err)
	}
}
