package efficiency

import (
	"math"
	"testing"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// made returns a run in which each rank works in one region for the given seconds of thread time.
// The work is evenly spread over the rank's threads. The rank communicates outside of the region.
func made(ranks, threads int, work, mpi float64, counters map[string]int64) *Run {
	var processes []Process
	g := Region{Region: &profile.Region{Construct: event.ParallelLoop, Location: profile.Location{File: "a.c", Begin: 7}}, Number: 1}
	for i := range ranks {
		wall := int64((work/float64(threads) + mpi) * 1e9)
		p := Process{Rank: i, Threads: threads, Callers: 1, Wall: wall, UsesMPI: true, Counters: counters,
			Parallel: int64(work / float64(threads) * 1e9), Outside: int64(mpi * 1e9), Communication: int64(mpi * 1e9)}
		p.OutMPI, p.MaxUseful = p.Parallel, p.Parallel
		p.Parts[Work], p.Parts[SerialMPI], p.Parts[MPIIdle] = int64(work*1e9), int64(mpi*1e9), int64(mpi*1e9)*int64(threads-1)
		processes = append(processes, p)
		g.Team[Work] += int64(work * 1e9)
		g.Threads = threads
	}
	return New("made", processes, []Region{g})
}

func place(g *Region) string { return g.Location.File }

// TestScaling: the work of 16 s grows to 20 s with two threads a rank.
func TestScaling(t *testing.T) {
	counts := func(instructions, cycles int64) map[string]int64 {
		return map[string]int64{"instructions": instructions, "cycles": cycles}
	}
	runs := []*Run{made(2, 2, 10, 1, counts(2000, 1250)), made(1, 1, 16, 0, counts(3200, 1600)), made(4, 1, 4, 2, counts(800, 400)), made(2, 1, 8, 1, counts(1600, 800))}
	s := Compare(runs, []string{"2x2", "1x1", "4x1", "2x1"}, false)
	var order string
	for i := range s.Runs {
		order += s.Runs[i].Label + " "
	}
	if order != "1x1 2x1 2x2 4x1 " {
		t.Fatalf("order: %s", order)
	}
	ref, hybrid, pure := s.Runs[0], s.Runs[2], s.Runs[3]
	near(t, "speed-up of the reference", ref.Speedup, 1)
	near(t, "speed-up", hybrid.Speedup, 16./6)
	near(t, "of the threads", hybrid.Gain, 16./24)
	near(t, "computation scaling", hybrid.Computation, 16./20)
	near(t, "parallel efficiency", hybrid.Parallel, 20./24)
	near(t, "global efficiency", hybrid.Global, 16./24)
	// The speed-up is threads / threads of the reference x GE / GE of the reference.
	for _, x := range s.Runs {
		near(t, "speed-up by the global efficiency", x.Speedup, float64(x.All)/float64(ref.All)*x.Global/ref.Global)
	}
	if hybrid.EMT == nil || hybrid.Serial != "2x1" {
		t.Fatalf("e_mt: %+v", hybrid)
	}
	near(t, "e_mt", *hybrid.EMT, 8./10)
	if pure.EMT == nil || *pure.EMT != 1 {
		t.Error("a run of one thread per rank is its own reference")
	}
	if f := hybrid.Factors; f == nil {
		t.Error("no factors")
	} else {
		near(t, "instructions", f.Instructions, 3200./4000)
		near(t, "IPC", *f.IPC, 1.6/2)
		near(t, "product", f.Instructions**f.IPC*f.Rest, hybrid.Computation)
		if f.Frequency != nil {
			t.Error("a frequency of cycles alone")
		}
	}
	c := hybrid.Communication
	if c == nil || c.With != "4x1" {
		t.Fatalf("e_mp: %+v", c)
	}
	near(t, "e_mp", c.Efficiency(), 2./8)
	near(t, "gain", c.Gain(), 4)
	if c.MostHybrid != sec || c.MostPure != 2*sec || pure.Communication != nil {
		t.Errorf("%+v", c)
	}
	regions := s.Regions(place)
	if len(regions) != 1 || regions[0].Label != "PARALLEL LOOP a.c" {
		t.Fatalf("%+v", regions)
	}
	if e := regions[0].EMT[2]; e.Estimated || math.Abs(e.Value-.8) > 1e-9 {
		t.Errorf("e_mt of the region: %+v", e)
	}
}

// TestScalingOfMissingRanks: ranks that could not be read are taken to be as the others.
func TestScalingOfMissingRanks(t *testing.T) {
	counts := map[string]int64{"instructions": 800}
	part := made(3, 1, 4, 2, counts)
	part.Missing = 1
	labels := []string{"1x1", "4x1", "2x2"}
	s := Compare([]*Run{made(1, 1, 16, 0, counts), made(4, 1, 4, 2, counts), made(2, 2, 8, 1, counts)}, labels, false)
	x := Compare([]*Run{made(1, 1, 16, 0, counts), part, made(2, 2, 8, 1, counts)}, labels, false)
	for i := range s.Runs {
		a, b := &s.Runs[i], &x.Runs[i]
		if a.Label != b.Label || a.Ranks != b.Ranks || a.All != b.All {
			t.Fatalf("%s of %d x %d is %s of %d x %d", a.Label, a.Ranks, a.All, b.Label, b.Ranks, b.All)
		}
		near(t, "of ideal", b.Gain, a.Gain)
		near(t, "computation scaling", b.Computation, a.Computation)
		near(t, "instructions", b.Factors.Instructions, a.Factors.Instructions)
		if a.Communication != nil {
			near(t, "e_mp", b.Communication.Efficiency(), a.Communication.Efficiency())
		}
	}
}

// TestFrequency: twice the work at the same instructions and IPC, because the clock is half as
// fast.
func TestFrequency(t *testing.T) {
	for _, clock := range []string{"ref-cycles", "task-clock"} {
		counts := func(cycles, time int64) map[string]int64 {
			return map[string]int64{"instructions": 1000, "cycles": cycles, clock: time}
		}
		s := Compare([]*Run{made(1, 1, 8, 0, counts(500, 100)), made(1, 2, 16, 0, counts(500, 200))}, []string{"a", "b"}, false)
		f := s.Runs[1].Factors
		if f == nil || f.Frequency == nil || f.IPC == nil {
			t.Fatalf("%s: %+v", clock, f)
		}
		near(t, "frequency", *f.Frequency, .5)
		near(t, "IPC", *f.IPC, 1)
		near(t, "rest", f.Rest, 1)
	}
	s := Compare([]*Run{made(1, 1, 8, 0, map[string]int64{"instructions": 5}), made(1, 2, 8, 0, map[string]int64{"instructions": 5})}, []string{"a", "b"}, false)
	if f := s.Runs[1].Factors; f == nil || f.IPC != nil {
		t.Errorf("an IPC without cycles: %+v", f)
	}
}

// TestWeakScaling: twice the work on twice the ranks takes longer by the communication only.
func TestWeakScaling(t *testing.T) {
	s := Compare([]*Run{made(1, 1, 8, 0, nil), made(2, 1, 8, 2, nil)}, []string{"a", "b"}, true)
	x := s.Runs[1]
	near(t, "efficiency", x.Gain, .8)
	near(t, "computation scaling", x.Computation, 1)
	near(t, "global efficiency", x.Global, .8)
	if x.Factors != nil {
		t.Error("factors without counters")
	}
	if x.Communication != nil {
		t.Errorf("%+v", x)
	}
	// Eq. 4 compares times of the same problem.
	s = Compare([]*Run{made(1, 1, 8, 0, nil), made(1, 2, 16, 0, nil)}, []string{"a", "b"}, true)
	if s.Runs[1].EMT != nil || !s.Regions(place)[0].EMT[1].Estimated {
		t.Errorf("e_mt of a larger problem by Eq. 4: %+v", s.Runs[1])
	}
}

// TestNoReference: without runs of one thread per rank, e_mt and e_mp are not known.
func TestNoReference(t *testing.T) {
	s := Compare([]*Run{made(1, 2, 8, 1, nil), made(2, 2, 4, 1, nil)}, []string{"a", "b"}, false)
	for _, x := range s.Runs {
		if x.EMT != nil || x.Communication != nil {
			t.Errorf("%+v", x)
		}
	}
	if e := s.Regions(place)[0].EMT[0]; !e.Estimated || !e.Known || e.Value != 1 {
		t.Errorf("%+v", e)
	}
}
