package compare_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"ompp-attach/compare"
	"ompp-attach/compare/comparetest"
	"ompp-attach/event"
	"ompp-attach/profile"
)

func alarms(c *compare.Comparison) (all []string) {
	for _, q := range c.Program {
		if q.Significant {
			all = append(all, q.Name)
		}
	}
	for _, r := range c.Regions {
		if r.Changed() {
			all = append(all, compare.Title(r.Any()))
		}
	}
	return all
}

const repeats = 8

// A program compared with itself: of 20 comparisons at most one names a difference, and of many no
// more than one in twenty.
func TestSameProgram(t *testing.T) {
	random := rand.New(rand.NewPCG(15, 1))
	heat := comparetest.Heat()
	const many = 200
	false20, all := 0, 0
	for i := range many {
		c := compare.Compare(heat.Runs(t, random, repeats), heat.Runs(t, random, repeats), compare.Options{})
		if c.Tests != 2+2*6 {
			t.Fatalf("%d tests of %d runs each, want those of 6 regions, wall and serial", c.Tests, repeats)
		}
		if a := alarms(c); len(a) > 0 {
			all++
			if i < 20 {
				false20++
			}
		}
	}
	if false20 > 1 || all > many/20 {
		t.Errorf("false alarms in %d of 20 and %d of %d comparisons", false20, all, many)
	}
}

// A slow-down of 10 % in one of seven loops is found and located, though the program as a whole
// hardly shows it. This also holds if a line was inserted above.
func TestPlanted(t *testing.T) {
	random := rand.New(rand.NewPCG(15, 2))
	for _, by := range []int{0, 1, 12} {
		missed, others := 0, 0
		for range 20 {
			c := compare.Compare(comparetest.Heat().Runs(t, random, repeats), comparetest.Heat().Slow(5, 1.1).Shift(30, by).Runs(t, random, repeats), compare.Options{})
			found := false
			for _, r := range c.Regions {
				if r.Changed() && r.Any().Location.Function != "norm" {
					others++
					continue
				}
				if !r.Changed() {
					continue
				}
				found = true
				work := r.Change(compare.OwnWorkT)
				if grew := work.Ratio(); grew < 0.07 || grew > 0.13 || r.Moved() != (by > 0) {
					t.Errorf("work grew by %.3f, want 0.1; moved: %v", grew, r.Moved())
				}
			}
			if !found {
				missed++
			}
		}
		if missed > 1 || others > 1 {
			t.Errorf("shifted by %d: of 20 comparisons %d did not find the loop, and %d found others", by, missed, others)
		}
	}
}

// A line inserted above changes nothing: all regions are joined, and none of their figures differs.
func TestLineInserted(t *testing.T) {
	heat := comparetest.Heat()
	for _, from := range []int{0, 30, 50, 62, 85} {
		c := compare.Compare(heat.Runs(t, nil, 1), heat.Shift(from, 1).Runs(t, nil, 1), compare.Options{})
		if len(c.Regions) != len(heat.Loops) {
			t.Errorf("a line above line %d: %d regions", from, len(c.Regions))
		}
		for _, r := range c.Regions {
			for f := range compare.NumFigures {
				if x := r.Change(f); x.Delta() != 0 {
					t.Errorf("a line above line %d: %s of %s changed by %g", from, f, compare.Title(r.Any()), x.Delta())
				}
			}
			if r.New() || r.Gone() || r.Moved() != (r.At[compare.Before].Location.Begin >= from) {
				t.Errorf("a line above line %d: %s is %+v", from, compare.Title(r.Any()), r.At)
			}
		}
	}
}

