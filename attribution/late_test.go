package attribution

import (
	"testing"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// Who comes late to a region's final barrier by its probes is waited for. Without probes the others
// would have waited less, or for another one, or not at all.
func TestWaitsForLatecomers(t *testing.T) {
	const hit = 68 // see testCosts
	for _, c := range []struct {
		name        string
		end         [3]uint64 // of the threads' bodies, without probes
		hits        [3]int    // of criticals
		want, stays [3]int64  // what is taken out of each one's wait, and what stays
	}{
		{"the last one had all the hits", [3]uint64{5000, 5000, 5000}, [3]int{0, 0, 10}, [3]int64{10 * hit, 10 * hit, 0}, [3]int64{0, 0, 0}},
		{"it would have been the last all the same", [3]uint64{5000, 6000, 9000}, [3]int{0, 0, 10}, [3]int64{10 * hit, 10 * hit, 0}, [3]int64{4000, 3000, 0}},
		{"another one would have been", [3]uint64{5000, 9000, 8900}, [3]int{0, 0, 10}, [3]int64{10*hit - 100, 10*hit - 100, 0}, [3]int64{4000, 0, 0}},
		{"who waits had as many", [3]uint64{5000, 6000, 9000}, [3]int{10, 4, 10}, [3]int64{0, 6 * hit, 0}, [3]int64{4000, 3000, 0}},
		{"nobody had any", [3]uint64{5000, 6000, 9000}, [3]int{0, 0, 0}, [3]int64{}, [3]int64{4000, 3000, 0}},
	} {
		e := New(1, fakeFiles{})
		costs := event.HitCosts{}
		costs.Kinds[event.ProbeEmulated] = event.HitCost{Before: 41, After: 27}
		e.Costs(costs)
		feed := func(at uint64, thread int, c event.Construct, edge event.Edge, p event.Probe) {
			e.Feed(&event.Event{Time: at, TID: uint32(thread + 1), Construct: c, Edge: edge, Site: 400, Fn: 300, Key: 7, Size: 3, Num: int32(thread),
				Flags: event.FreeAtOnce, Probe: p})
		}
		feed(1000, 0, event.Parallel, event.Fork, 0)
		last := uint64(0)
		for i := range c.end {
			feed(1000, i, event.Parallel, event.Begin, 0)
			at := uint64(1100)
			for h := range c.hits[i] {
				feed(at, i, event.Critical, []event.Edge{event.Enter, event.Release}[h%2], event.ProbeEmulated)
				at += hit
			}
			end := c.end[i] + uint64(c.hits[i])*hit
			feed(end, i, event.Parallel, event.End, 0)
			last = max(last, end)
		}
		feed(last, 0, event.Parallel, event.Join, 0)
		p := e.Finish(last + 10)
		for _, s := range p.Nodes[1].Stats {
			cost := profile.Cost{}
			if s.Cost != nil {
				cost = *s.Cost
			}
			if cost.Wait != c.want[s.Thread] || cost.Barrier != cost.Wait || s.Barrier.T-cost.Barrier != c.stays[s.Thread] {
				t.Errorf("%s, thread %d: %d of its wait of %d is taken out, want %d so that %d stays", c.name, s.Thread, cost.Wait, s.Barrier.T, c.want[s.Thread], c.stays[s.Thread])
			}
		}
	}
}
