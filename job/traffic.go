package job

import (
	"ompp-attach/job/spread"
	"ompp-attach/profile"
)

// TrafficAtLeast reports whether the figures of pairs and receivers are lower bounds. They are if
// the ranks of some receivers are not known, or if ranks of the job were not read.
func (j *Job) TrafficAtLeast() bool { return j.Traffic.SentToUnknown() || len(j.Missing()) > 0 }

// Receivers returns the number of other ranks to which a rank sent, over the ranks. It counts
// receivers that are known (see TrafficAtLeast).
func (j *Job) Receivers() spread.Stats {
	to := j.Traffic.Receivers()
	return j.RankStats(func(r *Rank) int64 { return to[r.Rank] })
}

// Sizes returns the messages at an MPI call site by size.
func (g *Region) Sizes() profile.BySize { return g.sizes }

// Sizes returns the messages at all call sites by size.
func (j *Job) Sizes() (all profile.BySize) {
	for _, g := range j.Regions {
		all = all.Plus(g.sizes)
	}
	return all
}
