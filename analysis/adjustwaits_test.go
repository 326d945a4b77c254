package analysis

import (
	"testing"

	"ompp-attach/profile"
)

// What probes took is taken out of the waits, and out of what others are charged with for them.
func TestAdjustWaits(t *testing.T) {
	span := func(t int64, c uint64) profile.Sum { return profile.Sum{T: t, C: c} }
	p := &profile.Profile{Nodes: []profile.Node{{Parent: -1, Region: -1}, {Stats: []profile.ThreadStats{
		{Exec: span(1000, 10), Body: span(400, 10), Barrier: span(600, 10), Cost: &profile.Cost{Exec: 200, Barrier: 200, Wait: 150},
			Waits: &profile.Waits{Wait: span(500, 10), Done: span(90, 10)}},
		{Thread: 1, Exec: span(1000, 10), Body: span(950, 10), Barrier: span(50, 10),
			Waits: &profile.Waits{Done: span(50, 10), Last: span(500, 10), Late: span(500, 10), Delay: 400}},
	}}}, Regions: []profile.Region{{Construct: 1}}, Threads: make([]profile.Thread, 2)}
	a := Adjust(p)
	// 150 of the 200 were waiting for slow others, 50 own hits, which come out of the completion.
	want := []profile.Waits{
		{Wait: span(350, 10), Done: span(40, 10)},
		{Done: span(50, 10), Last: span(350, 10), Late: span(350, 10), Delay: 280},
	}
	for i, s := range a.Nodes[1].Stats {
		if *s.Waits != want[i] {
			t.Errorf("thread %d: %+v, want %+v", i, *s.Waits, want[i])
		}
		if s.Waits.Wait.T+s.Waits.Done.T > s.Barrier.T {
			t.Errorf("thread %d: waits of %d ns in a barrier of %d", i, s.Waits.Wait.T+s.Waits.Done.T, s.Barrier.T)
		}
	}
	if w := p.Nodes[1].Stats[0].Waits; w.Wait.T != 500 {
		t.Errorf("the measured profile changed: %+v", *w)
	}
}

// Probes before a critical's body are no waiting: first the handing over shrinks,
// then the contention.
func TestAdjustContention(t *testing.T) {
	span := func(t int64, c uint64) profile.Sum { return profile.Sum{T: t, C: c} }
	p := &profile.Profile{Nodes: []profile.Node{{Parent: -1, Region: -1}, {Stats: []profile.ThreadStats{
		{Exec: span(1000, 10), Enter: span(500, 10), Body: span(500, 10), Cost: &profile.Cost{Exec: 150, Enter: 150},
			Waits: &profile.Waits{Contended: span(400, 8), Handed: 100, Shared: 200}},
		{Thread: 1, Exec: span(1000, 10), Body: span(1000, 10), Waits: &profile.Waits{Held: span(400, 8), Shared: 200}},
	}}}, Regions: []profile.Region{{Construct: 1}}, Threads: make([]profile.Thread, 2)}
	want := []profile.Waits{{Contended: span(350, 8), Shared: 175}, {Held: span(350, 8), Shared: 175}}
	for i, s := range Adjust(p).Nodes[1].Stats {
		if *s.Waits != want[i] {
			t.Errorf("thread %d: %+v, want %+v", i, *s.Waits, want[i])
		}
	}
}
