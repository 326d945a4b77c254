package efficiencies

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"ompp-attach/forecast"
	"ompp-attach/model"
)

// TestForecastOfBriefRuns: of runs of milliseconds parts are 0, or noise. Whatever they are, there
// is a prediction that consists of numbers, or one sentence that says why there is none.
func TestForecastOfBriefRuns(t *testing.T) {
	cells := [][2]int{{1, 1}, {1, 2}, {2, 1}, {2, 2}, {3, 3}, {4, 1}, {9, 2}}
	for _, c := range []struct {
		name             string
		cases            int
		longest          float64
		refused, without int // at most
	}{
		{"brief", 200, 1e-3, 5, 0},
		{"of all lengths", 200, 1e3, 5, 0},
		{"beyond computing", 50, 1e300, 50, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			some := func() float64 {
				switch r.IntN(3) {
				case 0:
					return 0
				case 1:
					return c.longest * r.Float64()
				}
				return c.longest * math.Pow(10, -10*r.Float64())
			}
			refused := 0
			for range c.cases {
				var runs []forecast.Run
				for range 2 + r.IntN(6) {
					at := cells[r.IntN(len(cells))]
					run := recorded(at[0], at[1], 0)
					sum := some()
					*run.Times = model.Measured{Ranks: at[0], Threads: at[1], Time: c.longest*1e-9 + some(), Serial: some(), Work: some(), Unparallel: some(),
						Uneven: some(), Overhead: some(), MPI: some(), Communication: &sum}
					runs = append(runs, run)
				}
				last := len(runs) - 1
				f, err := forecast.New(runs[:last], runs[last:], forecast.Options{Cores: 18, CPUs: 2 * r.IntN(2), Weak: r.IntN(2) == 0})
				if err != nil {
					refused++
					if !strings.Contains(err.Error(), "give ") {
						t.Errorf("it does not say what to do: %v", err)
					}
					continue
				}
				var text, json bytes.Buffer
				if err := WriteForecastJSON(&json, f); err != nil {
					t.Fatal(err)
				}
				if err := WriteForecastText(&text, f); err != nil {
					t.Fatal(err)
				}
				for _, bad := range []string{"NaN", "Inf", "~-"} {
					if at := strings.Index(text.String(), bad); at >= 0 {
						t.Fatalf("%s in %s", bad, text.String()[max(0, at-500):min(text.Len(), at+100)])
					}
				}
			}
			if refused > c.refused {
				t.Errorf("%d of %d are refused", refused, c.cases)
			}
		})
	}
}
