package attribution

import (
	"os"
	"testing"

	"ompp-attach/attribution/stream"
	"ompp-attach/event"
)

// TestRecordedLevels: testdata/levels.json.gz is a run of `levelstorm 900000000`
// (testdata/programs/levelstorm.c) on a busy machine, with --max-overhead 5%. It has the levels
// tick and rare of one library, the level cheap, and the function now_and_then. The program calls
// each function but dear_tick 15 times.
func TestRecordedLevels(t *testing.T) {
	f, err := os.Open("testdata/levels.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s, err := stream.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	// The calls of the level that was let go, from the events:
	// all come from outside of the library.
	of := event.LevelGroup(1).Constructs()
	var before, counted uint64
	for i := range s.Events {
		ev := &s.Events[i]
		if !of.Has(ev.Element()) || ev.Edge != event.Enter || awayAt(s.Switches, of, ev.Time) {
			continue
		}
		if counted++; ev.Time <= firstAway(s) {
			before++
		}
	}
	p := Replay(s)
	calls := map[string]uint64{}
	for _, n := range p.Nodes[1:] {
		r := &p.Regions[n.Region]
		gone := r.Level == "tick" || r.Level == "rare"
		for _, x := range n.Stats {
			calls[r.Name] += x.Exec.C
			if !gone && x.Estimate != nil && (x.Estimate.AtLeast || x.Estimate.Exec.C > 0) {
				t.Errorf("%s was kept, and has estimates: %+v", r.Name, x.Estimate)
			}
			if gone && (x.Estimate == nil || !x.Estimate.AtLeast) {
				t.Errorf("%s went, and its figures are said to be whole", r.Name)
			}
		}
	}
	for _, name := range []string{"cheap_step", "cheap_other", "now_and_then"} {
		if calls[name] != 15 {
			t.Errorf("%s: %d calls, want 15", name, calls[name])
		}
	}
	if calls["dear_tick"]+calls["dear_rare"] != counted {
		t.Errorf("%v; want %d calls of the levels that went", calls, counted)
	}
	if len(p.Meta.Observations) != 1 || p.Meta.Unmatched != 0 {
		t.Fatalf("%+v, %d unmatched", p.Meta.Observations, p.Meta.Unmatched)
	}
	if o := p.Meta.Observations[0]; o.Of != of || o.Before != before || o.Counted != counted || before == 0 || before == counted {
		t.Errorf("%+v; want %d, %d before the first gap", o, counted, before)
	}
}

// firstAway is when constructs were let go for the first time.
func firstAway(s *stream.Stream) uint64 {
	for _, w := range s.Switches {
		if w.Change == Unobserved {
			return w.At
		}
	}
	return 0
}
