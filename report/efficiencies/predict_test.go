package efficiencies

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ompp-attach/efficiency"
)

func forecast(t *testing.T, s *efficiency.Scaling) *Forecast {
	t.Helper()
	p, err := s.Predict()
	if err != nil {
		t.Fatal(err)
	}
	return &Forecast{p, s, 8}
}

func TestForecastGolden(t *testing.T) {
	s := efficiency.Compare([]*efficiency.Run{made(1, 1, 16, 0, ""), made(2, 1, 8, 1, ""), made(2, 2, 10, 1, ""), made(3, 1, 16./3, 1.5, "")},
		[]string{"1x1", "2x1", "2x2", "3x1"}, false)
	for name, write := range map[string]func(io.Writer, *Forecast, Options) error{"predict.txt": WriteForecastText, "predict.json": WriteForecastJSON} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := write(&b, forecast(t, s), options); err != nil {
				t.Fatal(err)
			}
			name := filepath.Join("testdata", name+".golden")
			if *update {
				if err := os.WriteFile(name, b.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(b.Bytes(), want) {
				t.Errorf("%s differs; got\n%s", name, b.Bytes())
			}
		})
	}
}

// TestForecastAdvice: the advice of the paper's case: the loop does not gain by threads.
func TestForecastAdvice(t *testing.T) {
	// Table 3: the loop's 0.288 s, and overheads of 0.013 and 0.144 s with 1 and 2 threads.
	run := func(threads int, overhead float64) *efficiency.Run {
		r := made(1, threads, .288120796, .001, "")
		p := &r.Processes[0]
		p.Parts[efficiency.Mgmt] = int64(overhead * float64(threads) * 1e9)
		p.Wall += int64(overhead * 1e9)
		p.OutMPI += int64(overhead * 1e9)
		return efficiency.New(r.Program, r.Processes, r.Regions)
	}
	f := forecast(t, efficiency.Compare([]*efficiency.Run{run(1, .013), run(2, .144)}, []string{"1", "2"}, false))
	advice := strings.Join(f.advice(f.cells()), "\n")
	for _, want := range []string{"With 1 rank, threads beyond 1 do not pay: twice as many gain ~4.3%."} {
		if !strings.Contains(advice, want) {
			t.Errorf("the advice lacks %q:\n%s", want, advice)
		}
	}
}

// TestForecastWithoutMPI: a program without MPI is foretold on other numbers of threads only.
func TestForecastWithoutMPI(t *testing.T) {
	r := made(1, 2, 8, 0, "")
	r.Processes[0].UsesMPI = false
	f := forecast(t, efficiency.Compare([]*efficiency.Run{r}, []string{"a"}, false))
	for _, c := range f.cells() {
		if c.Ranks != 1 {
			t.Errorf("%+v", c)
		}
	}
	if len(f.cells()) != 4 { // 1, 2, 4, 8
		t.Errorf("%+v", f.cells())
	}
}

func TestForecastOfOne(t *testing.T) {
	var b bytes.Buffer
	if err := WriteForecastText(&b, forecast(t, efficiency.Compare([]*efficiency.Run{made(2, 2, 10, 1, "")}, []string{"2x2"}, true)), options); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Fewer than three runs", "assumed, since all runs have as many ranks", "how work and waiting grow with threads is not known"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the text lacks %q:\n%s", want, b.String())
		}
	}
}
