package report

import (
	"math"
	"time"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// builder makes profiles whose figures agree with each other: Exec is the sum of its parts, and a
// node's Child is the time of the nodes inside.
type builder struct{ p *profile.Profile }

// row is one thread's times at a node, in seconds.
type row struct {
	thread                             int
	enter, body, barrier, exit, manage float64
	c, bodyC                           uint64
}

func ns(seconds float64) int64 { return int64(math.Round(seconds * 1e9)) }

func newBuilder(name string, seconds float64) *builder {
	return &builder{&profile.Profile{
		Version: profile.SchemaVersion,
		Meta: profile.Meta{Program: name, Path: "/opt/bin/" + name, PID: 4711, Host: "node1",
			Kernel: "6.1.0-18-amd64", Arch: "x86_64", Tool: "0.1.0", Built: "2024-05-01",
			Start: time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC), Duration: ns(seconds),
			UserTime: ns(30.25), SysTime: ns(0.5), Ended: "exit 0", Hits: 123456,
			Runtimes: []profile.Runtime{{Name: "libgomp", Path: "/usr/lib/libgomp.so.1", Version: "12.2", Probes: 50}}},
		Nodes: []profile.Node{{Parent: -1, Region: -1}},
	}}
}

func (b *builder) team(root, size int) {
	for i := range size {
		b.p.Threads = append(b.p.Threads, profile.Thread{Root: root, Num: i, TIDs: []int{100*root + i}})
	}
}

func (b *builder) region(c event.Construct, l profile.Location) int {
	b.p.Regions = append(b.p.Regions, profile.Region{Construct: c, Location: l})
	return len(b.p.Regions) - 1
}

// node adds a node. Each entry of from is a thread of the parent, and the seconds that it spent in
// the node. nil stands for the thread and the time of each row. That is right for all constructs
// that start no team.
func (b *builder) node(parent, region int, from map[int]float64, rows ...row) int {
	n := profile.Node{Parent: parent, Region: region}
	for _, r := range rows {
		s := profile.ThreadStats{Thread: r.thread, Enter: profile.Span{T: ns(r.enter), C: r.c},
			Body: profile.Span{T: ns(r.body), C: r.bodyC}, Exit: profile.Span{T: ns(r.exit), C: r.c},
			Barrier: profile.Span{T: ns(r.barrier), C: r.c}}
		if r.bodyC == 0 && r.body > 0 {
			s.Body.C = r.c
		}
		s.Exec = profile.Span{T: s.Enter.T + s.Body.T + s.Barrier.T + s.Exit.T + ns(r.manage), C: r.c}
		n.Stats = append(n.Stats, s)
		if from == nil {
			b.child(parent, r.thread, s.Exec.T)
		}
	}
	for thread, t := range from {
		b.child(parent, thread, ns(t))
	}
	b.p.Nodes = append(b.p.Nodes, n)
	return len(b.p.Nodes) - 1
}

func (b *builder) child(parent, thread int, t int64) {
	for i := range b.p.Nodes[parent].Stats {
		if s := &b.p.Nodes[parent].Stats[i]; s.Thread == thread {
			s.Child += t
		}
	}
}

func lines(begin, end int) profile.Location {
	return profile.Location{File: "/src/app/main.c", Begin: begin, End: end, Function: "main", Object: "/opt/bin/mixed", Offset: 0x1139}
}

// plainProfile is a run that ompP could have measured: one initial thread, nothing lost, nothing
// approximate.
func plainProfile() *profile.Profile {
	b := newBuilder("plain", 4)
	b.team(0, 2)
	par := b.region(event.Parallel, lines(10, 20))
	critical := b.region(event.Critical, lines(13, 15))
	at := b.node(0, par, map[int]float64{0: 3},
		row{thread: 0, enter: .1, body: 2.8, barrier: 0, exit: .1, c: 1},
		row{thread: 1, enter: .1, body: 2.3, barrier: .5, exit: .1, c: 1})
	b.node(at, critical, nil,
		row{thread: 0, body: .4, c: 4},
		row{thread: 1, enter: .4, body: .4, c: 4})
	return b.p
}

