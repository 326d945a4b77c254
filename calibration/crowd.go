package calibration

import (
	"fmt"
	"runtime"
	"slices"
)

// Before Linux 6.14 threads that hit probes at once wait for each other in the kernel. A hit of 64
// threads takes some 8 us (kernel commits e0925f2dc4de, cd7bdd9d46a9). So the costs of one thread
// are compared with those of as many threads as there are processors. Their hits write no record:
// rings are the tool's own matter, and each thread of a measured program has one to itself.

const (
	crowdRounds = 5
	crowdTime   = 300_000.0 // ns, of one thread's turn alone
	leastCrowd  = 50        // hits of one thread in a turn
	fullCrowd   = 500       // likewise, at most
	mostCrowd   = 128       // threads; so many commands fit into one write to a pipe
)

// Crowd is what a hit takes longer while many threads hit probes.
type Crowd struct {
	// As many as there are processors, at most 128; 0: one processor.
	Threads int     `json:"threads"`
	Alone   float64 `json:"alone"` // an emulated hit without a record, of one thread, ns
	Each    float64 `json:"each"`  // the same of each of the threads, ns
}

// noise is the share by which the costs of two turns differ on a busy machine, or by the
// processors' caches.
const noise = 0.25

// Times is how many times as long a hit takes: 1 if it takes no longer, as far as can be told. On a
// busy machine not all of the threads run at once, and then it is less.
func (c *Crowd) Times() float64 {
	if c.Threads == 0 || c.Each < (1+noise)*c.Alone {
		return 1
	}
	return c.Each / c.Alone
}

// takeCrowd measures hits of many threads at once. It starts these, so nothing can be measured
// afterwards.
func (r *run) takeCrowd() (c Crowd, err error) {
	c = Crowd{Threads: min(runtime.NumCPU(), mostCrowd)}
	if c.Threads < 2 {
		return Crowd{}, nil
	}
	f := r.program.address(ignored)
	n := callsIn(crowdTime, median(r.ns[ignored]), leastCrowd, fullCrowd)
	var alone, each []float64
	for range crowdRounds {
		a, err := r.target.obey(command{f, n, 0})
		if err != nil {
			return c, err
		}
		alone = append(alone, float64(a[0].cpu)/float64(n))
	}
	if _, err := r.target.obey(command{r.program.spawnAddress(), c.Threads - 1, 0}); err != nil {
		return c, err
	}
	for range crowdRounds {
		took, err := r.target.together(f, n, c.Threads)
		if err != nil {
			return c, err
		}
		for _, ns := range took {
			each = append(each, float64(ns)/float64(n))
		}
	}
	if c.Alone, c.Each = median(alone), median(each); c.Alone <= 0 {
		return c, fmt.Errorf("%d hits took no time", n)
	}
	return c, nil
}

// together makes each of the program's threads call a function n times. It returns the processor
// time of each (ns).
func (t *target) together(function uint64, n, threads int) (cpu []int64, err error) {
	answers, err := t.obey(slices.Repeat([]command{{function, n, 0}}, threads)...)
	for _, a := range answers {
		cpu = append(cpu, a.cpu)
	}
	return cpu, err
}
