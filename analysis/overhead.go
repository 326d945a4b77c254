package analysis

import (
	"cmp"
	"slices"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// Classes are ompP's overhead classes (Fürlinger and Moore, OpenMP-centric
// Performance Analysis of Hybrid Applications, II.B), in nanoseconds summed
// over threads.
type Classes struct {
	Synch  int64 // threads coordinating: barriers, waiting for locks and critical sections
	Imbal  int64 // waiting for threads that had more work
	Limpar int64 // waiting because there was work for some threads only
	Mgmt   int64 // the runtime's own work: teams, leaving locks and critical sections
	MPI    int64 // in MPI calls
	NoCore int64 // ready to run, without a core
}

// Sum returns the whole overhead, in ns.
func (c Classes) Sum() int64 { return c.Synch + c.Imbal + c.Limpar + c.Mgmt + c.MPI + c.NoCore }

// lost is the time in which threads waited for each other, or coordinated, in ns.
func (c Classes) lost() int64 { return c.Synch + c.Imbal + c.Limpar }

// Add adds d to c.
func (c *Classes) Add(d Classes) {
	c.Synch += d.Synch
	c.Imbal += d.Imbal
	c.Limpar += d.Limpar
	c.Mgmt += d.Mgmt
	c.MPI += d.MPI
	c.NoCore += d.NoCore
}

// Rules say how times are assigned to the overhead classes.
type Rules uint8

const (
	// Disjoint puts no time into two classes. Within the overhead of a construct, MPI calls are
	// class MPI only, and time without a core is class NoCore only. So the sum of the classes
	// never exceeds the total.
	Disjoint Rules = iota
	// Classic are ompP's own rules. MPI calls, and time without a core, are also counted in the
	// class of the time that they lie in. Of tasks, only those executed in a wait are
	// classified.
	Classic
)

// Classify returns the overhead classes of a node by the rules Disjoint.
func Classify(p *profile.Profile, node int) []Classes { return Disjoint.Classify(p, node) }

// Classify says to which classes the times of a node belong, for each entry of its Stats.
// Constructs that ompP lacks follow the most similar construct of ompP: ORDERED is like CRITICAL,
// NEST LOCK like LOCK, TEAMS and UNDER WAY like PARALLEL, SCOPE like LOOP. The wait of a REDUCTION
// and a cancellation are coordination. Moving data to and from devices is the runtime's work. ompP
// only takes the time of tasks off the wait in which they ran. Here, idle waiting in TASKWAIT and
// TASKGROUP is Synch, too, and creating tasks is Mgmt.
//
// MPI time stands where the calls are: at the calls' own regions or, if these have been taken out,
// at the regions that called. Other MPI time can only lie in these times:
//
//   - A wait that executes tasks. The field Task is all of their time, MPI or not, and is no
//     overhead. Tasks that are not measured show by their calls (Wait).
//   - A time that counts whole (ATOMIC, FLUSH, cancellation): all calls in it.
//   - The creation of a task, without what lies in it (Child).
//
// Getting into a critical or lock, leaving it, and starting and ending a team are times within the
// runtime, in which nobody calls MPI. Bodies are no overhead, except their time without a core:
// that is class NoCore wherever it lies (see withCore).
func (r Rules) Classify(p *profile.Profile, node int) []Classes {
	n := &p.Nodes[node]
	out := make([]Classes, len(n.Stats))
	construct := event.NoConstruct // the program
	if n.Region >= 0 {
		construct = p.Regions[n.Region].Construct
	}
	overhead := construct.Form().Overhead
	team := teamOf(p, node)
	scarce := scarceSections(p, node)
	for i := range n.Stats {
		s, c := &n.Stats[i], &out[i]
		if r == Disjoint {
			bare := withCore(construct, s)
			c.NoCore = (s.Exec.T - s.Child) - (bare.Exec.T - bare.Child)
			s = &bare
		}
		c.MPI = OwnCalls(construct, s).T
		r.classify(overhead, s, scarce, c)
		if r == Disjoint && aloneIn(p, team, s.Thread) {
			c.notWaiting(construct)
		}
	}
	return out
}

// scarceSections tells whether there were fewer executions of sections than threads: there was not
// enough work for all. Then the wait is limited parallelism, not imbalance. GCC may join a parallel
// region and the sections in it to one call, and leave the sections their end. Then the parallel
// region has the sections.
func scarceSections(p *profile.Profile, node int) bool {
	n := &p.Nodes[node]
	sum := Sum(n)
	if sum.Body.C == 0 && n.Parent > 0 && p.Regions[p.Nodes[n.Parent].Region].Construct == event.ParallelSections {
		sum = Sum(&p.Nodes[n.Parent])
	}
	return sum.Body.C < sum.Exec.C
}

// classify divides a thread's time at a node among the classes, by the overhead of the node's
// construct. scarce says that there were fewer sections than threads.
func (r Rules) classify(overhead event.Overhead, s *profile.ThreadStats, scarce bool, c *Classes) {
	inside, waiting := r.mpiIn(s)
	// A thread that executes tasks is not idle, wherever it does so. What lies in a time may
	// have lacked a core for less than the time itself, by some ns: then nothing is left.
	barrier := max(0, s.Barrier.T-s.Task-waiting)
	switch overhead {
	case event.WholeSynch:
		c.Synch = max(0, s.Exec.T-inside)
	case event.WaitSynch:
		c.Synch = max(0, s.Exec.T-s.Task-waiting)
	case event.GuardSynch:
		c.Synch, c.Mgmt = s.Enter.T, s.Exit.T
	case event.TransferMgmt:
		c.Mgmt = s.Enter.T + s.Exit.T
	case event.ShareImbal:
		c.Imbal = barrier
	case event.TeamImbal:
		c.Imbal, c.Mgmt = barrier, s.Enter.T+s.Exit.T
	case event.SectionsImbal, event.TeamSections:
		if scarce {
			c.Limpar = barrier
		} else {
			c.Imbal = barrier
		}
		c.Mgmt = s.Exec.T - s.Body.T - s.Barrier.T
		if overhead == event.TeamSections {
			c.Mgmt = s.Enter.T + s.Exit.T
		}
	case event.ShareLimpar:
		c.Limpar = barrier
	case event.TasksSynch:
		if r == Disjoint {
			c.Synch = max(0, s.Barrier.T-waiting)
		}
	case event.CreationMgmt:
		if r == Disjoint {
			c.Mgmt = max(0, s.Exec.T-s.Child-c.MPI)
		}
	}
}

// mpiIn returns the MPI time that is to be taken off a thread's time at a node (ns): off the whole
// time, and off the wait.
func (r Rules) mpiIn(s *profile.ThreadStats) (inside, waiting int64) {
	if r == Classic || s.MPI == nil {
		return 0, 0
	}
	return s.MPI.T, s.MPI.Wait
}

// OwnCalls returns the MPI calls at a node itself: the calls of a region of construct MPI, or the
// calls whose own regions have been taken out.
func OwnCalls(c event.Construct, s *profile.ThreadStats) profile.MPIStats {
	own := s.Calls
	if c == event.MPI {
		own = s.MPI
	}
	if own == nil {
		return profile.MPIStats{}
	}
	return *own
}

// RegionOverhead is the overhead of one parallel region, including all constructs in it that are
// not in a nested parallel region. Times are in ns.
type RegionOverhead struct {
	Region int
	// Wall is the time of the threads that started the region. In a program with one initial
	// thread and no nesting, this is wall-clock time.
	Wall int64
	// Total is the time of all its threads. ompP prints wall time times team size. The sum over
	// threads is the same if the team keeps its size, and is right also if it does not.
	Total int64
	Classes
}

// Overheads returns one entry per parallel region, in the order of Profile.Regions, by the rules
// Disjoint.
func Overheads(p *profile.Profile) []RegionOverhead { return Disjoint.Overheads(p) }

// Overheads returns one entry per parallel region, in the order of Profile.Regions. Overhead
// outside any parallel region is not included (see Outside).
func (r Rules) Overheads(p *profile.Profile) []RegionOverhead {
	t := newTree(p)
	at := map[int]int{}
	var out []RegionOverhead
	for region, b := range Flat(p) {
		if !p.Regions[region].Construct.IsParallel() {
			continue
		}
		o := RegionOverhead{Region: region, Total: b.Sum.Exec.T}
		for _, row := range b.Rows {
			if p.Threads[row.Thread].Num == 0 {
				o.Wall += row.Exec.T
			}
		}
		at[region] = len(out)
		out = append(out, o)
	}
	for i := 1; i < len(p.Nodes); i++ {
		if team := t.team[i]; team >= 0 {
			o := &out[at[p.Nodes[team].Region]]
			for _, c := range r.Classify(p, i) {
				o.Classes.Add(c)
			}
		}
	}
	return out
}

// Outside returns the overhead outside any parallel region by the rules Disjoint: that of locks and
// critical sections in serial code, and of its MPI calls.
func Outside(p *profile.Profile) Classes { return Disjoint.Outside(p) }

// Outside returns the overhead outside any parallel region.
func (r Rules) Outside(p *profile.Profile) Classes {
	t := newTree(p)
	var sum Classes
	for i := range p.Nodes {
		if t.team[i] < 0 {
			for _, c := range r.Classify(p, i) {
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

// Coverage says which part of the run was parallel. Times are in ns.
type Coverage struct {
	Regions int   // number of parallel regions
	Wall    int64 // time of the initial threads in outermost parallel regions
	Of      int64 // the time that Wall is a part of: the sum of the initial threads' lifetimes
}

// Share returns the covered part, 0 to 1.
func (c Coverage) Share() float64 { return Ratio(c.Wall, c.Of) }

// SawOpenMP reports whether a profile has any OpenMP construct. If none was seen, nobody knows
// which part of a process that was attached to was parallel.
func SawOpenMP(p *profile.Profile) bool {
	return slices.ContainsFunc(p.Regions, func(r profile.Region) bool {
		return r.Construct != event.NoConstruct && r.Construct != event.MPI && r.Construct != event.UserRegion
	})
}

// ParallelCoverage measures which part of the initial threads' time lies in parallel regions.
// Nested regions count once.
func ParallelCoverage(p *profile.Profile) Coverage {
	t := newTree(p)
	c := Coverage{Of: initialTime(p)}
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

// Ratio returns part/whole, and 0 if the whole is 0.
func Ratio(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}