// Loops that come and go are named, and the others are not mixed up with them.
func TestNewAndGone(t *testing.T) {
	heat := comparetest.Heat()
	other := heat.Shift(50, 6)
	other.Loops[1].Construct = event.Parallel // was a loop
	other.Loops = append(other.Loops, comparetest.Loop{Function: "solve", Begin: 50, End: 53, Work: 5e6, Construct: event.ParallelLoop})
	c := compare.Compare(heat.Runs(t, nil, 1), other.Runs(t, nil, 1), compare.Options{})
	var got []string
	for side, mark := range []string{"-", "+"} {
		for _, r := range c.Only(side) {
			got = append(got, mark+compare.Title(r.Any()))
		}
	}
	want := "-PARALLEL LOOP heat.c (20-24) in assemble +PARALLEL heat.c (20-24) in assemble +PARALLEL LOOP heat.c (50-53) in solve"
	if strings.Join(got, " ") != want {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// Which region a run executes does not matter if the build is the same: places tell.
func TestSomeNotExecuted(t *testing.T) {
	heat := comparetest.Heat()
	without := func(loop int) comparetest.Program {
		p := heat
		p.Loops = append(append([]comparetest.Loop(nil), heat.Loops[:loop]...), heat.Loops[loop+1:]...)
		return p
	}
	c := compare.Compare(without(2).Runs(t, nil, 1), without(3).Runs(t, nil, 1), compare.Options{})
	if a, b := c.Only(compare.Before), c.Only(compare.After); len(a) != 1 || len(b) != 1 || a[0].Any().Location.Begin != 52 || b[0].Any().Location.Begin != 40 {
		t.Errorf("gone %d, new %d regions of one build", len(a), len(b))
	}
}

// Functions and files with other names, and objects without lines.
func TestRenamed(t *testing.T) {
	heat := comparetest.Heat()
	before := heat.Runs(t, nil, 1)
	renamed := heat
	renamed.Build, renamed.Loops = "2", append([]comparetest.Loop(nil), heat.Loops...)
	renamed.Loops[5].Function = "residual" // same lines
	after := renamed.Runs(t, nil, 1)
	for _, g := range after[0].Job.Regions {
		if g.Location.Function == "assemble" {
			g.Location.File = "/src/assembly.c"
		}
		if g.Location.Function == "solve" { // without debug information
			g.Location.File, g.Location.Begin, g.Location.End = "", 0, 0
		}
	}
	c := compare.Compare(before, after, compare.Options{})
	for _, r := range c.Regions {
		if x := r.Change(compare.OwnT); r.New() || r.Gone() || x.Delta() != 0 {
			t.Errorf("%s: %+v", compare.Title(r.Any()), r.At)
		}
	}
}

func TestStatistics(t *testing.T) {
	heat := comparetest.Heat()
	heat.Counter = true
	c := compare.Compare(heat.Runs(t, rand.New(rand.NewPCG(1, 1)), 3), heat.Slow(2, 2).Runs(t, rand.New(rand.NewPCG(2, 1)), 3), compare.Options{})
	if c.Tests != 0 || len(alarms(c)) > 0 || c.Repeats != 6 || !strings.Contains(strings.Join(c.Notes, " "), "3 and 3 runs are too few") {
		t.Errorf("3 runs: %d tests, %d repeats are enough, alarms %v, notes %q", c.Tests, c.Repeats, alarms(c), c.Notes)
	}
	x := c.Regions[0].Change(compare.OwnT)
	if x.Tested || c.Regions[0].Any().Location.Begin != 40 || math.Abs(x.Ratio()-1) > 0.1 {
		t.Errorf("%+v", x)
	}
	if n := c.Regions[0].Counter("instructions"); len(c.Regions[0].Counters()) != 1 || math.Abs(n.Ratio()-1) > 0.1 {
		t.Errorf("counters %v: %+v", c.Regions[0].Counters(), n)
	}
	c = compare.Compare(heat.Runs(t, nil, 4), heat.Slow(2, 2).Runs(t, nil, 4), compare.Options{})
	if x := c.Quantity("wall").Change; !x.Tested || x.P > 0.05 || x.Delta() != 400e6 {
		t.Errorf("4 runs: wall %+v", x)
	}
}

// A job's run is one value: the sum over its ranks.
func TestJobs(t *testing.T) {
	heat := comparetest.Heat()
	two := func() []compare.Run {
		return []compare.Run{{Name: "job", Job: comparetest.Job(t, heat.Profile(comparetest.Exactly), heat.Profile(comparetest.Exactly))}}
	}
	other := heat
	other.Name = "cold"
	c := compare.Compare(two(), other.Runs(t, nil, 1), compare.Options{})
	own := c.Regions[0].Change(compare.OwnT)
	if own.Sides[0].Median != 2*own.Sides[1].Median || len(own.Sides[0].Values) != 1 {
		t.Errorf("%+v, want twice as much", own)
	}
	if wall := c.Quantity("wall").Change; wall.Delta() != 0 {
		t.Errorf("the wall time changed: %+v", wall)
	}
	notes := strings.Join(c.Notes, " ")
	for _, want := range []string{"different programs: A heat, B cold", "A with 2 processes of 4 threads, B with 4 threads", "no substitute"} {
		if !strings.Contains(notes, want) {
			t.Errorf("no %q in %q", want, notes)
		}
	}
}

// The notes say that a side lacked cores, and that its times cannot be told.
func TestNotesOfSides(t *testing.T) {
	heat := comparetest.Heat()
	side := func(change func(*profile.Profile)) []compare.Run {
		p := heat.Profile(comparetest.Exactly)
		change(p)
		return []compare.Run{{Name: "run", Job: comparetest.Job(t, p)}}
	}
	away := func(p *profile.Profile) {
		p.Threads = p.Threads[:1]
		for i := range p.Nodes {
			p.Nodes[i].Stats = p.Nodes[i].Stats[:min(1, len(p.Nodes[i].Stats))]
		}
		p.Nodes[0].Stats = []profile.ThreadStats{{NoCore: &profile.Cost{Exec: p.Meta.Duration / 4}}}
	}
	c := compare.Compare(side(away), side(comparetest.Hidden), compare.Options{})
	for _, want := range []string{"A with 1 thread, B with 4 threads", "A, run: threads were ready to run but had no core for 25.0 % of their time",
		"B, run: how the time divides cannot be told"} {
		if notes := strings.Join(c.Notes, " "); !strings.Contains(notes, want) {
			t.Errorf("no %q in %q", want, notes)
		}
	}
	if notes := strings.Join(compare.Compare(side(func(*profile.Profile) {}), side(func(*profile.Profile) {}), compare.Options{}).Notes, " "); strings.Contains(notes, "run:") {
		t.Errorf("of sides that lack nothing: %q", notes)
	}
}

// A barrier that has a region of its own only because its loop was not seen bears the note that the
// reports have on it. Other notes of a region are of one rank only.
func TestNotesOnImplicitBarriers(t *testing.T) {
	of := func(c event.Construct, note string) []compare.Run {
		heat := comparetest.Heat()
		heat.Loops[1].Construct = c
		p := heat.Profile(comparetest.Exactly)
		p.Regions[1].Notes = []string{note}
		return []compare.Run{{Name: "run", Job: comparetest.Job(t, p)}}
	}
	c := compare.Compare(of(event.Barrier, profile.NoteImplicit+", such as a loop"), of(event.Loop, "other"), compare.Options{})
	notes := strings.Join(c.Notes, " ")
	if want := "BARRIER heat.c (20-24) in assemble: " + profile.NoteImplicit + ", such as a loop."; !strings.Contains(notes, want) || strings.Contains(notes, "other") {
		t.Errorf("no %q in %q", want, notes)
	}
}

func TestConditions(t *testing.T) {
	heat := comparetest.Heat()
	one := compare.Compare(heat.Runs(t, nil, 1), heat.Slow(2, 1.2).Runs(t, nil, 1), compare.Options{})
	same := compare.Compare(heat.Runs(t, nil, 1), heat.Runs(t, nil, 1), compare.Options{})
	for _, c := range []struct {
		text string
		n    int // violations
	}{
		{"time > 5%", 1}, {"time>5%", 1}, {"time > 9%", 0}, {"wall > 70ms", 1}, {"time > 0.09s", 0}, {"time < -1%", 0}, {"time < 9%", 1},
		{"R:solve time > 5%", 1}, {"R:solve own > 19%", 1}, {"R:solve ownT > 21 %", 0}, {"R:heat.c (40-48) work > 0.3s", 1},
		{"R:* time > 1%", 1}, {"R:norm time > 0%", 0}, {"R:* count > 0", 0}, {"R:* bytes > 1kB", 0}, {"R:* imbal > 0s", 0},
		{"no_core > 0s", 0}, {"nocore > 0s", 0}, // its older name
	} {
		x, err := compare.ParseCondition(c.text, nil)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		if v, err := one.Check(x); err != nil || len(v) != c.n {
			t.Errorf("%s: %d violations, want %d (%v)", c.text, len(v), c.n, err)
		}
		if v, _ := same.Check(x); !x.Below && len(v) > 0 {
			t.Errorf("%s holds for equal runs: %s", c.text, v[0].Sentence)
		}
	}
	x, _ := compare.ParseCondition("R:solve own > 10%", nil)
	v, _ := one.Check(x)
	if want := "R:solve own > 10%: the own time of PARALLEL LOOP heat.c (40-48) in solve went from 1.6 s to 1.92 s (+20.0 %); too few repeats to tell this from noise"; v[0].Sentence != want {
		t.Errorf("%s\nwant %s", v[0].Sentence, want)
	}
	x, _ = compare.ParseCondition("R:nosuch own > 10%", nil)
	if _, err := one.Check(x); err == nil || !strings.Contains(err.Error(), `contains "nosuch"`) {
		t.Errorf("no such region: %v", err)
	}
}

// A condition on times that cannot be told is not checked. Counts are exact.
func TestConditionsOnHiddenTimes(t *testing.T) {
	heat := comparetest.Heat()
	side := func(change func(*profile.Profile)) []compare.Run {
		p := heat.Profile(comparetest.Exactly)
		change(p)
		return []compare.Run{{Name: "run", Job: comparetest.Job(t, p)}}
	}
	for _, text := range []string{"time > 50%", "R:solve imbal < 1s", "R:* own > 50%", "R:solve count > 0"} {
		x, err := compare.ParseCondition(text, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []*compare.Comparison{
			compare.Compare(side(comparetest.Hidden), side(func(*profile.Profile) {}), compare.Options{}),
			compare.Compare(side(func(*profile.Profile) {}), side(comparetest.Hidden), compare.Options{}),
		} {
			v, err := c.Check(x)
			var untold *compare.Untold
			if counts := strings.Contains(text, "count"); len(v) > 0 || errors.As(err, &untold) == counts || counts && err != nil {
				t.Errorf("%s: %v, %v", text, v, err)
			}
			if untold != nil && !strings.HasPrefix(err.Error(), `"`+text+`" was not checked: the times of run cannot be told: `) {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
}

func TestBadConditions(t *testing.T) {
	for _, c := range []struct {
		text string
		at   string
		want string
	}{
		{"", "1", "comparison is missing"}, {"time 5%", "8", "comparison is missing"}, {"tme > 5%", "1", `no figure "tme"; there are time, wall`},
		{"R:solve > 5%", "8", "figure is missing"}, {"R:solve imba > 5%", "9", `no figure "imba"; there are time, own`},
		{"x time > 5%", "1", "R:REGION"}, {"R: time > 5%", "1", "R:REGION"}, {"time > much", "8", "a number"}, {"time >", "7", "a number"},
		{"time > 5", "9", "s, ms, us or ns"}, {"R:x bytes > 5 s", "15", "MB"}, {"R:ü time > 5 %%", "14", "%, s"}, {"R:x count > 2s", "14", "plain number"},
		{"R:x cycles > 5%", "5", "instructions"},
	} {
		_, err := compare.ParseCondition(c.text, []string{"instructions"})
		if err == nil || !strings.Contains(err.Error(), "at character "+c.at+":") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v; want character %s, %q", c.text, err, c.at, c.want)
		}
	}
}

// With repeats, a change that may be noise does not hold, and one that is more does.
func TestConditionWithRepeats(t *testing.T) {
	random := rand.New(rand.NewPCG(15, 3))
	heat := comparetest.Heat()
	held := 0
	for range 20 {
		c := compare.Compare(heat.Runs(t, random, 5), heat.Runs(t, random, 5), compare.Options{})
		x, _ := compare.ParseCondition("R:solve time > 0%", nil)
		v, _ := c.Check(x)
		held += min(1, len(v))
	}
	if held > 1 {
		t.Errorf("%d of 20 comparisons of a program with itself failed", held)
	}
	c := compare.Compare(heat.Runs(t, random, 5), heat.Slow(3, 1.1).Runs(t, random, 5), compare.Options{})
	x, _ := compare.ParseCondition("R:solve time > 5%", nil)
	if v, _ := c.Check(x); len(v) != 1 || v[0].Region.Any().Location.Begin != 52 || !strings.HasSuffix(v[0].Sentence, "p=0.008") {
		t.Errorf("%+v", v)
	}
}
