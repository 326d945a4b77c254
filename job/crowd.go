package job

import "ompp-attach/analysis"

// Crowds returns the machines on which a rank lacks cores, and on which the job itself has more
// threads than processors that its ranks may use (analysis.Crowds).
func (j *Job) Crowds(lacks func(*Rank) bool) []analysis.Crowd {
	var crews []analysis.Crew
	for i := range j.Ranks {
		r := &j.Ranks[i]
		crews = append(crews, analysis.Crew{Host: r.Host, Clock: r.Clock, CPUs: r.CPUs, Quota: r.Quota, Threads: analysis.AtOnce(r.Threads, r.ThreadTime, r.Wall), Lacks: lacks(r)})
	}
	return analysis.Crowds(crews)
}

// Shared tells whether several ranks that lack cores may run on the same processors.
func (j *Job) Shared(lacks func(*Rank) bool) bool {
	taken := map[string]map[int]bool{} // by clock
	for i := range j.Ranks {
		r := &j.Ranks[i]
		if !lacks(r) {
			continue
		}
		own := map[int]bool{}
		r.CPUs.AddTo(own)
		all := taken[r.Clock]
		if all == nil {
			all = map[int]bool{}
			taken[r.Clock] = all
		}
		for cpu := range own {
			if all[cpu] {
				return true
			}
			all[cpu] = true
		}
	}
	return false
}
