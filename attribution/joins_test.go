package attribution

import (
	"testing"

	"ompp-attach/event"
)

// A team of one thread of libomp, of which the join's return is left out: the library's own call
// joins it, once. The serialised region around it stays open until the program ends it.
func TestUntoldJoinOfOne(t *testing.T) {
	events := parse(t, `
	0 1 fork parallel rt=k loc=30 site=300 atonce noret
	10 1 fork parallel rt=k fn=310 loc=31
	12 1 begin parallel rt=k key=7 num=0 size=1
	20 1 end parallel rt=k loc=31
	21 1 end parallel rt=k inside
	25 1 join parallel rt=k inside
	30 1 fork parallel rt=k fn=310 loc=32
	31 1 begin parallel rt=k key=8 num=0 size=2
	32 2 begin parallel rt=k key=8 num=1 size=2
	36 2 end parallel rt=k
	38 1 end parallel rt=k loc=32
	60 1 end parallel rt=k inside
	70 1 join parallel rt=k inside`)
	for i := range events {
		if ev := &events[i]; ev.Edge == event.End && ev.Loc != 0 {
			ev.Flags |= event.Unarmed
		}
	}
	got := replay(events, 1000)
	if m := got.Meta; m.Unmatched != 0 || m.Partial != 0 || m.Edges.Derived != 1 {
		t.Errorf("%d unmatched, %d partial, %d derived; want one derived", m.Unmatched, m.Partial, m.Edges.Derived)
	}
	all := measured(got)
	for path, want := range map[string]struct{ exec, body int64 }{
		"/PARALLEL@30":             {70, 60},
		"/PARALLEL@30/PARALLEL@31": {15, 8},
		"/PARALLEL@30/PARALLEL@32": {-1, 7}, // the join is derived: somewhere up to the next event
	} {
		f := all[figureKey{path: path}]
		if f == nil {
			t.Errorf("%s is missing", path)
			continue
		}
		if f.Exec.C != 1 || f.Body.C != 1 || f.Body.T != want.body || want.exec >= 0 && f.Exec.T != want.exec {
			t.Errorf("%s: exec %+v, body %+v; want %+v", path, f.Exec, f.Body, want)
		}
		if want.exec < 0 && (f.Exec.T < 8 || f.Exec.T > 30) {
			t.Errorf("%s: exec %+v, want 8 to 30", path, f.Exec)
		}
	}
}

// The begin of such a team is lost, and with it the team's size.
func TestUntoldJoinOfUnknownSize(t *testing.T) {
	events := parse(t, `
	0 1 fork parallel rt=k loc=30 site=300 atonce noret
	10 1 fork parallel rt=k fn=310 loc=31
	20 1 end parallel rt=k loc=31 lost=1
	21 1 end parallel rt=k inside
	25 1 join parallel rt=k inside
	60 1 end parallel rt=k inside
	70 1 join parallel rt=k inside`)
	events[2].Flags |= event.Unarmed
	got := replay(events, 1000)
	if m := got.Meta; m.Unmatched != 0 || m.Partial != 0 || m.Edges.Derived != 0 {
		t.Errorf("%d unmatched, %d partial, %d derived; want none", m.Unmatched, m.Partial, m.Edges.Derived)
	}
	all := measured(got)
	for path, want := range map[string]int64{"/PARALLEL@30": 70, "/PARALLEL@30/PARALLEL@31": 15} {
		if f := all[figureKey{path: path}]; f == nil || f.Exec.C != 1 || f.Exec.T != want {
			t.Errorf("%s: %+v, want one execution of %d", path, f, want)
		}
	}
}
