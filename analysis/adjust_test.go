package analysis

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ompp-attach/event"
	"ompp-attach/profile"
)

func costly() *profile.Profile {
	return &profile.Profile{
		Meta:    profile.Meta{Life: profile.Life{Duration: 1000}},
		Threads: []profile.Thread{{}, {Num: 1}},
		Regions: []profile.Region{{Construct: event.Parallel}, {Construct: event.Critical}, {Construct: event.MPI}},
		Nodes: []profile.Node{
			{Parent: -1, Region: -1, Stats: []profile.ThreadStats{{Cost: &profile.Cost{Exec: 300}}, {Thread: 1, Cost: &profile.Cost{Exec: 500}}}},
			{Parent: 0, Region: 0, Stats: []profile.ThreadStats{
				{Exec: once(900), Enter: once(50), Body: once(800), Barrier: once(30), Exit: once(20), Child: 400, Task: 5,
					Cost: &profile.Cost{Exec: 250, Enter: 20, Body: 220, Exit: 10, Child: 150, Task: 9}, MPI: &profile.MPIStats{T: 100, Cost: 30}},
				{Thread: 1, Exec: once(900), Enter: once(50), Body: once(800), Barrier: once(30), Exit: once(20),
					Cost: &profile.Cost{Exec: 60, Enter: 60}}}},
			{Parent: 1, Region: 1, Stats: []profile.ThreadStats{
				{Exec: once(300), Enter: once(100), Body: once(200), Cost: &profile.Cost{Exec: 120, Enter: 110, Body: 10}}}},
			{Parent: 1, Region: 2, Stats: []profile.ThreadStats{
				{Exec: once(100), Body: once(100), Cost: &profile.Cost{Exec: 30, Body: 30}, MPI: &profile.MPIStats{T: 100, Cost: 30, Wait: 80}}}},
		},
	}
}

func once(t int64) profile.Sum { return profile.Sum{T: t, C: 1} }

// Probes take time of threads that have a core: a time without one stays,
// in its region and outside.
func TestAdjustLeavesTimeWithoutCore(t *testing.T) {
	p := costly()
	p.Nodes[0].Stats[0].NoCore = &profile.Cost{Exec: 950}
	p.Nodes[1].Stats[0].NoCore = &profile.Cost{Exec: 800, Enter: 45, Body: 750, Child: 350, Task: 4}
	p.Nodes[1].Stats[0].MPI.NoCore = 90
	a := Adjust(p)
	s := &a.Nodes[1].Stats[0]
	if s.Enter.T != 45 || s.Body.T != 750 || s.Exit.T != 10 || s.Exec.T != 835 || s.Child != 350 || s.Task != 4 || s.MPI.T != 90 {
		t.Errorf("%+v, MPI %+v", s, s.MPI)
	}
	if a.Meta.Duration != 835+150 {
		t.Errorf("duration %d, want the time in the region and the rest without a core", a.Meta.Duration)
	}
}

// A worker of which probes took more than of the primary thread is not outside of the team
// meanwhile: without probes it had waited in the final barrier.
func TestAdjustKeepsTeams(t *testing.T) {
	p := costly()
	p.Nodes[1].Stats[1].Cost = &profile.Cost{Exec: 600, Body: 600}
	a := Adjust(p)
	primary, worker := &a.Nodes[1].Stats[0], &a.Nodes[1].Stats[1]
	if worker.Exec.T != primary.Exec.T || worker.Body.T != 200 || worker.Barrier.T != 30+350 || worker.TakenOut != 250 {
		t.Errorf("worker %+v, primary thread %+v", worker, primary)
	}
	if idle := Idle(a) - Idle(p); idle > 0 {
		t.Errorf("the worker is idle for %d ns more than measured", idle)
	}
	p.Nodes[1].Stats[1].Exec.T -= 100 // it was in fewer of the teams
	if a := Adjust(p); a.Nodes[1].Stats[1].Exec.T != 200 {
		t.Errorf("%+v", a.Nodes[1].Stats[1])
	}
}

func TestAdjust(t *testing.T) {
	p := costly()
	a := Adjust(p)
	type times struct{ Exec, Enter, Body, Barrier, Exit, Child, Task, MPI, Wait int64 }
	of := func(p *profile.Profile, node, i int) times {
		s := p.Nodes[node].Stats[i]
		x := times{s.Exec.T, s.Enter.T, s.Body.T, s.Barrier.T, s.Exit.T, s.Child, s.Task, 0, 0}
		if s.MPI != nil {
			x.MPI, x.Wait = s.MPI.T, s.MPI.Wait
		}
		return x
	}
	for _, w := range []struct {
		node, i int
		want    times
	}{
		{1, 0, times{Exec: 650, Enter: 30, Body: 580, Barrier: 30, Exit: 10, Child: 250, MPI: 70}},
		{1, 1, times{Exec: 850, Body: 800, Barrier: 30, Exit: 20}}, // no more than there is
		{2, 0, times{Exec: 190, Body: 190}},
		{3, 0, times{Exec: 70, Body: 70, MPI: 70, Wait: 70}},
	} {
		if d := cmp.Diff(w.want, of(a, w.node, w.i)); d != "" {
			t.Errorf("node %d, thread %d: -want +got\n%s", w.node, w.i, d)
		}
	}
	for i := range p.Nodes {
		// What is taken out is known, so that the time as measured can be told.
		for j, s := range p.Nodes[i].Stats {
			if b := a.Nodes[i].Stats[j]; b.Exec.T+b.TakenOut != s.Exec.T {
				t.Errorf("node %d, thread %d: %d taken out of %d leave %d", i, j, b.TakenOut, s.Exec.T, b.Exec.T)
			}
		}
	}
	// A thread was in regions for as long.
	if a.Meta.Duration != 850 || a.Meta.TakenOut != 150 || !a.Meta.Adjusted {
		t.Errorf("%+v", a.Meta)
	}
	if d := cmp.Diff(costly(), p); d != "" {
		t.Errorf("the profile itself was changed: %s", d)
	}
	if Adjust(a) != a {
		t.Error("adjusted twice")
	}
	want := []OwnCost{{Region: 0, Cost: 160, Time: 1400}, {Region: 1, Cost: 120, Time: 300}, {Region: 2, Cost: 30, Time: 100}}
	if d := cmp.Diff(want, OwnCosts(p)); d != "" {
		t.Errorf("own costs: -want +got\n%s", d)
	}
}

// Without known costs nothing changes, and the profile does not claim to be adjusted.
func TestAdjustNothing(t *testing.T) {
	p := costly()
	for i := range p.Nodes {
		for j := range p.Nodes[i].Stats {
			p.Nodes[i].Stats[j].Cost = nil
		}
	}
	if a := Adjust(p); a != p || a.Meta.Adjusted {
		t.Error("adjusted by nothing")
	}
}

// If all of a construct's time is in the whole, only the cost in the whole is taken out. No time
// becomes negative.
func TestAdjustWholes(t *testing.T) {
	for _, w := range []struct{ exec, cost, want int64 }{{100, 30, 70}, {100, 130, 0}, {0, 10, 0}} {
		s := profile.ThreadStats{Exec: once(w.exec), Cost: &profile.Cost{Exec: w.cost}}
		if adjust(&s); s.Exec.T != w.want {
			t.Errorf("%d less %d: %d", w.exec, w.cost, s.Exec.T)
		}
	}
}
