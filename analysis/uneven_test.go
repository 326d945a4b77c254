package analysis_test

import (
	"testing"

	"ompp-attach/analysis"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// A loop that leaves a thread without work mostly has too few iterations, or one that is too long.
// Threads that begin late are waited for, however even the work is.
func TestWhyUneven(t *testing.T) {
	even, late := []int64{0, 0, 0, 0}, []int64{0, 3e8, 1e8, 0}
	for _, c := range []struct {
		what          string
		construct     event.Construct
		enter, bodies []int64
		tasks         int64 // that the first thread executes in the barrier
		apart         int   // the first thread of the second initial thread; 0: there is one
		want          analysis.Uneven
	}{
		{"one iteration", event.Loop, even, []int64{0, 1e9}, 0, 0, analysis.Starved},
		{"three iterations on four threads", event.ParallelLoop, even, []int64{5e8, 5e8, 5e8, 1e4}, 0, 0, analysis.Starved},
		{"a loop that other teams execute more often", event.Loop, even, []int64{1e9, 1e9, 1e6, 1e6}, 0, 2, 0},
		{"a loop that other teams execute less often", event.Loop, even, []int64{1e6, 1e6, 1e9, 1e9}, 0, 2, 0},
		{"a thread of other teams without work", event.Loop, even, []int64{1e9, 1e9, 1e7, 0}, 0, 2, analysis.Starved},
		{"uneven", event.Loop, even, []int64{1e9, 1e8}, 0, 0, 0},
		{"one thread", event.Loop, even, []int64{1e9}, 0, 0, 0},
		{"never executed", event.Loop, even, []int64{0, 0}, 0, 0, 0},
		{"no loop", event.Sections, even, []int64{0, 1e9}, 0, 0, 0},
		{"late threads", event.ParallelLoop, late, []int64{2e8, 2e8, 2e8, 2e8}, 0, 0, analysis.Late},
		{"late threads in a region", event.Parallel, late, []int64{2e8, 2e8, 2e8, 2e8}, 0, 0, analysis.Late},
		{"late threads of sections", event.ParallelSections, late, []int64{2e8, 2e8, 2e8, 2e8}, 0, 0, analysis.Late},
		{"no parallel region", event.Sections, late, []int64{2e8, 2e8, 2e8, 2e8}, 0, 0, 0},
		{"more work than lateness", event.ParallelLoop, late, []int64{2e8, 2e8, 2e8, 16e8}, 0, 0, 0},
		{"late, and tasks in the barrier", event.Parallel, late, []int64{1e8, 8e8}, 8e8, 0, analysis.Late},
		{"late threads of other teams", event.Parallel, []int64{0, 3e8, 0, 0}, []int64{3e8, 0, 1e8, 3e8}, 0, 2, 0},
		{"late, and with less work", event.ParallelLoop, late, []int64{9e8, 2e8, 9e8, 9e8}, 0, 0, 0},
	} {
		p := &profile.Profile{Regions: []profile.Region{{Construct: c.construct}},
			Nodes: []profile.Node{{Parent: -1, Region: -1}, {Region: 0}}}
		last := int64(0)
		for i, body := range c.bodies {
			last = max(last, body+c.enter[i])
		}
		for i, body := range c.bodies {
			th := profile.Thread{Num: i}
			if c.apart > 0 && i >= c.apart {
				th = profile.Thread{Root: 1, Num: i - c.apart}
			}
			p.Threads = append(p.Threads, th)
			p.Nodes[1].Stats = append(p.Nodes[1].Stats, profile.ThreadStats{Thread: i, Exec: profile.Sum{T: last, C: 1}, Enter: profile.Sum{T: c.enter[i], C: 1},
				Body: profile.Sum{T: body, C: 1}, Task: c.tasks * int64(1-min(1, i)), Barrier: profile.Sum{T: last - body - c.enter[i], C: 1}})
		}
		if got := analysis.WhyUneven(p)[0].Why(); got != c.want {
			t.Errorf("%s: %d, want %d", c.what, got, c.want)
		}
	}
}

// lateFor is a profile of two threads in a parallel region with a construct. Thread 0 waits at the
// construct's end, for w. The late thread comes from the construct or, to a barrier, from the
// region.
func lateFor(construct event.Construct, w, late profile.Waits) *profile.Profile {
	barrier, all := profile.Sum{T: 100, C: 1}, profile.Sum{T: 1000, C: 1}
	p := &profile.Profile{Threads: []profile.Thread{{Num: 0}, {Num: 1}}, Regions: []profile.Region{{Construct: event.Parallel}, {Construct: construct}},
		Nodes: []profile.Node{{Parent: -1, Region: -1}, {Region: 0}, {Parent: 1, Region: 1}}}
	for i := range p.Threads {
		p.Nodes[1].Stats = append(p.Nodes[1].Stats, profile.ThreadStats{Thread: i, Exec: all, Body: all})
		s := profile.ThreadStats{Thread: i, Exec: all, Body: all}
		if construct == event.Barrier {
			s = profile.ThreadStats{Thread: i}
		}
		p.Nodes[2].Stats = append(p.Nodes[2].Stats, s)
	}
	from := &p.Nodes[2].Stats[1]
	p.Nodes[2].Stats[0].Waits, p.Nodes[2].Stats[0].Barrier, p.Nodes[2].Stats[0].Exec = &w, barrier, barrier
	if construct == event.Barrier {
		p.Nodes[2].Stats[0].Barrier, from = profile.Sum{}, &p.Nodes[1].Stats[1]
	}
	from.Waits = &late
	return p
}

// Threads that had no core, or that came late to a construct, are waited for, too, however even the
// work is.
func TestWhyThreadsCameLate(t *testing.T) {
	wait := func(t int64) profile.Waits { return profile.Waits{Wait: profile.Sum{T: t, C: 1}} }
	late := func(t, away, delay int64) profile.Waits {
		return profile.Waits{Late: profile.Sum{T: t, C: 1}, NoCore: away, Delay: delay}
	}
	for _, c := range []struct {
		what      string
		construct event.Construct
		w, late   profile.Waits
		want      analysis.Uneven
	}{
		{"more work", event.Loop, wait(100), late(100, 40, 100), 0},
		{"no core", event.Loop, wait(100), late(100, 60, 100), analysis.Coreless},
		{"no core, in sections", event.Sections, wait(100), late(100, 60, 100), analysis.Coreless},
		{"no core, most waits not known", event.Loop, wait(40), late(40, 40, 40), 0},
		{"no core, of threads from elsewhere", event.Loop, wait(100), late(40, 40, 100), 0},
		{"no core at a barrier", event.Barrier, wait(100), late(150, 90, 100), analysis.Coreless},
		{"no core for a quarter of the waits at a barrier", event.Barrier, wait(100), late(52, 27, 100), 0},
		{"more work before a barrier", event.Barrier, wait(100), late(150, 70, 100), 0},
		{"late to a loop", event.Loop, wait(100), late(100, 0, 40), analysis.Behind},
		{"late to a loop, most waits not known", event.Loop, wait(40), late(40, 0, 10), 0},
		{"late to a barrier", event.Barrier, wait(100), late(100, 0, 40), 0},
		{"no waits are known", event.Loop, wait(0), late(0, 0, 0), 0},
	} {
		p := lateFor(c.construct, c.w, c.late)
		if got := analysis.WhyUneven(p)[1]; got.Why() != c.want || got[c.want] != 100 {
			t.Errorf("%s: %v, want %d", c.what, got, c.want)
		}
	}
	// What a late thread did in a region inside of the loop, it did in the loop.
	p := lateFor(event.Loop, wait(100), late(100, 0, 10))
	p.Regions = append(p.Regions, profile.Region{Construct: event.Critical})
	p.Nodes = append(p.Nodes, profile.Node{Parent: 2, Region: 2, Stats: []profile.ThreadStats{{Thread: 1, Waits: &profile.Waits{Delay: 30, Passed: 20}}}})
	if got := analysis.WhyUneven(p)[1].Why(); got != 0 {
		t.Errorf("delays within a loop: %d", got)
	}
	// It counts once if the loop is executed within itself.
	p.Regions = append(p.Regions, p.Regions[1])
	p.Nodes = append(p.Nodes, profile.Node{Parent: 3, Region: 1, Stats: []profile.ThreadStats{{Thread: 1, Waits: &profile.Waits{Delay: 20}}}})
	p.Nodes[3].Stats[0].Waits.Delay = 0
	p.Nodes[2].Stats[1].Waits.Delay = 0
	if got := analysis.WhyUneven(p)[1].Why(); got != analysis.Behind {
		t.Errorf("delays within a loop within itself: %d", got)
	}
}

// A thread that begins a region late because it has no core is no reason to lengthen the region.
func TestLateForWantOfACore(t *testing.T) {
	const waits = 100
	for _, c := range []struct {
		enter, away int64 // the late thread's, and the part of it without a core
		want        analysis.Uneven
	}{{100, 0, analysis.Late}, {100, 40, analysis.Late}, {100, 90, analysis.Coreless}, {60, 15, analysis.Late}, {60, 55, analysis.Coreless}, {40, 40, 0}} {
		p := lateFor(event.Loop, profile.Waits{}, profile.Waits{})
		first, second := &p.Nodes[1].Stats[0], &p.Nodes[1].Stats[1]
		first.Body.T, first.Barrier = 900, profile.Sum{T: waits, C: 1}
		second.Enter, second.Body.T = profile.Sum{T: c.enter, C: 1}, 1000-c.enter
		second.NoCore = &profile.Cost{Exec: c.away, Enter: c.away}
		if got := analysis.WhyUneven(p)[0].Why(); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

// At the end of a team the others wait for its primary thread. That thread had no core, or it took
// long for another reason.
func TestWhyEnds(t *testing.T) {
	for _, c := range []struct {
		what          string
		construct     event.Construct
		primary, away int64 // the end for the primary thread, and its part without a core
		want          analysis.Uneven
		took          int64
	}{
		{"no core", event.Parallel, 100, 60, analysis.Coreless, 140},
		{"a core", event.ParallelLoop, 100, 40, 0, 160},
		{"no end", event.Parallel, 0, 0, 0, 100},
		{"no region", event.Loop, 100, 60, 0, 0},
	} {
		p := &profile.Profile{
			Threads: []profile.Thread{{}, {Num: 1}}, Regions: []profile.Region{{Construct: c.construct}},
			Nodes: []profile.Node{{Parent: -1, Region: -1}, {Region: 0, Stats: []profile.ThreadStats{
				{Exec: profile.Sum{T: 1000, C: 1}, Exit: profile.Sum{T: c.primary, C: 1}, NoCore: &profile.Cost{Exec: c.away, Exit: c.away}},
				{Thread: 1, Exec: profile.Sum{T: 1000, C: 1}, Exit: profile.Sum{T: 100, C: 1}},
			}}},
		}
		if got := analysis.WhyEnds(p)[0]; got.Why() != c.want || got[c.want] != c.took {
			t.Errorf("%s: %v", c.what, got)
		}
	}
}
