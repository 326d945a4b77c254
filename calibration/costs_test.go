package calibration

import (
	"testing"

	"ompp-attach/event"
	"ompp-attach/probes/disasm/points"
)

func TestCosts(t *testing.T) {
	c := &Costs{Nop5: Split{1, 2}, Jump: Split{9, 18}, Emulated: Split{10, 20}, Call: Split{100, 200}, SingleStep: Split{1000, 2000},
		Return: Split{3, 4}, Folded: Split{7, 8}, FoldedReturn: Split{2, 1}, Read: 5, Ignored: 24}
	for _, w := range []struct {
		p             event.Probe
		before, after int64
	}{
		{event.NoProbe, 0, 0},
		{event.ProbeNop5, 1, 2},
		{event.ProbeEmulated.Reading(1), 10, 25},
		{event.ProbeJump, 9, 18},
		{event.ProbeCall, 100, 200},
		{event.ProbeSingleStep.Reading(7), 1000, 2015},
		{event.ProbeReturn, 3, 4},
		{event.NoProbe.Reading(2), 0, 0},
		{event.ProbeFolded, 7, 8},
		{event.ProbeFoldedJump, 9, 6},
		{event.ProbeFoldedReturn, 2, 1},
		{event.ProbeEmulated.LeftOut().WithoutReads(), 10, 14},
		{event.ProbeSingleStep.LeftOut().WithoutReads().Reading(1), 1000, 1999},
	} {
		if got := c.Table().Kinds[w.p]; got != (event.HitCost{Before: w.before, After: w.after}) {
			t.Errorf("%s: %+v", w.p, got)
		}
	}
	for _, w := range []struct {
		cost    points.Cost
		returns bool
		ns      float64
	}{
		{points.Nop5, false, 8}, {points.JumpCost, false, 32}, {points.Emulated, false, 35}, {points.CallCost, true, 312}, {points.SingleStep, false, 3005},
	} {
		if got := c.Hit(w.cost, w.returns); got != w.ns {
			t.Errorf("a hit on %s (return %t) costs %.0f, want %.0f", w.cost, w.returns, got, w.ns)
		}
	}
	if got := c.Record(); got != 6 || c.Table().Record != 6 {
		t.Errorf("a record costs %.0f", got)
	}
}

// Costs of many threads are larger only where that is more than noise.
func TestCrowdTable(t *testing.T) {
	c := &Costs{Emulated: Split{400, 200}, Return: Split{100, 50}}
	for _, x := range []struct {
		crowd Crowd
		want  int64
	}{{Crowd{}, 600}, {Crowd{Threads: 8, Alone: 500, Each: 600}, 600}, {Crowd{Threads: 64, Alone: 500, Each: 5000}, 6000}, {Crowd{Threads: 8, Alone: 500, Each: 100}, 600}} {
		c.Crowd = x.crowd
		if got := c.CrowdTable().Kinds[event.ProbeEmulated].Sum(); got != x.want {
			t.Errorf("%+v: %d ns, want %d", x.crowd, got, x.want)
		}
		if got := c.Table().Kinds[event.ProbeEmulated].Sum(); got != 600 {
			t.Errorf("%+v: %d ns of one thread", x.crowd, got)
		}
	}
}
