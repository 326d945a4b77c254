package reporttest

import (
	"ompp-attach/event"
	"ompp-attach/profile"
)

// PlainProfile is a run that ompP could have measured: one initial thread, nothing lost, nothing
// approximate.
func PlainProfile() *profile.Profile {
	b := NewBuilder("plain", 4)
	b.Team(0, 2)
	par := b.Region(event.Parallel, Lines(10, 20))
	critical := b.Region(event.Critical, Lines(13, 15))
	at := b.Node(0, par, map[int]float64{0: 3},
		Row{Thread: 0, Enter: .1, Body: 2.8, Barrier: 0, Exit: .1, C: 1},
		Row{Thread: 1, Enter: .1, Body: 2.3, Barrier: .5, Exit: .1, C: 1})
	b.Node(at, critical, nil,
		Row{Thread: 0, Body: .4, C: 4},
		Row{Thread: 1, Enter: .4, Body: .4, C: 4})
	return b.P
}

// MixedProfile has one of nearly every construct. The figures that tests expect were computed by
// hand from the times written here.
func MixedProfile() *profile.Profile {
	b := NewBuilder("mixed", 10)
	b.Team(0, 4) // threads 0 to 3
	b.Team(1, 2) // threads 4 and 5, printed 1:0 and 1:1

	par := b.Region(event.Parallel, Lines(20, 60))
	loop := b.Region(event.Loop, Lines(24, 30))
	anon := b.Region(event.Critical, Lines(33, 36))
	queue := b.Region(event.Critical, Lines(38, 41))
	b.P.Regions[queue].Name = "queue"
	b.P.Regions[queue].Location.EndMark = profile.Approx
	sections := b.Region(event.Sections, Lines(43, 48))
	single := b.Region(event.Single, Lines(50, 52))
	barrier := b.Region(event.Barrier, Lines(54, 54))
	lock := b.Region(event.Lock, profile.Location{Function: "solve", Object: "/usr/lib/libsolve.so", Offset: 0x1a2b, Mark: profile.Approx})
	inner := b.Region(event.Parallel, profile.Location{File: "inner.c", Begin: 10, End: 18})
	ordered := b.Region(event.Ordered, Lines(27, 28))
	master := b.Region(event.Master, Lines(56, 0))
	parloop := b.Region(event.ParallelLoop, profile.Location{File: "/src/app/worker.c", Begin: 5, End: 9})
	underway := b.Region(event.Unknown, profile.Location{})

	top := b.Node(0, par, map[int]float64{0: 8},
		Row{Thread: 0, Enter: .1, Body: 7.8, Barrier: 0, Exit: .1, C: 10},
		Row{Thread: 1, Enter: .1, Body: 7.4, Barrier: .4, Exit: .1, C: 10},
		Row{Thread: 2, Enter: .1, Body: 7.0, Barrier: .8, Exit: .1, C: 10},
		Row{Thread: 3, Enter: .1, Body: 6.6, Barrier: 1.2, Exit: .1, C: 10})
	at := b.Node(top, loop, nil,
		Row{Thread: 0, Body: 3.0, Barrier: 0, C: 10},
		Row{Thread: 1, Body: 2.8, Barrier: .2, C: 10},
		Row{Thread: 2, Body: 2.6, Barrier: .4, C: 10},
		Row{Thread: 3, Body: 2.4, Barrier: .6, C: 10})
	b.Node(at, ordered, nil,
		Row{Thread: 0, Enter: .1, Body: .2, C: 100}, Row{Thread: 1, Enter: .1, Body: .2, C: 100},
		Row{Thread: 2, Enter: .1, Body: .2, C: 100}, Row{Thread: 3, Enter: .1, Body: .2, C: 100})
	b.Node(top, anon, nil,
		Row{Thread: 0, Enter: .1, Body: .1, Exit: .01, C: 1000}, Row{Thread: 1, Enter: .2, Body: .1, Exit: .01, C: 1000},
		Row{Thread: 2, Enter: .3, Body: .1, Exit: .01, C: 985}, Row{Thread: 3, Enter: .4, Body: .1, Exit: .01, C: 1000})
	at = b.Node(top, queue, nil,
		Row{Thread: 0, Body: .05, Exit: .01, C: 7}, Row{Thread: 1, Body: .05, Exit: .01, C: 7},
		Row{Thread: 2, Body: .05, Exit: .01, C: 7}, Row{Thread: 3, Body: .05, Exit: .01, C: 7})
	b.Node(at, lock, nil,
		Row{Thread: 0, Enter: .01, Body: .01, Exit: .005, C: 7}, Row{Thread: 1, Enter: .01, Body: .01, Exit: .005, C: 7},
		Row{Thread: 2, Enter: .01, Body: .01, Exit: .005, C: 7}, Row{Thread: 3, Enter: .01, Body: .01, Exit: .005, C: 7})
	b.Node(top, sections, nil,
		Row{Thread: 0, Body: .5, manage: .01, C: 10}, Row{Thread: 1, Body: .5, manage: .01, C: 10},
		Row{Thread: 2, Barrier: .5, manage: .01, C: 10}, Row{Thread: 3, Barrier: .5, manage: .01, C: 10})
	b.Node(top, single, nil,
		Row{Thread: 0, Barrier: .3, C: 10}, Row{Thread: 1, Body: .3, C: 10},
		Row{Thread: 2, Barrier: .3, C: 10}, Row{Thread: 3, Barrier: .3, C: 10})
	b.Node(top, barrier, nil,
		Row{Thread: 0, Barrier: .2, C: 10}, Row{Thread: 1, Barrier: .1, C: 10},
		Row{Thread: 2, Barrier: .1, C: 10}, Row{Thread: 3, C: 10})
	b.Node(top, master, nil, Row{Thread: 0, Body: .2, C: 10})
	// Threads 0 and 2 each start a team of two: rows 0 and 1 hold both teams.
	at = b.Node(top, inner, map[int]float64{0: .4, 2: .4},
		Row{Thread: 0, Enter: .1, Body: .6, Exit: .1, C: 2},
		Row{Thread: 1, Enter: .1, Body: .4, Barrier: .2, Exit: .1, C: 2})
	b.Node(at, anon, nil, Row{Thread: 0, Body: .1, C: 5}, Row{Thread: 1, Enter: .1, Body: .1, C: 5})

	b.Node(0, parloop, map[int]float64{4: 5},
		Row{Thread: 4, Enter: .2, Body: 4.7, Exit: .1, C: 50},
		Row{Thread: 5, Enter: .2, Body: 3.7, Barrier: 1, Exit: .1, C: 50})
	b.Node(0, underway, map[int]float64{4: .5}, Row{Thread: 4, Body: .5, C: 1}, Row{Thread: 5, Body: .5, C: 1})

	spoil(b.P, anon, loop, underway)
	return b.P
}

