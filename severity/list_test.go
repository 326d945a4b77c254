package severity

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// entries lists what reports list: title, path, time, places that are joined.
func entries(c *Cube, each bool) (out []string) {
	for _, e := range c.List(c.Findings(), each) {
		out = append(out, fmt.Sprintf("%s %d: %g of %d", c.Properties[e.Property].Title(), e.Path, float64(e.Time)/1e9, len(e.Places)))
	}
	return out
}

// Places that lack cores are one entry, unless each is wanted or there is little of that time.
// Where times cannot be told, that time is all that is listed.
func TestList(t *testing.T) {
	coreless := func(ns int64) *profile.Profile {
		p := teamOf3()
		p.Nodes[1].Stats[0].NoCore = &profile.Cost{Exec: ns, Body: ns}
		p.Nodes[2].Stats[0].NoCore = &profile.Cost{Exec: ns / 2, Body: ns / 2}
		return p
	}
	others := []string{"ImbalanceInParallelLoop 1: 9 of 0", "IdleThreads 0: 8 of 0", "CriticalSectionContention 2: 1 of 0"}
	for name, test := range map[string]struct {
		p            *profile.Profile
		each, untold bool
		want         []string
	}{
		"joined":  {coreless(2e8), false, false, append(others[:3:3], "WaitForCore 1: 0.3 of 2")},
		"each":    {coreless(2e8), true, false, append(others[:3:3], "WaitForCore 1: 0.2 of 0", "WaitForCore 2: 0.1 of 0")},
		"little":  {coreless(2e6), false, false, append(others[:3:3], "WaitForCore 1: 0.002 of 0", "WaitForCore 2: 0.001 of 0")},
		"untold":  {coreless(2e8), false, true, []string{"WaitForCore 1: 0.3 of 2"}},
		"nothing": {teamOf3(), false, true, nil},
	} {
		c := Of(test.p, Options{})
		c.Silent = test.untold
		if got := c.CannotTell() != ""; got != test.untold {
			t.Fatalf("%s: times cannot be told: %t", name, got)
		}
		if d := cmp.Diff(test.want, entries(c, test.each)); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

// Of the regions in MASTER, one thread executes all but tasks and parallel regions. Where there is
// one thread, no other could share the work.
func TestPrimaryOnly(t *testing.T) {
	alone := func(thread int, s int64) []profile.ThreadStats {
		return []profile.ThreadStats{{Thread: thread, Exec: profile.Sum{T: s * 1e9, C: 1}, Body: profile.Sum{T: s * 1e9, C: 1}}}
	}
	p := teamOf3()
	for _, c := range []event.Construct{event.Master, event.Critical, event.Task, event.TaskExec} {
		p.Regions = append(p.Regions, profile.Region{Construct: c})
	}
	p.Nodes = append(p.Nodes[:2], profile.Node{Parent: 1, Region: 2, Stats: alone(0, 3)},
		profile.Node{Parent: 2, Region: 3, Stats: alone(0, 1)},
		profile.Node{Parent: 2, Region: 4, Stats: alone(0, 1)},
		profile.Node{Parent: 4, Region: 5, Stats: alone(1, 5)})
	c := Of(p, Options{})
	if got := c.Total(PrimaryOnly); got < 4e9 || got > 5e9 {
		t.Errorf("one thread works alone for %d ns", got)
	}
	for _, v := range c.Values {
		if c.Properties[v.Property].ID == PrimaryOnly && v.Thread != 0 {
			t.Errorf("thread %d does, at path %d", v.Thread, v.Path)
		}
	}
	p.Threads = p.Threads[:1]
	for i := range p.Nodes {
		p.Nodes[i].Stats = p.Nodes[i].Stats[:min(1, len(p.Nodes[i].Stats))]
		for j := range p.Nodes[i].Stats {
			p.Nodes[i].Stats[j].Thread = 0
		}
	}
	if c := Of(p, Options{}); c.Total(PrimaryOnly) != 0 {
		t.Errorf("of one thread: %d ns", c.Total(PrimaryOnly))
	}
}
