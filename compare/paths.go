package compare

import "ompp-attach/job"

// Path is a region on one call path, of either side or of both.
type Path struct {
	Parent int     // index in Comparison.Paths; -1 for the root, the program
	Region *Region // nil for the root
	// Times in ns, summed over threads: without the paths below (of the program: outside of all
	// regions), and with them.
	own, inclusive values
	alpha          float64
}

// Own returns the change of the time without the paths below.
func (p *Path) Own() Change { return p.own.change(p.alpha) }

// Inclusive returns the change of the time with the paths below. It is the time of all threads:
// workers count below the region that started their team.
func (p *Path) Inclusive() Change { return p.inclusive.change(p.alpha) }

// pathStep is a region below a path.
type pathStep struct {
	parent int
	region *Region
}

// pathJoiner joins the call paths of one run after the other.
type pathJoiner struct {
	c  *Comparison
	at map[pathStep]int // index in c.Paths
}

func newPathJoiner(c *Comparison) *pathJoiner {
	j := &pathJoiner{c: c, at: map[pathStep]int{}}
	j.add(-1, nil)
	return j
}

func (j *pathJoiner) add(parent int, r *Region) int {
	p := &Path{Parent: parent, Region: r, alpha: j.c.Alpha}
	for side, runs := range j.c.Sides {
		p.own[side], p.inclusive[side] = make([]float64, len(runs)), make([]float64, len(runs))
	}
	j.c.Paths = append(j.c.Paths, p)
	return len(j.c.Paths) - 1
}

// join adds the paths of a run. regions are the joined regions, in the order of the run's own.
func (j *pathJoiner) join(side, run int, of *job.Paths, regions []*Region) {
	if of == nil {
		return
	}
	at := make([]int, len(of.Nodes)) // in c.Paths; the root is 0
	for i := 1; i < len(of.Nodes); i++ {
		step := pathStep{at[of.Nodes[i].Parent], regions[of.Nodes[i].Region]}
		known, ok := j.at[step]
		if !ok {
			known = j.add(step.parent, step.region)
			j.at[step] = known
		}
		at[i] = known
	}
	for i := range of.Samples {
		s := &of.Samples[i]
		j.c.Paths[at[s.Node]].own[side][run] += float64(s.Values[job.SelfT])
	}
}

// finish adds up the inclusive times. A parent precedes its children.
func (j *pathJoiner) finish() {
	for i := len(j.c.Paths) - 1; i >= 0; i-- {
		p := j.c.Paths[i]
		for side := range p.own {
			for run, t := range p.own[side] {
				p.inclusive[side][run] += t
				if p.Parent >= 0 {
					j.c.Paths[p.Parent].inclusive[side][run] += p.inclusive[side][run]
				}
			}
		}
	}
}
