package efficiency

import (
	"math"
	"testing"
)

func TestExcess(t *testing.T) {
	process := func(lived, work, noCore int64) Process {
		return Process{Lived: lived, Parts: Parts{Work: work, NoCore: noCore}}
	}
	for _, c := range []struct {
		name      string
		processes []Process
		want      float64
	}{
		{"the parts are the threads' time", []Process{process(100, 70, 30)}, 0},
		{"more time without a core than the threads lived", []Process{process(100, 70, 60), process(100, 100, 0)}, 0.3},
		{"too short", []Process{process(100, 60, 10), process(100, 110, 0)}, -0.3},
		{"a life time that is not known", []Process{process(0, 70, 30)}, 0},
	} {
		r := Run{Processes: c.processes}
		if got := r.Excess(); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %g, want %g", c.name, got, c.want)
		}
	}
}
