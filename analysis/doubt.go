package analysis

import (
	"math"

	"ompp-attach/profile"
)

// Where probes took much of the time, what seems to be a finding may be the probes'
// work, and times are rough.

// muchCost is the share of a time from which on it is said that probes took it.
const muchCost = 0.1

// ProbeShare says what part of a time probes took.
type ProbeShare struct {
	Region int // index in Profile.Regions; -1: the program
	Cost   int64
	Time   int64 // as measured
}

// Share is the part, 0 to 1.
func (s ProbeShare) Share() float64 { return min(1, Ratio(s.Cost, s.Time)) }

// CostShare is what part of the threads' time probes took: of their wall time, or of
// the processor time of the process if that tells more, because threads were idle.
func CostShare(p *profile.Profile) ProbeShare {
	s := ProbeShare{Region: -1, Cost: ProbeCost(p), Time: measuredTime(p)}
	if cpu := p.Meta.UserTime + p.Meta.SysTime; cpu > 0 && cpu < s.Time {
		s.Time = cpu
	}
	return s
}

// measuredTime is the threads' time with what the probes took.
func measuredTime(p *profile.Profile) int64 {
	measured := *p
	measured.Meta.Duration += p.Meta.TakenOut
	return ThreadTime(&measured)
}

// MuchProbed returns the program, if probes took more than a tenth of its time, and
// the regions of which they took more than a tenth of the own time, that without a
// core left out, the dearest first; but for those in which they took next to nothing of the whole.
func MuchProbed(p *profile.Profile) (out []ProbeShare) {
	whole := measuredTime(p)
	const little = 0.001 // of the whole
	if s := CostShare(p); s.Share() > muchCost && Ratio(s.Cost, whole) >= little {
		out = append(out, s)
	}
	for _, c := range OwnCosts(p) {
		if s := (ProbeShare{c.Region, c.Cost, c.Time - within(c.NoCore, c.Time-c.Cost)}); s.Share() > muchCost && Ratio(c.Cost, whole) >= little {
			out = append(out, s)
		}
	}
	return out
}

// ProbeCost is what the probes took of all threads, ns: hits by their calibrated
// cost, or what samples say if that is clearly more.
func ProbeCost(p *profile.Profile) int64 {
	if p.Meta.Overhead == nil {
		return 0
	}
	return int64(math.Round(costScale(p) * float64(p.Meta.Overhead.Total())))
}

// costScale is how much more a hit took than the calibration says: threads that run
// into the same probes at one time hold each other up, and the rest of the program
// keeps them out of the caches. Samples of processor time that hit a probe tell, if
// there are enough of them. Less than 1 it is not: some samples are lost.
func costScale(p *profile.Profile) float64 {
	s, o := p.Meta.Sampling, p.Meta.Overhead
	if s == nil || s.Unit != "ns" || o == nil || o.Total() == 0 {
		return 1
	}
	var count, weight float64
	for i := range p.Samples {
		if x := &p.Samples[i]; x.Phase == profile.PhaseProbe {
			count += float64(x.Count)
			weight += float64(x.Weight)
		}
	}
	const enough, clearly = 100, 1.1
	scale := weight / float64(o.Total())
	if count < enough || scale*(1-2/math.Sqrt(count)) < clearly {
		return 1
	}
	return scale
}

// scaleCost returns a cost with each part so many times as large, but for waiting,
// which was not scaled when it was found.
func scaleCost(c *profile.Cost, by float64) *profile.Cost {
	if c == nil || by == 1 {
		return c
	}
	of := func(ns int64) int64 { return int64(math.Round(by * float64(ns))) }
	return &profile.Cost{Exec: of(c.Exec-c.Wait) + c.Wait, Enter: of(c.Enter), Body: of(c.Body), Barrier: of(c.Barrier-c.Wait) + c.Wait,
		Exit: of(c.Exit), Child: of(c.Child), Task: of(c.Task), Wait: c.Wait}
}

// probed is what probes took, with all regions inside, where a region's findings
// come from: in the parallel regions around its executions.
type probed struct {
	cost, time int64
	threads    int
}

// probedAround returns that of each region.
func probedAround(p *profile.Profile) []probed {
	t := newTree(p)
	out, counted := make([]probed, len(p.Regions)), map[[2]int]bool{}
	for i := 1; i < len(p.Nodes); i++ {
		at := [2]int{p.Nodes[i].Region, max(0, t.team[i])}
		if counted[at] {
			continue
		}
		counted[at] = true
		o, n, threads := &out[at[0]], &p.Nodes[at[1]], 0
		for j := range n.Stats {
			s := &n.Stats[j]
			if at[1] == 0 && p.Threads[s.Thread].Num != 0 { // workers are in parallel regions
				continue
			}
			threads++
			if s.Cost != nil {
				o.cost += s.Cost.Exec - s.Cost.Wait
			}
			o.time += s.Exec.T + s.TakenOut
			if s.NoCore != nil { // nobody's time
				o.time -= within(s.NoCore.Exec, s.Exec.T)
			}
		}
		o.threads = max(o.threads, threads)
		if at[1] == 0 {
			o.time += (p.Meta.Duration + p.Meta.TakenOut) * int64(Roots(p))
		}
	}
	return out
}

// mayBeProbes tells whether probes may have made a finding of so many ns: they took
// more than a tenth of the time around, and if each other thread had waited for all
// of that, the waiting would be half of the finding, or more.
func (o *probed) mayBeProbes(ns int64) bool {
	return Ratio(o.cost, o.time) > muchCost && 2*o.cost*int64(max(1, o.threads-1)) >= ns
}

// Findings are properties, by what is known of them.
type Findings struct {
	Hold  []Property
	Probe []Property // left out: probes may have made them
	Task  []Property // left out: they may be tasks that were not observed (TasksAway)
}

// divide parts the properties that hold from those that are left out.
func divide(p *profile.Profile, all []Property, whole int64) (f Findings) {
	around := probedAround(p)
	_, away := tasksAway(p)
	for _, x := range all {
		switch {
		case x.Name != WaitForCore && around[x.Region].mayBeProbes(int64(x.Severity*float64(whole))):
			f.Probe = append(f.Probe, x)
		case away[x.Region] && mayBeTasks(x.Name):
			f.Task = append(f.Task, x)
		default:
			f.Hold = append(f.Hold, x)
		}
	}
	return f
}
