package analysis

import (
	"slices"
	"testing"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// If tasks were not observed all of the time, waiting may have been tasks. So waiting is no finding
// in the tasks' parallel region, and is one elsewhere.
func TestWaitingThatMayBeTasks(t *testing.T) {
	wait := func(estimate *profile.Estimate) []profile.Node {
		team := []stats{
			{Exec: span(400, 1), Body: span(200, 1), Barrier: span(200, 1)},
			{Thread: 1, Exec: span(400, 1), Body: span(400, 1), Child: 10}}
		return []profile.Node{
			{Parent: 0, Region: 0, Stats: team},
			{Parent: 1, Region: 1, Stats: []stats{{Thread: 1, Exec: span(10, 1), Body: span(10, 1), Estimate: estimate}}},
			{Parent: 0, Region: 2, Stats: team},
		}
	}
	for _, c := range []struct {
		name     string
		estimate *profile.Estimate
		hold     []int // regions with a finding
		away     []int
	}{
		{"all were observed", nil, []int{0, 2}, nil},
		{"some were not", &profile.Estimate{AtLeast: true}, []int{2}, []int{0}},
		{"some were extrapolated", &profile.Estimate{Exec: span(5, 1)}, []int{2}, []int{0}},
	} {
		p := profileOf(t, 1000, two, []event.Construct{event.Parallel, event.TaskExec, event.ParallelLoop}, wait(c.estimate))
		f := Disjoint.Findings(p)
		var hold []int
		for _, x := range f.Hold {
			hold = append(hold, x.Region)
		}
		if away := TasksAway(p); !slices.Equal(hold, c.hold) || !slices.Equal(away, c.away) || len(f.Task) != len(c.away) {
			t.Errorf("%s: %+v, tasks were away in %v", c.name, f, away)
		}
	}
}
