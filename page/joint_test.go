package page

import "testing"

// Findings of time without a core are one, at the place of the worst.
func TestJoint(t *testing.T) {
	j := &joint{wall: 10}
	for i, ns := range []int64{2, 4, 3, 1, 1} {
		j.add(Finding{Region: i + 1, Time: ns, Severity: float64(ns) / 100, Saves: ns, Core: .5}, string(rune('a'+i)), []Extreme{{"0", ns}, {"1", 0}})
	}
	got := j.among([]Finding{{Region: 9, Severity: .5}, {Region: 8, Severity: .01}}, "no core in %s")
	if len(got) != 3 || got[0].Region != 9 || got[2].Region != 8 {
		t.Fatalf("%+v", got)
	}
	f := got[1]
	if f.Says != "no core in b, c, a and 2 more" || f.Time != 11 || f.Saves != 10 || f.Core != 1 || f.Region != 2 || f.Most == nil || *f.Most != (Extreme{"0", 11}) {
		t.Errorf("%+v", f)
	}
	one := &joint{wall: 10}
	one.add(Finding{Region: 1, Core: .5}, "a", nil)
	if got := one.among(nil, "no core in %s"); len(got) != 1 || got[0].Core != .5 || len((&joint{}).among(nil, "")) != 0 {
		t.Errorf("%+v", got)
	}
}
