package profile

import (
	"slices"
	"testing"
)

func scaleProfile(counters ...int64) *Profile {
	return &Profile{Nodes: []Node{{Parent: -1, Region: -1}, {Stats: []ThreadStats{
		{Exec: Sum{10, 2}, Counters: counters, ChildCounters: make([]int64, len(counters))}}}}}
}

func TestScaleTurns(t *testing.T) {
	p := scaleProfile(300, 500, 50, 100, 100) // the first counted for half of the time
	share := ScaleTurns(p, 2)
	s := &p.Nodes[1].Stats[0]
	if !slices.Equal(s.Counters, []int64{600, 500}) || s.Uncounted != 0 || !slices.Equal(share, []float64{0.5, 1}) {
		t.Errorf("%v, %d not counted, shares %v; want 600 and 500, none, 0.5 and 1", s.Counters, s.Uncounted, share)
	}
	p = scaleProfile(0, 500, 0, 100, 100)
	if ScaleTurns(p, 2); p.Nodes[1].Stats[0].Uncounted != 2 {
		t.Error("a counter that never had its turn seems to have counted nothing")
	}
}

func TestScaleAndSpread(t *testing.T) {
	p := scaleProfile(300, 500)
	ScaleCounters(p, []float64{1, 0.25})
	SpreadCounters(p, []int{1, -1, 0})
	if got := p.Nodes[1].Stats[0].Counters; !slices.Equal(got, []int64{2000, 0, 300}) {
		t.Errorf("%v, want 2000, nothing, 300", got)
	}
}

// The counts of hidden regions become their parents' own.
func TestHideCounters(t *testing.T) {
	p := &Profile{Regions: []Region{{Name: "outer"}, {Name: "inner"}}, Nodes: []Node{{Parent: -1, Region: -1},
		{Region: 0, Stats: []ThreadStats{{Counters: []int64{100}, ChildCounters: []int64{60}}}},
		{Parent: 1, Region: 1, Stats: []ThreadStats{{Counters: []int64{60}, ChildCounters: []int64{0}}}}}}
	Hide(p, func(r *Region) bool { return r.Name == "inner" })
	if s := p.Nodes[1].Stats[0]; s.Counters[0] != 100 || s.ChildCounters[0] != 0 {
		t.Errorf("%+v, want 100, all its own", s)
	}
}

// The shares are those of outermost regions, because their counts include those of inner regions.
// Each node is scaled by its own share.
func TestScaleTurnsNested(t *testing.T) {
	p := &Profile{Nodes: []Node{{Parent: -1, Region: -1},
		{Stats: []ThreadStats{{Counters: []int64{300, 50, 100}, ChildCounters: []int64{90, 10, 40}}}},
		{Parent: 1, Stats: []ThreadStats{{Exec: Sum{C: 7}, Uncounted: 9, Counters: []int64{90, 0, 40}}}},
		{Parent: 1, Stats: []ThreadStats{{Exec: Sum{C: 7}, Counters: []int64{5, 0, 0}}, {Counters: []int64{4, 3}}}}}}
	share := ScaleTurns(p, 1)
	outer, never, nothing := p.Nodes[1].Stats[0], p.Nodes[2].Stats[0], p.Nodes[3].Stats[0]
	if !slices.Equal(share, []float64{0.5}) || !slices.Equal(outer.Counters, []int64{600}) || !slices.Equal(outer.ChildCounters, []int64{360}) {
		t.Errorf("share %v, outer %+v; want 0.5, 600, 360 of them inside", share, outer)
	}
	if never.Uncounted != 9 {
		t.Errorf("%d executions are not counted, want the 9 that were known before", never.Uncounted)
	}
	if nothing.Uncounted != 0 || !slices.Equal(nothing.Counters, []int64{5}) {
		t.Errorf("no processor time: %+v, want nothing missing", nothing)
	}
	if short := p.Nodes[3].Stats[1].Counters; !slices.Equal(short, []int64{4}) {
		t.Errorf("without times: %v, want the count", short)
	}
}

// Counters that counted nothing need no scaling.
func TestScaleNothing(t *testing.T) {
	p := scaleProfile(0, 0, 0)
	if share := ScaleTurns(p, 1); !slices.Equal(share, []float64{1}) {
		t.Errorf("share %v, want 1", share)
	}
	p = scaleProfile(7)
	p.Nodes[1].Stats[0].ChildCounters = []int64{3}
	ScaleCounters(p, []float64{0})
	if s := p.Nodes[1].Stats[0]; s.Counters[0] != 7 || s.ChildCounters[0] != 3 {
		t.Errorf("with an unknown share: %+v", s)
	}
	ScaleCounters(p, []float64{0.4})
	if s := p.Nodes[1].Stats[0]; s.Counters[0] != 18 || s.ChildCounters[0] != 8 { // 17.5, 7.5
		t.Errorf("%+v, want 18, 8 of them inside", s)
	}
	SpreadCounters(p, []int{0, 1})
	if s := p.Nodes[1].Stats[0]; !slices.Equal(s.Counters, []int64{18, 0}) {
		t.Errorf("a counter that is not there: %v", s.Counters)
	}
}
