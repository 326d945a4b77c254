package job

import (
	"testing"

	"ompp-attach/profile"
)

// Counters are summed over threads. A region has only the counters that are known of every rank
// which reached it.
func TestCounters(t *testing.T) {
	profiles := toyJob(0, 0, 0)
	for rank, p := range profiles {
		p.Meta.Counters = []profile.Counter{{Name: "cycles"}, {Name: "gone", Failed: "it is not here"}}
		for i := range p.Nodes {
			for k := range p.Nodes[i].Stats {
				p.Nodes[i].Stats[k].Counters = []int64{int64(100 * (rank + 1)), 7}
			}
		}
	}
	profiles[1].Nodes[2].Stats[3].Uncounted = 1 // the loop
	j := newJob()
	for r, p := range profiles {
		j.merge(reduce(p, FileName(r, 0), r, Options{}))
	}
	j.finish()
	for _, g := range j.Regions {
		got := g.Counters()
		if g.Location.Begin == 12 {
			if len(got) != 0 {
				t.Errorf("%s: %+v, although a rank does not know", g.Construct, got)
			}
			continue
		}
		threads := int64(4)
		if b := g.Location.Begin; b == 18 || b == 20 { // thread 0 alone
			threads = 1
		}
		if len(got) != 1 || got[0].Name != "cycles" || got[0].Sum.Int64() != 600*threads || got[0].Min != 100*threads ||
			got[0].Max != 300*threads || got[0].MaxRank != 2 {
			t.Errorf("%s at %d: %+v, want %d to %d", g.Construct, g.Location.Begin, got, 100*threads, 300*threads)
		}
	}
}
