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
	c, err := figures(t, right).costs(bpf.Session, false)
	if err != nil || c.Return.Sum() != 1000 || c.Emulated != (Split{400, 600}) {
		t.Fatalf("%+v, %v; want returns of 1000 ns and hits of 400 and 600", c, err)
	}
	for _, wrong := range []int{returns, instructions} {
		c, err := figures(t, func(use int) float64 {
			if use == wrong {
				return 100
			}
			return right(use)
		}).costs(bpf.Session, false)
		if !errors.Is(err, errContradicted) {
			t.Errorf("use %d takes no time: %+v, %v", wrong, c, err)
		}
	}
	free := func(use int) float64 { return min(right(use), 1100) }
	if c, err := figures(t, free).costs(bpf.Session, true); err != nil || c.Return != (Split{}) || c.Emulated.Sum() != 1000 {
		t.Errorf("at the last try: %+v, %v", c, err)
	}
}

// Turns are taken again while their figures contradict each other, a few times at most.
func TestTried(t *testing.T) {
	other := errors.New("other")
	for name, c := range map[string]struct {
		errs  []error // of each try
		turns int
	}{
		"at once":        {[]error{nil}, 1},
		"at the second":  {[]error{errContradicted, nil}, 2},
		"never":          {[]error{errContradicted, errContradicted, errContradicted}, tries},
		"another reason": {[]error{other}, 1},
	} {
		turns, lasts := 0, 0
		_, err := tried(func() error { turns++; return nil }, func(last bool) (*Costs, error) {
			if last {
				lasts++
			}
			return nil, c.errs[turns-1]
		})
		if turns != c.turns || !errors.Is(err, c.errs[len(c.errs)-1]) || (lasts == 1) != (turns == tries) {
			t.Errorf("%s: %d turns, %d of them the last try: %v", name, turns, lasts, err)
		}
	}
	if _, err := tried(func() error { return other }, nil); !errors.Is(err, other) {
		t.Errorf("turns that fail: %v", err)
	}
}
