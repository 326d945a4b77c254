package compare_test

import (
	"testing"

	"ompp-attach/compare"
	"ompp-attach/compare/comparetest"
	"ompp-attach/event"
)

// Call paths are joined by their regions, also if lines moved. Their own times add up to the serial
// time and the regions' own times; a path that one side lacks is 0 there.
func TestPaths(t *testing.T) {
	const ms = 1e6
	before := comparetest.Heat()
	before.Loops = append(before.Loops, comparetest.Loop{Function: "relax", Begin: 120, End: 190, Work: 20 * ms, Construct: event.Parallel},
		comparetest.Loop{Function: "relax", Begin: 130, End: 140, Work: 200 * ms, Construct: event.Loop, In: 8})
	after := before.Shift(50, 4).Slow(8, 1.5)
	after.Loops = append(after.Loops, comparetest.Loop{Function: "relax", Begin: 160, End: 170, Work: 7 * ms, Construct: event.Loop, In: 8})
	c := compare.Compare(before.Runs(t, nil, 2), after.Runs(t, nil, 2), compare.Options{})
	var own [2]float64
	nested := map[string]float64{}
	for i, p := range c.Paths {
		if p.Parent >= i {
			t.Fatalf("path %d comes before its parent %d", i, p.Parent)
		}
		for side, s := range p.Own().Sides {
			own[side] += s.Median
		}
		if p.Parent > 0 {
			nested[compare.Title(p.Region.Any())] = p.Inclusive().Delta()
			if up := c.Paths[p.Parent].Inclusive().Delta(); up != 4*107*ms {
				t.Errorf("the team's path grew by %v", up)
			}
		}
	}
	if len(c.Paths) != 11 || len(nested) != 2 || nested["LOOP heat.c (134-144) in relax"] != 4*100*ms || nested["LOOP heat.c (160-170) in relax"] != 4*7*ms {
		t.Errorf("%d paths, nested %v", len(c.Paths), nested)
	}
	for side := range own {
		want := c.Quantity("serial").Change.Sides[side].Median
		for _, r := range c.Regions {
			want += r.Change(compare.OwnT).Sides[side].Median
		}
		if root := c.Paths[0].Inclusive().Sides[side].Median; own[side] != want || root != want {
			t.Errorf("side %d: own times %v, the program's inclusive %v, want %v", side, own[side], root, want)
		}
	}
}
