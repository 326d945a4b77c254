package analysis

import (
	"math"

	"ompp-attach/profile"
)

// Where probes took much of the time, the probes may have made a finding, and times are rough.

// muchCost is the share of a time above which reports say that probes took it.
const muchCost = 0.1

// ProbeShare says which part of a time probes took. Times are in ns.
type ProbeShare struct {
	Region int // index in Profile.Regions; -1: the program
	Cost   int64
	Time   int64 // as measured
}

// Share returns the part, 0 to 1.
func (s ProbeShare) Share() float64 { return min(1, Ratio(s.Cost, s.Time)) }

// CostShare returns the part of the threads' time that probes took. The time is the threads' wall
// time. If the process used less processor time, because threads were idle, that time is used
// instead.
func CostShare(p *profile.Profile) ProbeShare {
	s := ProbeShare{Region: -1, Cost: ProbeCost(p), Time: measuredTime(p)}
	if cpu := p.Meta.UserTime + p.Meta.SysTime; cpu > 0 && cpu < s.Time {
		s.Time = cpu
	}
	return s
}

// measuredTime returns the threads' time as measured, with the time that probes took (ns).
func measuredTime(p *profile.Profile) int64 {
	measured := *p
	measured.Meta.Duration += p.Meta.TakenOut
	return ThreadTime(&measured)
}

// MuchProbed returns the program, if probes took more than a tenth of its time. It adds the regions
// in which probes took more than a tenth of the own time, the highest cost first. The own time is
// without the time without a core. Regions in which probes took next to nothing of the whole are
// left out.
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

// ProbeCost returns the time that probes took of all threads, in ns. It uses the calibrated cost of
// hits, or the samples if these say clearly more; but no more than the process's processor time
// allows.
func ProbeCost(p *profile.Profile) int64 {
	if p.Meta.Overhead == nil {
		return 0
	}
	return int64(math.Round(costScale(p) * float64(p.Meta.Overhead.Total())))
}

// CostLowered tells whether the process had too little processor time for the calibrated cost of
// hits. ProbeCost is an estimate then.
func CostLowered(p *profile.Profile) bool {
	o := p.Meta.Overhead
	return o != nil && ProbeCost(p) < o.Total()
}

// costScale returns how many times the calibrated cost a hit took. It is below 1 only where the
// process had too little processor time for the calibrated cost: other load may have made hits
// dearer for the calibration than they were for the process. Neither do samples say more than
// there was time for.
func costScale(p *profile.Profile) float64 {
	scale := sampledScale(p)
	if o := p.Meta.Overhead; o != nil && o.AtMost > 0 {
		scale = min(scale, o.AtMost)
	}
	return scale
}

// sampledScale is costScale by samples. Threads that run into the same probes at one time hold each
// other up, and the rest of the program displaces the probes' code from the caches. Samples of
// processor time that lie in probes tell the factor, if there are enough of them. The factor is
// never below 1, because some samples are lost.
func sampledScale(p *profile.Profile) float64 {
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

// scaleCost returns a cost with each part multiplied by a factor. Wait was found without the
// factor. It stays as it is if hits took more, and shrinks if they took less: what threads waited
// for were the hits of others.
func scaleCost(c *profile.Cost, by float64) *profile.Cost {
	if c == nil || by == 1 {
		return c
	}
	out := *c
	out.Exec -= c.Wait
	out.Barrier -= c.Wait
	parts := out.Parts()
	for _, part := range append(parts[:], &out.Child, &out.Task) {
		*part = int64(math.Round(by * float64(*part)))
	}
	out.Wait = int64(math.Round(min(1, by) * float64(c.Wait)))
	out.Exec += out.Wait
	out.Barrier += out.Wait
	return &out
}

// probed is the time that probes took where a region's findings come from: in the parallel regions
// around its executions, with all regions inside them. Times are in ns.
type probed struct {
	cost, time int64
	threads    int
}

// probedAround returns the probed time for each region.
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
			// The time of workers lies in parallel regions.
			if at[1] == 0 && p.Threads[s.Thread].Num != 0 {
				continue
			}
			threads++
			if s.Cost != nil {
				o.cost += s.Cost.Exec - s.Cost.Wait
			}
			o.time += s.Exec.T + s.TakenOut
			if s.NoCore != nil { // the program did not run in that time
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

// mayBeProbes tells whether probes may have made a finding of so many ns. Two conditions must hold.
// Probes took more than a tenth of the time around. And if every other thread had waited for all of
// that cost, this waiting would be half of the finding or more.
func (o *probed) mayBeProbes(ns int64) bool {
	return Ratio(o.cost, o.time) > muchCost && 2*o.cost*int64(max(1, o.threads-1)) >= ns
}

// Findings are properties, by what is known of them.
type Findings struct {
	Hold  []Property
	Probe []Property // left out: probes may have made them (all that HiddenByProbes hides, too)
	Task  []Property // left out: they may be tasks that were not observed (TasksAway)
}

// divide separates the properties that hold from those that are left out.
func divide(p *profile.Profile, all []Property, whole int64) (f Findings) {
	around, hidden := probedAround(p), HiddenByProbes(p) != nil
	_, away := tasksAway(p)
	for _, x := range all {
		switch {
		case x.Name != WaitForCore && (hidden || around[x.Region].mayBeProbes(int64(x.Severity*float64(whole)))):
			f.Probe = append(f.Probe, x)
		case away[x.Region] && mayBeTasks(x.Name):
			f.Task = append(f.Task, x)
		default:
			f.Hold = append(f.Hold, x)
		}
	}
	return f
}
