package analysis

import (
	"cmp"
	"slices"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// Level is a library's level: what its functions did outside of calls of other levels. MPI and
// OpenMP are levels, too, and so are the user's regions that belong to no library.
type Level struct {
	Name  string
	Calls uint64 // executions of the level's regions
	Time  int64  // that was in no inner region of another level, of all threads (ns)
	// Estimated: some of the figures are extrapolated.
	Estimated bool
}

// The names of the levels that are no library's.
const (
	LevelMPI    = "MPI"
	LevelOpenMP = "OpenMP"
	LevelUser   = "user regions"
)

// LevelOf names a region's level.
func LevelOf(r *profile.Region) string {
	switch {
	case r.Construct == event.MPI:
		return LevelMPI
	case r.Construct != event.UserRegion:
		return LevelOpenMP
	case r.Level != "":
		return r.Level
	}
	return LevelUser
}

// HasLevels reports whether calls of libraries were measured as levels (--level).
func HasLevels(p *profile.Profile) bool {
	return slices.ContainsFunc(p.Regions, func(r profile.Region) bool { return r.Level != "" })
}

// Levels returns the levels of a profile, the one with most time first. Each time of a thread in a
// region is in one level only: that of the innermost region.
func Levels(p *profile.Profile) []Level {
	var out []Level
	at := map[string]int{}
	of := func(name string) *Level {
		i, ok := at[name]
		if !ok {
			i = len(out)
			at[name] = i
			out = append(out, Level{Name: name})
		}
		return &out[i]
	}
	for i := range p.Nodes {
		n := &p.Nodes[i]
		if n.Region < 0 {
			continue
		}
		r := &p.Regions[n.Region]
		name := LevelOf(r)
		for k := range n.Stats {
			s := &n.Stats[k]
			own := profile.MPIStats{}
			if r.Construct != event.MPI {
				own = OwnCalls(r.Construct, s) // whose regions have been taken out
			}
			l := of(name)
			l.Calls += s.Exec.C
			l.Time += s.Exec.T - s.Child - own.T
			l.Estimated = l.Estimated || s.Estimate != nil
			if own.Calls > 0 {
				m := of(LevelMPI)
				m.Calls += own.Calls
				m.Time += own.T
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Level) int { return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Name, b.Name)) })
	return out
}
