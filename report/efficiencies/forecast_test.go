package efficiencies

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"ompp-attach/forecast"
	"ompp-attach/model"
	"ompp-attach/mpi"
	"ompp-attach/signature"
)

// recorded returns a run of 16 s of work over p ranks with n threads each, of which a part is
// longer.
func recorded(p, n int, longer float64) forecast.Run {
	x := model.Measured{Ranks: p, Threads: n, Serial: .5, Work: 16 / float64(p) * (1 + longer), MPI: .2 * float64(p-1) * (1 - longer)}
	if n > 1 {
		x.Uneven = x.Work / 10 * (1 + longer)
	}
	x.Time = x.Serial + (x.Work+x.Uneven)/float64(n) + x.MPI
	sum := x.MPI * float64(p)
	x.Communication = &sum
	return forecast.Run{Label: fmt.Sprintf("run-%dx%d", p, n), Signature: &signature.Signature{Program: "made", Arguments: "100", Hosts: []string{"node1"},
		UsesMPI: true, Ranks: p, Accounting: mpi.Minimal.String(), Times: &x}}
}

func recordedForecast(t *testing.T) *forecast.Forecast {
	t.Helper()
	runs := []forecast.Run{recorded(1, 1, 0), recorded(1, 1, .02), recorded(2, 1, .01), recorded(2, 2, 0), recorded(2, 2, .03), recorded(3, 1, .01),
		recorded(4, 1, .02), recorded(4, 1, 0)}
	f, err := forecast.New(runs, []forecast.Run{recorded(4, 2, .01)}, forecast.Options{Cores: 8, CPUs: 4})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestForecastGolden(t *testing.T) {
	for name, write := range map[string]func(io.Writer, *forecast.Forecast) error{"predict.txt": WriteForecastText, "predict.json": WriteForecastJSON} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := write(&b, recordedForecast(t)); err != nil {
				t.Fatal(err)
			}
			golden(t, name, b.Bytes())
		})
	}
}

func TestForecastOfOne(t *testing.T) {
	f, err := forecast.New([]forecast.Run{recorded(2, 2, 0)}, nil, forecast.Options{Weak: true})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := WriteForecastText(&b, f); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"cannot foretell each other", "assumed, since all runs have as many ranks", "how work and waiting change with threads is not known",
		"No interval on", "too few runs", "(weak scaling)"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the text lacks %q:\n%s", want, b.String())
		}
	}
}
