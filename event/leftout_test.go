package event

import "testing"

func TestLeftOut(t *testing.T) {
	l := LeftOut(3 | 4095<<12 | 7<<48)
	if l.Of(ProbeNop5) != 3 || l.Of(ProbeJump) != 4095 || l.Of(ProbeCall) != 0 || l.Of(ProbeSingleStep) != 7 || l.Hits() != 4105 {
		t.Errorf("%d %d %d %d, %d in all", l.Of(ProbeNop5), l.Of(ProbeJump), l.Of(ProbeCall), l.Of(ProbeSingleStep), l.Hits())
	}
	var c HitCosts
	c.Kinds[ProbeNop5.LeftOut()] = HitCost{Before: 10, After: 1}
	c.Kinds[ProbeSingleStep.LeftOut()] = HitCost{Before: 1000}
	if hits, ns := l.Cost(&c); hits != 4105 || ns != 33+7000 {
		t.Errorf("%d hits, %d ns", hits, ns)
	}
	if lastProbe >= 1<<kindBits || len(probeNames) != int(lastProbe)+1 || ProbeEmulated.Reading(3).LeftOut().String() != "emulated, unrecorded" {
		t.Errorf("%d kinds, %d names", lastProbe, len(probeNames))
	}
}
