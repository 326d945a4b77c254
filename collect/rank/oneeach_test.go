package rank

import (
	"testing"
	"time"

	"ompp-attach/profile"
)

func TestOneEach(t *testing.T) {
	at := func(seconds, rank int, library string) *profile.Profile {
		return &profile.Profile{Meta: profile.Meta{Life: profile.Life{Start: time.Unix(int64(seconds), 0)},
			MPI: &profile.MPIJob{Job: "j", Rank: rank, Library: library}}}
	}
	for name, tc := range map[string]struct {
		profiles []*profile.Profile
		first    int // index, -1: none
		keep     []bool
	}{
		"earliest":         {[]*profile.Profile{at(2, 0, ""), at(1, 0, ""), at(1, 1, "")}, -1, []bool{false, true, true}},
		"the first":        {[]*profile.Profile{at(2, 0, ""), at(1, 0, "")}, 0, []bool{true, false}},
		"the one with MPI": {[]*profile.Profile{at(1, 0, ""), at(2, 0, "Open MPI"), at(3, 0, "Open MPI")}, 0, []bool{false, true, true}},
	} {
		var first *profile.Profile
		if tc.first >= 0 {
			first = tc.profiles[tc.first]
		}
		OneEach(tc.profiles, first)
		for i, p := range tc.profiles {
			if (p.Meta.MPI != nil) != tc.keep[i] {
				t.Errorf("%s: profile %d is a rank: %t", name, i, p.Meta.MPI != nil)
			}
		}
	}
}
