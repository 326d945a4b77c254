package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ompp-attach/analysis"
	"ompp-attach/event"
	"ompp-attach/internal/hostile"
	"ompp-attach/perfcounters"
	"ompp-attach/profile"
	"ompp-attach/report/properties"
	"ompp-attach/report/reporttest"
	"ompp-attach/report/words"
	"ompp-attach/severity"
)

// severityProfiles are the profiles whose severities are compared with other reports.
func severityProfiles(t *testing.T) map[string]*profile.Profile {
	out := map[string]*profile.Profile{"plain": reporttest.PlainProfile(), "mixed": reporttest.MixedProfile(),
		"figure6": reporttest.Figure6(t), "figure9": reporttest.Figure9(t, 1, 2), "costly": reporttest.Costly(), "counted": countedProfile()}
	streams, err := filepath.Glob("../testdata/streams/*.json.gz")
	if err != nil || len(streams) == 0 {
		t.Fatalf("no recorded streams: %v", err)
	}
	for _, name := range streams {
		out[filepath.Base(name)] = replayFile(t, name)
	}
	return out
}

// TestSeverityTotals: the properties are another order of the figures of other reports, not other
// figures.
func TestSeverityTotals(t *testing.T) {
	for name, recorded := range severityProfiles(t) {
		for _, o := range []Options{{}, {Raw: true}, {Classic: true}} {
			p := o.View(recorded)
			c := severity.Of(p, o.Severities())
			var classes analysis.Classes
			own, executions, calls := int64(0), int64(0), int64(0)
			for i := range p.Nodes {
				for j, x := range analysis.Classify(p, i) {
					for _, part := range []*int64{&x.Synch, &x.Imbal, &x.Limpar, &x.Mgmt, &x.MPI, &x.NoCore} {
						*part = max(0, *part)
					}
					s := &p.Nodes[i].Stats[j]
					classes.Add(x)
					if i > 0 {
						own += s.Exec.T - s.Child
						executions += int64(s.Exec.C)
					}
				}
			}
			if m := analysis.Sum(&p.Nodes[0]).MPI; m != nil {
				calls = int64(m.Calls)
			}
			serial, idle := analysis.SerialTime(p), analysis.Idle(p)
			if len(p.Threads) > 0 && !slices.ContainsFunc(p.Threads, func(t profile.Thread) bool { return t.Num == 0 }) {
				serial = 0 // of no thread
			}
			outside := max(0, c.Total(severity.NoCore)-classes.NoCore)
			for _, x := range []struct {
				what      string
				got, want int64
			}{
				{"waits", c.Total("omp_synchronisation"), classes.Synch + classes.Imbal + classes.Limpar},
				{"management", c.Total("omp_management"), classes.Mgmt},
				{"MPI", c.Total("mpi"), classes.MPI},
				{"time without a core", c.Total(severity.NoCore), classes.NoCore + outside},
				{"idle threads", c.Total(severity.IdleThreads), idle},
				{"execution", c.Total(severity.Execution), own + serial},
				{"time", c.Total(severity.Time), c.ThreadTime},
				{"visits", c.Total(severity.Visits), executions},
				{"MPI calls", c.Total("mpi_calls"), calls},
			} {
				// Different clocks: see severity.Of. Nested teams have more threads than rows.
				slack := int64(0)
				if strings.HasSuffix(name, ".gz") {
					slack = c.ThreadTime / 1000
				}
				if x.what == "time" && (analysis.HasNestedTeams(p) || name == "mixed" || name == "counted") {
					continue
				}
				if d := x.got - x.want; d < -slack || d > slack {
					t.Errorf("%s, %+v: %s: %d, other reports have %d", name, o, x.what, x.got, x.want)
				}
			}
			severitySound(t, name, p, c)
		}
	}
}

// severitySound: no value is negative, and the findings by ompP's names are
// those of the properties.
func severitySound(t *testing.T, name string, p *profile.Profile, c *severity.Cube) {
	t.Helper()
	for _, v := range c.Values {
		if v.V < 0 && !strings.HasPrefix(c.Properties[v.Property].ID, "counter:") {
			t.Errorf("%s: %s is %d", name, c.Properties[v.Property].ID, v.V)
		}
	}
	of := map[string]int64{} // by ompP's name and region
	key := func(property string, region int) string { return property + " " + words.Label(p, region) }
	for _, f := range c.Findings() {
		if x := c.Properties[f.Property].OmpP; x != "" && f.Path > 0 {
			of[key(x, c.Paths[f.Path].Region)] += f.Time
		}
	}
	all := analysis.ThreadTime(p)
	for _, x := range analysis.Properties(p) {
		switch x.Name {
		case analysis.MPITimeInParallelRegion, analysis.WaitForCore, analysis.InsufficientWorkInParallelLoop, analysis.UnparallelizedInMasterRegion:
			continue // of a region with those inside; twice in the time
		}
		if p.Regions[x.Region].Construct == event.Ordered { // ompP calls it a critical section
			continue
		}
		got, want := of[key(x.Name, x.Region)], int64(x.Severity*float64(all)+.5)
		if d := got - want; d < -all/1e4-1 || d > all/1e4+1 {
			t.Errorf("%s: %s is %d, other reports have %d", name, key(x.Name, x.Region), got, want)
		}
	}
}

