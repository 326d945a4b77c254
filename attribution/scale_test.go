package attribution

import (
	"slices"
	"testing"
)

func scaleProfile(counters ...int64) *Profile {
	return &Profile{Nodes: []Node{{Parent: -1, Region: -1}, {Stats: []ThreadStats{
		{Exec: Span{10, 2}, Counters: counters, ChildCounters: make([]int64, len(counters))}}}}}
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

// Hidden regions' counters become their parents' own.
func TestHideCounters(t *testing.T) {
	p := &Profile{Regions: []Region{{Name: "outer"}, {Name: "inner"}}, Nodes: []Node{{Parent: -1, Region: -1},
		{Region: 0, Stats: []ThreadStats{{Counters: []int64{100}, ChildCounters: []int64{60}}}},
		{Parent: 1, Region: 1, Stats: []ThreadStats{{Counters: []int64{60}, ChildCounters: []int64{0}}}}}}
	Hide(p, func(r *Region) bool { return r.Name == "inner" })
	if s := p.Nodes[1].Stats[0]; s.Counters[0] != 100 || s.ChildCounters[0] != 0 {
		t.Errorf("%+v, want 100, all its own", s)
	}
}
