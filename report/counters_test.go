package report

import (
	"bytes"
	"strings"
	"testing"

	"ompp-attach/event"
	"ompp-attach/profile"
)

func countedProfile() *profile.Profile {
	return &profile.Profile{
		Meta: profile.Meta{Target: profile.Target{Program: "p"}, Life: profile.Life{Duration: 2e9},
			Choices: profile.Choices{Evaluators: []string{"X=a/b"}, Counters: []profile.Counter{{Name: "a"}, {Name: "b", Running: 0.5}, {Name: "c", Failed: "not here"}}}},
		Threads: []profile.Thread{{}, {Num: 1}},
		Regions: []profile.Region{{Construct: event.Critical, Location: profile.Location{File: "x.c", Begin: 3, End: 4}}},
		Nodes: []profile.Node{{Parent: -1, Region: -1}, {Stats: []profile.ThreadStats{
			{Exec: profile.Sum{T: 1e9, C: 1}, Counters: []int64{30, 0, 0}, ChildCounters: []int64{10, 0, 0}},
			{Thread: 1, Exec: profile.Sum{T: 1e9, C: 2}, Counters: []int64{50, 20, 0}, Uncounted: 1}}}},
	}
}

// A figure that is not known is shown as -, a figure that lacks executions has a +, and nothing is
// divided by zero.
func TestCounterColumns(t *testing.T) {
	var b bytes.Buffer
	if err := WriteOmpp(&b, countedProfile(), Options{All: true}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"                  a                  b                  c            X\n",
		"                 30                  0                  -            -\n",
		"                50+                20+                  -            -\n",
		"                  30                   20                    0                    0                    -                    -            -\n",
		"OMPP_CTR2       : b, scaled: it counted 50.00% of the time\n",
		"OMPP_CTR3       : c, not counted: not here\n",
		"OMPP_EVAL1      : X=a/b\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, b.String())
		}
	}
	if err := WriteOmpp(&b, countedProfile(), Options{Evaluators: []string{"perB=a/b"}}); err != nil || !strings.Contains(b.String(), "perB=a/b") {
		t.Errorf("a formula that is given later is not shown (%v)", err)
	}
}

// Single MPI calls have no counters, and no report complains about that.
func TestCountersOfMPICalls(t *testing.T) {
	p := countedProfile()
	for _, c := range []struct {
		construct event.Construct
		told      bool
	}{{event.Critical, true}, {event.MPI, false}} {
		p.Regions[0].Construct = c.construct
		if told := strings.Contains(strings.Join(counterNotes(p), "\n"), "are not known"); told != c.told {
			t.Errorf("%s: told %t, want %t", c.construct, told, c.told)
		}
	}
}

func TestCounterSampleTypes(t *testing.T) {
	p := buildPprof(countedProfile(), Options{})
	n := len(p.SampleType)
	if p.SampleType[n-2].Type != "a" || p.SampleType[n-1].Type != "b" {
		t.Fatalf("sample types %v, want a and b last", p.SampleType)
	}
	var a, b int64
	for _, s := range p.Sample {
		a, b = a+s.Value[n-2], b+s.Value[n-1]
	}
	if a != 20+50 || b != 20 {
		t.Errorf("exclusive counts %d and %d, want 70 and 20", a, b)
	}
}
