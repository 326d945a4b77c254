package rank

import "ompp-attach/profile"

// OneEach leaves each rank to one of the profiles: that of the process which is the rank. Other
// programs and children of a script inherit the variables, and only seem to be the rank. first is
// the profile of the process that was launched or attached to; nil if there is none.
func OneEach(profiles []*profile.Profile, first *profile.Profile) {
	type place struct {
		job  string
		rank int
	}
	ranks := map[place]*profile.Profile{}
	better := func(p, than *profile.Profile) bool {
		switch {
		case than == nil:
			return true
		case (p.Meta.MPI.Library != "") != (than.Meta.MPI.Library != ""):
			return p.Meta.MPI.Library != ""
		case (p == first) != (than == first):
			return p == first
		}
		return p.Meta.Start.Before(than.Meta.Start)
	}
	for _, p := range profiles {
		if m := p.Meta.MPI; m != nil && better(p, ranks[place{m.Job, m.Rank}]) {
			ranks[place{m.Job, m.Rank}] = p
		}
	}
	for _, p := range profiles {
		if m := p.Meta.MPI; m != nil && m.Library == "" && ranks[place{m.Job, m.Rank}] != p {
			p.Meta.MPI = nil
		}
	}
}
