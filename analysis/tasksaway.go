package analysis

import (
	"ompp-attach/profile"
)

// TasksAway returns the parallel regions whose tasks were not observed all of the time, to keep
// within a budget, in recorded order. In the unobserved time, a thread that executed tasks in a
// wait seems to have only waited.
func TasksAway(p *profile.Profile) (regions []int) {
	teams, _ := tasksAway(p)
	for region, away := range teams {
		if away {
			regions = append(regions, region)
		}
	}
	return regions
}

// tasksAway tells, for each region, whether it starts such teams, and whether it is executed in
// one.
func tasksAway(p *profile.Profile) (starts, inside []bool) {
	starts, inside = make([]bool, len(p.Regions)), make([]bool, len(p.Regions))
	t, away := newTree(p), map[int]bool{}
	for i := 1; i < len(p.Nodes); i++ {
		if !p.Regions[p.Nodes[i].Region].Construct.ExecutesTask() {
			continue
		}
		for j := range p.Nodes[i].Stats {
			if e := p.Nodes[i].Stats[j].Estimate; e != nil && (e.AtLeast || e.Exec.C > 0) {
				away[t.team[i]] = true
			}
		}
	}
	for i := 1; i < len(p.Nodes); i++ {
		if team := t.team[i]; away[team] {
			inside[p.Nodes[i].Region] = true
			starts[p.Nodes[i].Region] = starts[p.Nodes[i].Region] || team == i
		}
	}
	return starts, inside
}

// mayBeTasks tells whether a property is about time in which a thread may have executed tasks.
func mayBeTasks(name string) bool {
	switch name {
	case WaitForCore, MPITimeInParallelRegion, InsufficientWorkInParallelLoop, CriticalSectionContention, LockContention, FrequentAtomic:
		return false
	}
	return true
}
