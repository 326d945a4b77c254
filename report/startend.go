package report

import (
	"ompp-attach/analysis"
	"ompp-attach/job"
	"ompp-attach/profile"
	"ompp-attach/report/words"
)

// The start and the end of MPI are shown apart from communication: their time depends on the
// launcher, the setup of the network and the slowest process.

// apart separates the call sites that start or end MPI from the others.
func apart(sites []int, region func(int) *profile.Region) (communication, startEnd []int) {
	for _, i := range sites {
		if analysis.StartsEnds(region(i)) {
			startEnd = append(startEnd, i)
		} else {
			communication = append(communication, i)
		}
	}
	return communication, startEnd
}

// startsEnds tells whether a job spent measured time in the start or the end of MPI.
func startsEnds(j *job.Job) bool {
	s := j.RankStats(func(r *job.Rank) int64 { return r.StartEnd })
	return s.Max > 0
}

// timeSplit is the text that follows a job's time in MPI; "" if there is nothing to split.
func (t *jobText) timeSplit() string {
	if !startsEnds(t.j) {
		return ""
	}
	var operations []string
	seen := map[string]bool{}
	for i := range t.j.Ranks {
		for _, op := range t.j.Ranks[i].StartEndCalls {
			if !seen[op] {
				seen[op] = true
				operations = append(operations, op)
			}
		}
	}
	communication := t.j.RankStats((*job.Rank).Communication)
	startEnd := t.j.RankStats(func(r *job.Rank) int64 { return r.StartEnd })
	sec := func(ns int64) string { return t.sec(float64(ns)) }
	return ": " + words.SplitText(sec, int64(communication.Total()), int64(startEnd.Total()), operations)
}
