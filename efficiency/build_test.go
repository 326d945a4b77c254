package efficiency

import (
	"math"
	"testing"

	"ompp-attach/event"
	"ompp-attach/profile"
)

const sec = int64(1e9)

// span returns a time in seconds.
func span(seconds float64) profile.Sum {
	return profile.Sum{T: int64(math.Round(seconds * 1e9)), C: 1}
}

func calls(seconds float64) *profile.MPIStats {
	return &profile.MPIStats{T: span(seconds).T, Calls: 1}
}

// rank returns a made-up rank with two threads. The rank has a parallel region with a critical
// section; thread 0 calls MPI_Send in the region. Outside of the region, MPI_Recv takes a time of
// its own, and MPI_Init and MPI_Finalize take a second each. All times are in seconds.
type rank struct {
	number                int
	wall, recv            float64 // without MPI_Init and MPI_Finalize
	enter, exit           float64
	body, barrier, waitAt [2]float64
	send                  float64
	// Without a core: thread 1 in the region, thread 0 outside of it and outside of MPI, thread 0
	// in MPI_Recv.
	noCoreBody, noCoreSerial, noCoreRecv float64
}

func (r rank) profile(t *testing.T) *profile.Profile {
	t.Helper()
	p := &profile.Profile{Version: profile.SchemaVersion,
		Meta: profile.Meta{Target: profile.Target{Program: "made-up", PID: 100 + r.number}, Machine: profile.Machine{Host: "node1"},
			Life: profile.Life{Duration: span(r.wall + 2).T},
			MPI:  &profile.MPIJob{Rank: r.number, Size: 2}},
		Threads: []profile.Thread{{Num: 0}, {Num: 1}},
		Regions: []profile.Region{{Construct: event.Parallel}, {Construct: event.Critical}, {Construct: event.MPI, Name: "MPI_Send"},
			{Construct: event.MPI, Name: "MPI_Recv"}, {Construct: event.MPI, Name: "MPI_Init"}, {Construct: event.MPI, Name: "MPI_Finalize"}},
		Nodes: []profile.Node{{Parent: -1, Region: -1}, {Parent: 0, Region: 0}, {Parent: 1, Region: 1}, {Parent: 1, Region: 2},
			{Parent: 0, Region: 3}, {Parent: 0, Region: 4}, {Parent: 0, Region: 5}}}
	add := func(node int, s profile.ThreadStats) {
		p.Nodes[node].Stats = append(p.Nodes[node].Stats, s)
	}
	var send *profile.MPIStats
	for i := range 2 {
		exec := span(r.enter + r.body[i] + r.barrier[i] + r.exit)
		s := profile.ThreadStats{Thread: i, Exec: exec, Enter: span(r.enter), Body: span(r.body[i]), Barrier: span(r.barrier[i]), Exit: span(r.exit)}
		if i == 0 && r.send > 0 {
			send = calls(r.send)
			s.MPI = send
			s.Child += send.T
			add(3, profile.ThreadStats{Exec: span(r.send), Body: span(r.send), MPI: send})
		}
		if r.waitAt[i] > 0 {
			s.Child += span(r.waitAt[i]).T
			add(2, profile.ThreadStats{Thread: i, Exec: span(r.waitAt[i]), Enter: span(r.waitAt[i])})
		}
		if i == 1 && r.noCoreBody > 0 {
			s.NoCore = &profile.Cost{Exec: span(r.noCoreBody).T, Body: span(r.noCoreBody).T}
			add(0, profile.ThreadStats{Thread: 1, NoCore: &profile.Cost{Exec: span(r.noCoreBody).T}})
		}
		add(1, s)
	}
	root := profile.ThreadStats{MPI: calls(1).Plus(calls(1)).Plus(send).Plus(calls(r.recv))}
	if r.noCoreSerial+r.noCoreRecv > 0 {
		root.NoCore = &profile.Cost{Exec: span(r.noCoreSerial + r.noCoreRecv).T}
	}
	add(0, root)
	recv := profile.ThreadStats{Exec: span(r.recv), Body: span(r.recv), MPI: calls(r.recv)}
	if r.noCoreRecv > 0 {
		recv.NoCore = &profile.Cost{Exec: span(r.noCoreRecv).T, Body: span(r.noCoreRecv).T}
		recv.MPI.NoCore = span(r.noCoreRecv).T
	}
	add(4, recv)
	add(5, profile.ThreadStats{Exec: span(1), Body: span(1), MPI: calls(1)})
	add(6, profile.ThreadStats{Exec: span(1), Body: span(1), MPI: calls(1)})
	if err := profile.Validate(p); err != nil {
		t.Fatal(err)
	}
	return p
}

// first and second are the ranks of a job. The figures that the tests expect of them were worked
// out by hand.
var (
	first = rank{number: 0, wall: 10, recv: 1.5, enter: .1, exit: .1, body: [2]float64{5.8, 4.3}, barrier: [2]float64{0, 1.5},
		waitAt: [2]float64{.4, .2}, send: .3}
	second = rank{number: 1, wall: 9, recv: 2, enter: .1, exit: .1, body: [2]float64{3.8, 3.8}}
)

// jobOf merges ranks that have the same regions.
func jobOf(t *testing.T, ranks ...rank) *Run {
	t.Helper()
	var processes []Process
	var regions []Region
	for i, r := range ranks {
		p := r.profile(t)
		process, figures := Of(p)
		processes = append(processes, process)
		for j := range figures {
			if i == 0 {
				regions = append(regions, Region{Region: &p.Regions[j], Number: j + 1})
			}
			regions[j].Add(&figures[j])
		}
	}
	return New("made-up", processes, regions)
}
