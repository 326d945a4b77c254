package profile

import (
	"slices"

	"ompp-attach/mpi/match"
)

// RankWaits are a thread's waits for other ranks at an MPI call site, and those of others for it.
// They are found when the profiles of a job are read together, and are never recorded.
type RankWaits struct {
	// Waits has a sum for each property of package match: ns, and the number of calls.
	Waits [match.NumProperties]Sum
	// Caused is how long calls of other ranks waited for this call site, and how many.
	Caused Sum
	Due    []Due // for whom this one waited
	// Path has the times of the job's critical path, and the times that others waited for:
	// before the calls, and in them.
	Path [2]PathTime
	// Indirect is the part of the waits here that is due to the late rank's own waits, and Passed
	// are other ranks' waits that are due to these waits here, ns.
	Indirect, Passed int64
}

// PathTime has a rank's share in the critical path of its job, ns (package mpi/critical).
type PathTime struct {
	T int64 // on the path
	// The part of the path's time there that exceeds the mean of all ranks: this rank's share.
	Imbalance int64
	// The time that the job saves at most if all ranks have the same time there: this rank's
	// share.
	Saves int64
	// Delay is the part of others' waits that is due to what this rank did here more than they
	// did. Far is such a part of waits for third ranks, which this rank made late.
	Delay, Far int64
}

// Add adds the times of another thread, or of another place.
func (p *PathTime) Add(o PathTime) { p.add(o, 1) }

func (p *PathTime) add(o PathTime, sign int64) {
	p.T, p.Imbalance, p.Saves = p.T+sign*o.T, p.Imbalance+sign*o.Imbalance, p.Saves+sign*o.Saves
	p.Delay, p.Far = p.Delay+sign*o.Delay, p.Far+sign*o.Far
}

// Due says which rank a thread waited for.
type Due struct {
	Property match.Property
	Rank     int // in MPI_COMM_WORLD
	Node     int // of that rank's profile, where it was
	Thread   int // index in that rank's Profile.Threads
	Sum
	Bound int64 // how wrong T may be, as clocks of two machines were compared, ns; 0: exact
}

// Plus returns the sum of two threads', or two places', waits; either may be nil. It changes
// neither.
func (w *RankWaits) Plus(o *RankWaits) *RankWaits {
	if w == nil || o == nil {
		if w == nil {
			return o
		}
		return w
	}
	sum := *w
	for i := range sum.Waits {
		sum.Waits[i].Add(o.Waits[i])
	}
	sum.Caused.Add(o.Caused)
	sum.Due = slices.Concat(w.Due, o.Due)
	for i := range sum.Path {
		sum.Path[i].Add(o.Path[i])
	}
	sum.Indirect, sum.Passed = w.Indirect+o.Indirect, w.Passed+o.Passed
	return &sum
}

// minus takes away an earlier state of the same waits.
func (w *RankWaits) minus(o *RankWaits) *RankWaits {
	if w == nil || o == nil {
		return w
	}
	out := *w
	for i := range out.Waits {
		out.Waits[i].subtract(o.Waits[i])
	}
	out.Caused.subtract(o.Caused)
	out.Due = slices.Clone(w.Due)
	for i := range out.Path {
		out.Path[i].add(o.Path[i], -1)
	}
	out.Indirect, out.Passed = w.Indirect-o.Indirect, w.Passed-o.Passed
	for _, d := range o.Due {
		if i := slices.Index(out.Due, d); i >= 0 {
			out.Due = slices.Delete(out.Due, i, i+1)
		}
	}
	if len(out.Due) == 0 && out.Path == [2]PathTime{} && out.Indirect == 0 && out.Passed == 0 && out.Waits == [match.NumProperties]Sum{} && out.Caused == (Sum{}) {
		return nil
	}
	return &out
}
