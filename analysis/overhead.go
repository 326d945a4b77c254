package analysis

import (
	"cmp"
	"slices"

	"ompp-attach/attribution"
	"ompp-attach/event"
)

// Classes are ompP's overhead classes (Fürlinger and Moore, OpenMP-centric
// Performance Analysis of Hybrid Applications, II.B), in nanoseconds summed
// over threads.
type Classes struct {
	Synch  int64 // threads coordinating: barriers, waiting for locks and critical sections
	Imbal  int64 // waiting for threads that had more work
	Limpar int64 // waiting because there was work for some threads only
	Mgmt   int64 // the runtime's own work: teams, leaving locks and critical sections
}

// Sum is the whole overhead.
func (c Classes) Sum() int64 { return c.Synch + c.Imbal + c.Limpar + c.Mgmt }

// Add adds d to c.
func (c *Classes) Add(d Classes) {
	c.Synch += d.Synch
	c.Imbal += d.Imbal
	c.Limpar += d.Limpar
	c.Mgmt += d.Mgmt
}

// Classify says to which classes the times of a node belong, for each entry
// of its Stats. Constructs that ompP lacks follow the nearest one it has: ORDERED
// as CRITICAL, NEST LOCK as LOCK, TEAMS and UNDER WAY as PARALLEL, SCOPE as LOOP;
// a REDUCTION's wait and a cancellation are coordination, moving data to and
// from devices is the runtime's work. Of tasks ompP classifies only that their
// time is taken off the wait in which they ran; here idle waiting in TASKWAIT
// and TASKGROUP is Synch too, and creating tasks is Mgmt.
func Classify(p *attribution.Profile, node int) []Classes {
	n := &p.Nodes[node]
	out := make([]Classes, len(n.Stats))
	if n.Region < 0 {
		return out
	}
	construct := p.Regions[n.Region].Construct
	// Fewer section executions than threads that came: there was not enough
	// to go round, so the wait is not imbalance but limited parallelism.
	sum := Sum(n)
	scarce := sum.Body.C < sum.Exec.C
	for i, s := range n.Stats {
		c := &out[i]
		// Executing tasks is no idleness, wherever a thread does it.
		barrier := s.Barrier.T - s.Task
		switch construct {
		case event.Atomic, event.Flush, event.Cancel, event.CancellationPoint:
			c.Synch = s.Exec.T
		case event.Barrier:
			c.Synch = s.Exec.T - s.Task
		case event.Critical, event.Ordered, event.Lock, event.NestLock, event.Reduction:
			c.Synch, c.Mgmt = s.Enter.T, s.Exit.T
		case event.TargetData, event.TargetEnterData, event.TargetExitData, event.TargetUpdate:
			c.Mgmt = s.Enter.T + s.Exit.T
		case event.Loop, event.Workshare, event.Scope:
			c.Imbal = barrier
		case event.Parallel, event.ParallelLoop, event.ParallelWorkshare, event.Teams, event.Unknown:
			c.Imbal, c.Mgmt = barrier, s.Enter.T+s.Exit.T
		case event.Sections, event.ParallelSections:
			if scarce {
				c.Limpar = barrier
			} else {
				c.Imbal = barrier
			}
			c.Mgmt = s.Exec.T - s.Body.T - s.Barrier.T
			if construct == event.ParallelSections {
				c.Mgmt = s.Enter.T + s.Exit.T
			}
		case event.Single:
			c.Limpar = barrier
		case event.TaskWait, event.TaskGroup, event.TaskYield:
			c.Synch = s.Barrier.T
		case event.Task, event.UntiedTask, event.TaskLoop:
			c.Mgmt = s.Exec.T - s.Child
		}
	}
	return out
}

// RegionOverhead is the overhead of one parallel region, with everything in
// it that no nested parallel region encloses.
type RegionOverhead struct {
	Region int
	// Wall is the time of the threads that started the region, which in a
	// program with one initial thread and no nesting is wall-clock time.
	Wall int64
	// Total is the time of all its threads. ompP prints wall time times team
	// size; the sum over threads is the same while the team keeps its size,
	// and stays right when it does not.
	Total int64
	Classes
}

// Overheads returns one entry per parallel region in the order of
// Profile.Regions. Overhead outside any parallel region is not in it (see
// Outside).
func Overheads(p *attribution.Profile) []RegionOverhead {
	t := newTree(p)
	at := map[int]int{}
	var out []RegionOverhead
	for r, b := range Flat(p) {
		if !p.Regions[r].Construct.IsParallel() {
			continue
		}
		o := RegionOverhead{Region: r, Total: b.Sum.Exec.T}
		for _, row := range b.Rows {
			if p.Threads[row.Thread].Num == 0 {
				o.Wall += row.Exec.T
			}
		}
		at[r] = len(out)
		out = append(out, o)
	}
	for i := 1; i < len(p.Nodes); i++ {
		if team := t.team[i]; team >= 0 {
			o := &out[at[p.Nodes[team].Region]]
			for _, c := range Classify(p, i) {
				o.Classes.Add(c)
			}
		}
	}
	return out
}

// Outside returns the overhead that lies in no parallel region: locks and
// critical sections that serial code takes.
func Outside(p *attribution.Profile) Classes {
	t := newTree(p)
	var sum Classes
	for i := 1; i < len(p.Nodes); i++ {
		if t.team[i] < 0 {
			for _, c := range Classify(p, i) {
				sum.Add(c)
			}
		}
	}
	return sum
}

// SortByWall orders regions by wall-clock time, greatest first.
func SortByWall(o []RegionOverhead) {
	slices.SortStableFunc(o, func(a, b RegionOverhead) int { return cmp.Compare(b.Wall, a.Wall) })
}

// SortByOverhead orders regions by overhead, greatest first.
func SortByOverhead(o []RegionOverhead) {
	slices.SortStableFunc(o, func(a, b RegionOverhead) int { return cmp.Compare(b.Sum(), a.Sum()) })
}

// Coverage says how much of the run was parallel.
type Coverage struct {
	Regions int   // number of parallel regions
	Wall    int64 // time of the initial threads in outermost parallel regions
	Of      int64 // what that is a part of: duration times initial threads
}

// Share is the covered part, 0 to 1.
func (c Coverage) Share() float64 { return Ratio(c.Wall, c.Of) }

// ParallelCoverage measures how much of the initial threads' time lies in
// parallel regions. Nested regions count once.
func ParallelCoverage(p *attribution.Profile) Coverage {
	t := newTree(p)
	c := Coverage{Of: p.Meta.Duration * int64(Roots(p))}
	for _, r := range p.Regions {
		if r.Construct.IsParallel() {
			c.Regions++
		}
	}
	for i := 1; i < len(p.Nodes); i++ {
		if t.team[i] != i || t.team[p.Nodes[i].Parent] >= 0 {
			continue
		}
		for _, s := range p.Nodes[i].Stats {
			if p.Threads[s.Thread].Num == 0 {
				c.Wall += s.Exec.T
			}
		}
	}
	return c
}

// Ratio is part/whole, and 0 of nothing.
func Ratio(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}
