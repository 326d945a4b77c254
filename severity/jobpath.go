package severity

import (
	"cmp"
	"slices"

	"ompp-attach/profile"
)

// The trees about the critical path over the ranks of a job. Each has the times before MPI calls
// and in them.
const (
	JobCritical  = "job_critical_path"
	JobImbalance = "job_critical_imbalance"
	JobSaving    = "job_balance_saves"
	RankDelay    = "job_delay"
	RankFar      = "job_delay_far"
	RankIndirect = "job_wait_indirect"
	RankPassed   = "job_wait_passed"
)

// The ends of the IDs below these trees.
const (
	beforeCall = ".before"
	inCall     = ".call"
)

var pathSides = [...]string{beforeCall, inCall}

// JobPath tells about the critical path over the ranks of a job. Times are in ns.
type JobPath struct {
	Length  int64 // from the first MPI call on the path to the end of the last one
	Unknown int64 // the part of it that is not known
	Bound   int64 // how much longer another path may be, as clocks of machines were compared
	Turns   uint64
	Phases  int // between calls at which all ranks met
	// Part: ranks were attached to, so the path is that between the first and the last such call.
	Part bool
}

func pathTrees() (out []Property) {
	for _, p := range []Property{
		{ID: JobCritical, Name: "Critical path of the job", Source: scalasca,
			Description: "The time that decides when the job ends. The path leads back from the end of the last rank. Where a rank waited for " +
				"another one, the path goes on with that other rank.",
			Formula: "time of the rank on the path, without waits for other ranks"},
		{ID: JobImbalance, Name: "Imbalance on the job's critical path", Source: scalasca,
			Description: "The path's time at a call path, as far as it exceeds the mean of all ranks there. Each rank has a share by its time on the path.",
			Formula:     "max(0, time on the path - mean of all ranks' own time)"},
		{ID: JobSaving, Name: "Saved by balance, at most", Source: own,
			Description: "What the job saves at most if all ranks have the same time at the call path, and all else takes as long as before. Both are " +
				"between two calls at which all ranks meet. Each rank has a share by its time on the path. Savings of call paths do not add up.",
			Formula: "between two such calls: min(time on the path, length - most other own time of a rank - mean of all ranks' own time)"},
		{ID: RankDelay, Name: "Delay between ranks", Source: scalasca,
			Description: "The part of other ranks' waits that is due to the time that the late rank spent at the call path beyond the waiting rank's.",
			Formula:     "max(0, time of the late rank - time of the waiting one) since one of the two last waited for the other, scaled to the wait"},
		{ID: RankFar, Name: "Long-term delay between ranks", Source: scalasca,
			Description: "The part of other ranks' waits that is due to this rank's time at the call path: a third rank waited for this rank, and came late.",
			Formula:     "waits that a wait for this rank caused x share of the call path in that wait"},
	} {
		p.Unit = Seconds
		out = append(out, p)
		q := Property{Parent: p.ID, Unit: Seconds, Source: p.Source, Formula: p.Formula}
		q.ID, q.Name, q.Description = p.ID+beforeCall, "Before MPI calls", "The part before the MPI call at the call path, since the rank's last MPI call that --waits records."
		out = append(out, q)
		q.ID, q.Name, q.Description = p.ID+inCall, "In MPI calls", "The part in the MPI call at the call path, after its wait."
		out = append(out, q)
	}
	return append(out,
		Property{ID: RankIndirect, Name: "Indirect waiting for ranks", Unit: Seconds, Source: scalasca,
			Description: "The part of a rank's wait for another rank that is due to the other rank's own waits. The rest is direct.",
			Formula:     "wait x waits of the late rank / (delay + waits of the late rank), at most those waits"},
		Property{ID: RankPassed, Name: "Propagating waiting for ranks", Unit: Seconds, Source: scalasca,
			Description: "Waits of other ranks that are due to this rank's wait, near and far. Where there are none, the wait is terminal.",
			Formula:     "sum of the parts of others' waits that are due to this one"})
}

// onJobPath adds a rank's times on the job's critical path.
func onJobPath(add func(string, int64), x *profile.RankWaits) {
	if x == nil {
		return
	}
	for i, p := range x.Path {
		add(JobCritical+pathSides[i], p.T)
		add(JobImbalance+pathSides[i], p.Imbalance)
		add(JobSaving+pathSides[i], p.Saves)
		add(RankDelay+pathSides[i], p.Delay)
		add(RankFar+pathSides[i], p.Far)
	}
	add(RankIndirect, x.Indirect)
	add(RankPassed, x.Passed)
}

// RankCause is a place of a rank for which others waited.
type RankCause struct {
	Cause
	In bool // in the MPI calls there; false: before them
}

// RankDelays returns the places at which late ranks spent more time than the ranks that waited for
// them, the most severe first. far asks for those that made third ranks late.
func (c *Cube) RankDelays(far bool) (out []RankCause) {
	property := RankDelay
	if far {
		property = RankFar
	}
	for i, end := range pathSides {
		for _, v := range c.Of(c.Property(property + end)) {
			out = append(out, RankCause{Cause{v.Thread, v.Path, v.V, 0}, i == 1})
		}
	}
	slices.SortStableFunc(out, func(a, b RankCause) int { return cmp.Compare(b.Time, a.Time) })
	return out
}

// OnJobPath is a call path's part of the job's critical path,
// before the MPI calls there or in them.
type OnJobPath struct {
	Path                   int // index in Cube.Paths
	In                     bool
	Time, Imbalance, Saves int64 // ns
	// Ranks are the processes with such time, the longest first: Thread is an index in
	// Cube.Processes. There are none if the cube is of the whole run.
	Ranks []ThreadTime
}

// JobPathParts returns the parts of the job's critical path, the longest first.
func (c *Cube) JobPathParts() (out []OnJobPath) {
	type place struct {
		path int
		in   bool
	}
	at := map[place]int{}
	part := func(v Value, in bool) *OnJobPath {
		k := place{v.Path, in}
		i, ok := at[k]
		if !ok {
			i = len(out)
			at[k], out = i, append(out, OnJobPath{Path: v.Path, In: in})
		}
		return &out[i]
	}
	for i, end := range pathSides {
		in := i == 1
		for _, v := range c.Of(c.Property(JobCritical + end)) {
			p := part(v, in)
			p.Time += v.V
			if process := c.Threads[v.Thread].Process; process >= 0 {
				p.rank(process, v.V)
			}
		}
		for _, v := range c.Of(c.Property(JobImbalance + end)) {
			part(v, in).Imbalance += v.V
		}
		for _, v := range c.Of(c.Property(JobSaving + end)) {
			part(v, in).Saves += v.V
		}
	}
	for i := range out {
		slices.SortFunc(out[i].Ranks, func(a, b ThreadTime) int { return cmp.Or(cmp.Compare(b.Time, a.Time), a.Thread-b.Thread) })
	}
	slices.SortFunc(out, func(a, b OnJobPath) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(b.Saves, a.Saves), cmp.Compare(a.Path, b.Path), side(a.In)-side(b.In))
	})
	return out
}

func side(in bool) int {
	if in {
		return 1
	}
	return 0
}

func (p *OnJobPath) rank(process int, ns int64) {
	for i := range p.Ranks {
		if p.Ranks[i].Thread == process {
			p.Ranks[i].Time += ns
			return
		}
	}
	p.Ranks = append(p.Ranks, ThreadTime{process, ns})
}