func TestPropertiesText(t *testing.T) {
	for _, format := range properties.Formats {
		for name, p := range map[string]*profile.Profile{"mixed": reporttest.MixedProfile(), "mpi-figure6": reporttest.Figure6(t)} {
			var out bytes.Buffer
			var o Options
			c := o.Severity(p)
			if err := format.Write(&out, c, o.Properties(c)); err != nil {
				t.Fatal(err)
			}
			if format.Name == "json" {
				soundJSON(t, out.Bytes(), c)
				continue
			}
			reporttest.Golden(t, name+".properties-"+format.Name+".golden", out.Bytes())
			for i, line := range strings.Split(out.String(), "\n") {
				if format.Name == "text" && len(line) > 100 {
					t.Errorf("%s: line %d has %d characters", name, i+1, len(line))
				}
			}
		}
	}
}

// soundJSON: what programs read has all values, and inclusive values are their sums.
func soundJSON(t *testing.T, text []byte, c *severity.Cube) {
	t.Helper()
	var f struct {
		Properties []struct {
			ID, Parent string
			Inclusive  int64
		}
		Paths, Threads []struct{ Text, Name string }
		Findings       []struct {
			Path, Longest int
			Time          int64 `json:"time_ns"`
		}
		Values [][4]int64
	}
	if err := json.Unmarshal(text, &f); err != nil {
		t.Fatal(err)
	}
	sum := map[string]int64{}
	parent := map[string]string{}
	for _, p := range f.Properties {
		parent[p.ID] = p.Parent
	}
	for _, v := range f.Values {
		if f.Paths[v[1]].Text == "" || f.Threads[v[2]].Name == "" {
			t.Errorf("value %v is at no place", v)
		}
		for id := f.Properties[v[0]].ID; id != ""; id = parent[id] {
			sum[id] += v[3]
		}
	}
	for _, p := range f.Properties {
		if p.Inclusive != sum[p.ID] || p.Inclusive != c.Total(p.ID) {
			t.Errorf("%s: %d, the sum of its values is %d", p.ID, p.Inclusive, sum[p.ID])
		}
	}
	if len(f.Values) != len(c.Values) || len(f.Findings) == 0 {
		t.Errorf("%d of %d values, %d findings", len(f.Values), len(c.Values), len(f.Findings))
	}
	for i := 1; i < len(f.Findings); i++ {
		if f.Findings[i].Time > f.Findings[i-1].Time {
			t.Errorf("finding %d is worse than the one before", i)
		}
	}
}

func TestCondition(t *testing.T) {
	names := []string{"cycles", "instructions"}
	for _, test := range []struct {
		text string
		want error
	}{
		{"LowIPC: instructions/cycles < 0.5", nil},
		{"Long: EXECT > 1", nil},
		{"Long: EXECT >= EXECC * 2", nil},
		{"Long: EXECT <= 1e-3", nil},
		{"EXECT > 1", ErrCondition},
		{": EXECT > 1", ErrCondition},
		{"a=b: EXECT > 1", ErrCondition},
		{"Long: EXECT", ErrCondition},
		{"Long: EXECT > ", ErrCondition},
		{"Long: EXECT > 1 > 2", perfcounters.ErrFormula},
		{"Long: nothing > 1", perfcounters.ErrFormula},
		{"Long: EXECT == 1", ErrCondition},
	} {
		if c, err := ParseCondition(test.text, names); !errors.Is(err, test.want) || (err == nil) != (test.want == nil) {
			t.Errorf("%s: %v, want %v", test.text, err, test.want)
		} else if err == nil && c.Holds == nil {
			t.Errorf("%s: no rule", test.text)
		}
	}
}

func FuzzCondition(f *testing.F) {
	for _, s := range []string{"LowIPC: instructions/cycles < 0.5", "a: EXECT >= 1", "a:b:c>d", ":<", "x: (((( < ))))"} {
		f.Add(s)
	}
	p := reporttest.MixedProfile()
	f.Fuzz(func(t *testing.T, text string) {
		hostile.Within(func() {
			c, err := ParseCondition(text, []string{"cycles", "instructions"})
			if err == nil {
				severity.Of(p, severity.Options{Conditions: []severity.Condition{c}})
			}
		})
	})
}
