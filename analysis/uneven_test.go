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
		{"late threads of sections", event.ParallelSections, late, []int64{2e8, 2e8, 2e8, 2e8}, 0, 0, 0},
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
		if got := analysis.WhyUneven(p)[0]; got != c.want {
			t.Errorf("%s: %d, want %d", c.what, got, c.want)
		}
	}
}
