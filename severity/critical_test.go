package severity

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ompp-attach/profile"
)

// TestCritical: in the loop of 6 s, thread 0 works 6 s, and the others 1 and 0 s; so thread 0 is
// last. Perfect balance of the work is 7/3 s for each: the rest is saved.
// The 4 s outside are serial.
func TestCritical(t *testing.T) {
	for name, test := range map[string]struct {
		onPath int64
		team   func(*profile.Profile)
		want   []Critical
		rest   int64
	}{
		"all known": {6e9, func(*profile.Profile) {}, []Critical{{1, 6e9, Saving{true, 0, 3_666_666_667}}, {0, 4e9, Saving{}}}, 0},
		"a part":    {5e9, func(*profile.Profile) {}, []Critical{{1, 5e9, Saving{true, 0, 2_666_666_667}}, {0, 4e9, Saving{}}}, 1e9},
		"nothing":   {0, func(*profile.Profile) {}, []Critical{{0, 4e9, Saving{}}}, 6e9},
		// The region has no other threads: all of its time decides when it ends.
		"a team of one": {0, func(p *profile.Profile) {
			p.Nodes[1].Stats, p.Nodes = p.Nodes[1].Stats[:1], p.Nodes[:2]
		}, []Critical{{1, 6e9, Saving{true, 0, 4e9}}, {0, 4e9, Saving{}}}, 0},
	} {
		p := teamOf3()
		test.team(p)
		if test.onPath > 0 {
			p.Nodes[1].Stats[0].Waits = &profile.Waits{OnPath: test.onPath}
		}
		c := Of(p, Options{})
		if d := cmp.Diff(test.want, c.Critical()); d != "" {
			t.Errorf("%s: -want +got\n%s", name, d)
		}
		if all, rest := c.Total(CriticalPath), c.Total(CriticalRest); all != p.Meta.Duration || rest != test.rest {
			t.Errorf("%s: the path is %d ns long, of a run of %d; the rest is %d, want %d", name, all, p.Meta.Duration, rest, test.rest)
		}
	}
}
