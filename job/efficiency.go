package job

import (
	"ompp-attach/efficiency"
	"ompp-attach/profile"
)

// efficiencyOf returns the efficiency of a rank, and that of its regions by key. Call it before
// profile.Hide.
func efficiencyOf(p *profile.Profile) (efficiency.Process, map[key]*efficiency.Figures) {
	process, figures := efficiency.Of(p)
	by := map[key]*efficiency.Figures{}
	for i := range figures {
		k := keyOf(&p.Regions[i])
		if by[k] == nil {
			by[k] = &efficiency.Figures{}
		}
		by[k].Add(&figures[i])
	}
	return process, by
}

// Efficiency returns the job's efficiency. Regions have the numbers of the job's reports.
func (j *Job) Efficiency() *efficiency.Run {
	processes := make([]efficiency.Process, len(j.Ranks))
	for i := range j.Ranks {
		processes[i] = j.Ranks[i].Efficiency
		processes[i].Rank = j.Ranks[i].Rank
	}
	regions := make([]efficiency.Region, len(j.Regions))
	for i, g := range j.Regions {
		regions[i] = efficiency.Region{Region: &g.Region, Number: i + 1, Figures: g.efficiency}
	}
	run := efficiency.New(j.Ranks[0].Program, processes, regions)
	run.Missing = len(j.Missing())
	return run
}