// mixedProfile has one of nearly every construct. The figures that tests expect were computed by
// hand from the times written here.
func mixedProfile() *profile.Profile {
	b := newBuilder("mixed", 10)
	b.team(0, 4) // threads 0 to 3
	b.team(1, 2) // threads 4 and 5, printed 1:0 and 1:1

	par := b.region(event.Parallel, lines(20, 60))
	loop := b.region(event.Loop, lines(24, 30))
	anon := b.region(event.Critical, lines(33, 36))
	queue := b.region(event.Critical, lines(38, 41))
	b.p.Regions[queue].Name = "queue"
	b.p.Regions[queue].Location.EndMark = profile.Approx
	sections := b.region(event.Sections, lines(43, 48))
	single := b.region(event.Single, lines(50, 52))
	barrier := b.region(event.Barrier, lines(54, 54))
	lock := b.region(event.Lock, profile.Location{Function: "solve", Object: "/usr/lib/libsolve.so", Offset: 0x1a2b, Mark: profile.Approx})
	inner := b.region(event.Parallel, profile.Location{File: "inner.c", Begin: 10, End: 18})
	ordered := b.region(event.Ordered, lines(27, 28))
	master := b.region(event.Master, lines(56, 0))
	parloop := b.region(event.ParallelLoop, profile.Location{File: "/src/app/worker.c", Begin: 5, End: 9})
	underway := b.region(event.Unknown, profile.Location{})

	top := b.node(0, par, map[int]float64{0: 8},
		row{thread: 0, enter: .1, body: 7.8, barrier: 0, exit: .1, c: 10},
		row{thread: 1, enter: .1, body: 7.4, barrier: .4, exit: .1, c: 10},
		row{thread: 2, enter: .1, body: 7.0, barrier: .8, exit: .1, c: 10},
		row{thread: 3, enter: .1, body: 6.6, barrier: 1.2, exit: .1, c: 10})
	at := b.node(top, loop, nil,
		row{thread: 0, body: 3.0, barrier: 0, c: 10},
		row{thread: 1, body: 2.8, barrier: .2, c: 10},
		row{thread: 2, body: 2.6, barrier: .4, c: 10},
		row{thread: 3, body: 2.4, barrier: .6, c: 10})
	b.node(at, ordered, nil,
		row{thread: 0, enter: .1, body: .2, c: 100}, row{thread: 1, enter: .1, body: .2, c: 100},
		row{thread: 2, enter: .1, body: .2, c: 100}, row{thread: 3, enter: .1, body: .2, c: 100})
	b.node(top, anon, nil,
		row{thread: 0, enter: .1, body: .1, exit: .01, c: 1000}, row{thread: 1, enter: .2, body: .1, exit: .01, c: 1000},
		row{thread: 2, enter: .3, body: .1, exit: .01, c: 985}, row{thread: 3, enter: .4, body: .1, exit: .01, c: 1000})
	at = b.node(top, queue, nil,
		row{thread: 0, body: .05, exit: .01, c: 7}, row{thread: 1, body: .05, exit: .01, c: 7},
		row{thread: 2, body: .05, exit: .01, c: 7}, row{thread: 3, body: .05, exit: .01, c: 7})
	b.node(at, lock, nil,
		row{thread: 0, enter: .01, body: .01, exit: .005, c: 7}, row{thread: 1, enter: .01, body: .01, exit: .005, c: 7},
		row{thread: 2, enter: .01, body: .01, exit: .005, c: 7}, row{thread: 3, enter: .01, body: .01, exit: .005, c: 7})
	b.node(top, sections, nil,
		row{thread: 0, body: .5, manage: .01, c: 10}, row{thread: 1, body: .5, manage: .01, c: 10},
		row{thread: 2, barrier: .5, manage: .01, c: 10}, row{thread: 3, barrier: .5, manage: .01, c: 10})
	b.node(top, single, nil,
		row{thread: 0, barrier: .3, c: 10}, row{thread: 1, body: .3, c: 10},
		row{thread: 2, barrier: .3, c: 10}, row{thread: 3, barrier: .3, c: 10})
	b.node(top, barrier, nil,
		row{thread: 0, barrier: .2, c: 10}, row{thread: 1, barrier: .1, c: 10},
		row{thread: 2, barrier: .1, c: 10}, row{thread: 3, c: 10})
	b.node(top, master, nil, row{thread: 0, body: .2, c: 10})
	// Threads 0 and 2 each start a team of two: rows 0 and 1 hold both teams.
	at = b.node(top, inner, map[int]float64{0: .4, 2: .4},
		row{thread: 0, enter: .1, body: .6, exit: .1, c: 2},
		row{thread: 1, enter: .1, body: .4, barrier: .2, exit: .1, c: 2})
	b.node(at, anon, nil, row{thread: 0, body: .1, c: 5}, row{thread: 1, enter: .1, body: .1, c: 5})

	b.node(0, parloop, map[int]float64{4: 5},
		row{thread: 4, enter: .2, body: 4.7, exit: .1, c: 50},
		row{thread: 5, enter: .2, body: 3.7, barrier: 1, exit: .1, c: 50})
	b.node(0, underway, map[int]float64{4: .5}, row{thread: 4, body: .5, c: 1}, row{thread: 5, body: .5, c: 1})

	p := b.p
	p.Meta.Attached, p.Meta.Partial, p.Meta.LostHits = true, 1, 24
	p.Meta.Runtimes[0].Missing = []string{"omp_test_lock: no safe instruction"}
	p.Regions[underway].Notes = []string{"Was under way when measurement began."}
	p.Regions[anon].Lossy = 15
	p.Lost = []profile.Loss{{Region: anon, Thread: 2, Events: 15}, {Region: loop, Thread: 0, Events: 3},
		{Region: loop, Thread: 1, Events: 4}, {Region: -1, Thread: 4, Events: 2}}
	p.Unseen = []profile.Unseen{{What: "ATOMIC", Reason: "Compiled to single instructions, which call no runtime."}}
	p.Warnings = []string{"The executable is stripped."}
	return p
}
