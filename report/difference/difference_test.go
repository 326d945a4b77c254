package difference_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ompp-attach/compare"
	"ompp-attach/compare/comparetest"
	"ompp-attach/event"
	"ompp-attach/report/difference"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name, got string) {
	t.Helper()
	name = "testdata/" + name + ".golden"
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

func text(t *testing.T, c *compare.Comparison) string {
	t.Helper()
	var b bytes.Buffer
	if err := difference.WriteText(&b, c, difference.Options{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// changed is the heat program after a change: two loops are slower, lines were inserted, a loop is
// new, and another one is gone.
func changed() comparetest.Program {
	p := comparetest.Heat().Shift(50, 4).Slow(2, 1.1)
	p.Loops = append(p.Loops[1:], comparetest.Loop{Function: "check", Begin: 110, End: 112, Work: 20e6, Construct: event.ParallelLoop})
	p.Counter = true
	return p
}

func TestText(t *testing.T) {
	random := rand.New(rand.NewPCG(15, 4))
	heat := comparetest.Heat()
	heat.Counter = true
	golden(t, "repeats", text(t, compare.Compare(heat.Runs(t, random, 8), changed().Runs(t, random, 8), compare.Options{})))
	golden(t, "single", text(t, compare.Compare(heat.Runs(t, random, 1), changed().Runs(t, random, 1), compare.Options{})))
	golden(t, "same", text(t, compare.Compare(heat.Runs(t, random, 8), heat.Runs(t, random, 8), compare.Options{})))
}

// A change with a percentage is no change of 0 s, and both have the same sign.
func TestSmallTimes(t *testing.T) {
	long := comparetest.Heat()
	for i := range long.Loops[:6] {
		long.Loops[i].Work *= 20
	}
	after := long.Slow(6, 0.5).Slow(0, 1.00001)
	after.Serial += 10e6
	c := compare.Compare(long.Runs(t, nil, 1), after.Runs(t, nil, 1), compare.Options{})
	var b bytes.Buffer
	if err := difference.WriteText(&b, c, difference.Options{All: true}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"serial     30 ms    40 ms  +33.3%",
		"(90-92) in output     400 us   200 us  -200 us  -50.0%", "work -200 us",
		"(10-14) in assemble  16.00 s  16.00 s  +160 us   +0.0%", "work +160 us",
		"(20-24) in assemble   7.20 s   7.20 s      0 s       =", "B took 0.1 % more time than A",
	} {
		if got := b.String() + difference.Headline(c); !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// The chance of a false finding stands in the text as a number that is not rounded to 0.
func TestAlpha(t *testing.T) {
	heat := comparetest.Heat()
	for alpha, want := range map[float64]string{0.05: "in 5 of 100 comparisons", 0.025: "in 2.5 of 100 comparisons", 0.001: "in 1 of 1000 comparisons"} {
		got := text(t, compare.Compare(heat.Runs(t, nil, 12), heat.Runs(t, nil, 12), compare.Options{Alpha: alpha}))
		if !strings.Contains(strings.Join(strings.Fields(got), " "), want) {
			t.Errorf("alpha %g: no %q in\n%s", alpha, want, got)
		}
	}
}

// Names of the measured program do no harm to a terminal.
func TestHostileNames(t *testing.T) {
	p := comparetest.Heat()
	p.Name = "he\x1b[31mat\n"
	p.Loops[0].Function = "f\x1b]0;x\a<script>\xff"
	out := text(t, compare.Compare(comparetest.Heat().Runs(t, nil, 1), p.Runs(t, nil, 1), compare.Options{}))
	if strings.ContainsAny(out, "\x1b\a") || strings.Contains(out, "\xff") {
		t.Errorf("%q", out)
	}
}

// JSON holds what the text says, and what it leaves out.
func TestJSON(t *testing.T) {
	c := compare.Compare(comparetest.Heat().Runs(t, nil, 4), changed().Runs(t, nil, 4), compare.Options{})
	x, err := compare.ParseCondition("R:solve own > 5%", nil)
	if err != nil {
		t.Fatal(err)
	}
	v, err := c.Check(x)
	if err != nil || len(v) != 1 {
		t.Fatal(v, err)
	}
	var b bytes.Buffer
	if err := difference.WriteJSON(&b, c, v); err != nil {
		t.Fatal(err)
	}
	type change struct {
		A, B struct {
			Median float64
			Values []float64
		}
		Ratio, P *float64
	}
	var got struct {
		Version int
		Regions []struct {
			Title   string
			A, B    *struct{ Begin int }
			Moved   bool
			Figures map[string]change
		}
		Violations []struct {
			Region, Sentence string
			change
		}
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Version != difference.Version || len(got.Regions) != len(c.Regions) || len(got.Violations) != 1 || got.Violations[0].Sentence != v[0].Sentence {
		t.Errorf("%+v", got)
	}
	for i, r := range got.Regions {
		own := c.Regions[i].Change(compare.OwnT)
		x := r.Figures["ownT"]
		if r.Title != compare.Title(c.Regions[i].Any()) || x.A.Median != own.Sides[0].Median || x.B.Median != own.Sides[1].Median || len(x.B.Values) != 4 ||
			(r.A == nil) != c.Regions[i].New() || (r.B == nil) != c.Regions[i].Gone() || r.Moved != c.Regions[i].Moved() {
			t.Errorf("%s: %+v, want %+v", r.Title, x, own)
		}
		if (x.Ratio == nil) != c.Regions[i].New() {
			t.Errorf("%s: ratio %v", r.Title, x.Ratio)
		}
	}
}
