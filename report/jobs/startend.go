package jobs

import (
	"ompp-attach/job"
	"ompp-attach/report/words"
)

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