// spoil adds to a profile what was lost, under way or not seen.
func spoil(p *profile.Profile, anon, loop, underway int) {
	p.Meta.Attached, p.Meta.Partial, p.Meta.LostHits = true, 1, 24
	p.Meta.Runtimes[0].Missing = []string{"omp_test_lock: no safe instruction"}
	p.Regions[underway].Notes = []string{"Was under way when measurement began."}
	p.Regions[anon].Lossy = 15
	p.Lost = []profile.Loss{{Region: anon, Thread: 2, Events: 15}, {Region: loop, Thread: 0, Events: 3},
		{Region: loop, Thread: 1, Events: 4}, {Region: -1, Thread: 4, Events: 2}}
	p.Unseen = []profile.Unseen{{What: "ATOMIC", Reason: "Compiled to single instructions, which call no runtime."}}
	p.Warnings = []string{"The executable is stripped."}
}

// Costly is a profile of one thread in one critical, with probes that took half of its time.
func Costly() *profile.Profile {
	return &profile.Profile{
		Meta: profile.Meta{Target: profile.Target{Program: "solver"}, Life: profile.Life{Duration: 10e9, Ended: "exit status 0"}, MPI: &profile.MPIJob{Size: 1},
			Expense: profile.Expense{Overhead: &profile.Overhead{Mode: "uprobe.session", Probes: []profile.ProbeHits{
				{Probe: "emulated", Hits: 1e6, Before: 600, After: 400}, {Probe: "emulated", Reads: 1, Hits: 1e6, Before: 600, After: 800},
				{Probe: "return", Hits: 1e6, Before: 300, After: 300}}}}},
		Threads: []profile.Thread{{}},
		Regions: []profile.Region{{Construct: event.Critical, Location: profile.Location{File: "a.c", Begin: 3, End: 5}}},
		Nodes: []profile.Node{
			{Parent: -1, Region: -1, Stats: []profile.ThreadStats{{Cost: &profile.Cost{Exec: 3e9}}}},
			{Parent: 0, Region: 0, Stats: []profile.ThreadStats{{Exec: profile.Sum{T: 4e9, C: 1e6}, Enter: profile.Sum{T: 1e9, C: 1e6}, Body: profile.Sum{T: 3e9, C: 1e6},
				Cost: &profile.Cost{Exec: 2e9, Enter: 5e8, Body: 15e8}}}},
		},
	}
}
