package ends

import (
	"testing"

	"ompp-attach/attribution/tree"
	"ompp-attach/event"
	"ompp-attach/profile"
)

func TestWeightOf(t *testing.T) {
	for _, c := range []struct {
		flags event.Flag
		want  Weight
	}{{0, NotByChance}, {event.Seldom, NotByChance}, {event.ByChance, AtFirst}, {event.ByChance | event.Seldom, Seldom}} {
		if got := WeightOf(c.flags); got != c.want {
			t.Errorf("flags %#x: %v, want %v", c.flags, got, c.want)
		}
	}
}

// TestConclude: what a reported end teaches, and of which kinds of ends. The call began at 1000 and
// ended at 1500; the next event came at 2000.
func TestConclude(t *testing.T) {
	n := &tree.Node{}
	cost := event.HitCost{Before: 20, After: 30}
	for _, c := range []struct {
		name             string
		edge             event.Edge
		from             uint64
		idle             bool
		time, gap        int64 // from the moment at which the thread could go on; 0: not learnt
		timeAlone, whole int64 // from the call's begin
	}{
		{"begin", event.Begin, 1400, false, 80, 550, 0, 0},
		{"join", event.Join, 1400, true, 80, 550, 0, 0},
		{"barrier", event.Waited, 1400, false, 80, 550, 480, 950},
		{"barrier without arrivals", event.Waited, 0, true, 0, 0, 480, 950},
	} {
		for _, when := range []string{"in the call", "behind it"} {
			var es Ends
			es.Learn(Lesson{Node: n, Edge: c.edge, Weight: AtFirst, Begun: 1000, From: c.from, At: 1500, Idle: c.idle && when == "in the call"})
			if !es.Learns() {
				t.Errorf("%s: no lesson", c.name)
			}
			es.Conclude(2000, c.idle && when == "behind it", cost)
			if es.Learns() {
				t.Errorf("%s: the lesson is not over", c.name)
			}
			for _, k := range []struct {
				alone     bool
				time, gap int64
			}{{false, c.time, c.gap}, {true, c.timeAlone, c.whole}} {
				for _, node := range []*tree.Node{n, nil} {
					y := es.means[Kind{Node: node, Edge: c.edge, Alone: k.alone}]
					if k.gap == 0 {
						if y != nil {
							t.Errorf("%s: learnt of ends with Alone %t", c.name, k.alone)
						}
						continue
					}
					s := y.stratum(Gap{k.gap, c.idle})
					if s == nil || s.sum != float64(k.time) || s.gaps != float64(k.gap) {
						t.Errorf("%s, without a core %s: %+v, want a time of %d, a gap of %d", c.name, when, s, k.time, k.gap)
					}
				}
			}
		}
	}
	var es Ends
	es.Learn(Lesson{Node: n, Begun: 1000})
	if es.Forget(); es.Learns() {
		t.Error("a forgotten lesson is not forgotten")
	}
}

// TestSum: a region's derived ends count for its startup, barrier or shutdown, at the seat of the
// thread. What is known of all regions is no region's.
func TestSum(t *testing.T) {
	for _, c := range []struct {
		edge event.Edge
		of   func(*profile.Ends) *profile.End
	}{
		{event.Begin, func(e *profile.Ends) *profile.End { return &e.Startup }},
		{event.Waited, func(e *profile.Ends) *profile.End { return &e.Barrier }},
		{event.Join, func(e *profile.Ends) *profile.End { return &e.Shutdown }},
	} {
		n := &tree.Node{}
		var es Ends
		region, _ := es.Of(Kind{Node: n, Edge: c.edge})
		_, all := es.Of(Kind{Edge: c.edge})
		for _, y := range []*Mean{region, all} {
			y.Learn(100, Gap{Time: 100}, AtFirst)
			y.Derive(Gap{Time: 100}, nil, 3)
		}
		es.Sum()
		got := n.Stat(3).Ends
		if got == nil || c.of(got).Count != 1 {
			t.Errorf("edge %v: %+v, want one derived end", c.edge, got)
			continue
		}
		*c.of(got) = profile.End{}
		if *got != (profile.Ends{}) {
			t.Errorf("edge %v: also %+v", c.edge, *got)
		}
	}
}
