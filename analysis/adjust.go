package analysis

import (
	"math"
	"slices"

	"ompp-attach/profile"
)

// Adjust returns a profile without the time that the measurement's own probes took, as far as that
// time is known. It is a pure function of the recorded profile. Waiting for a thread that probes
// had slowed down stays in the times, because it cannot be attributed; the final barriers of
// parallel regions are the exception. No time becomes negative, nor less than the part without a
// core: probes took time of threads that had one. The costs stay in the profile, as the times that
// were taken out.
func Adjust(p *profile.Profile) *profile.Profile {
	if p.Meta.Adjusted || !hasCosts(p) {
		return p
	}
	a := *p
	a.Meta.Adjusted = true
	a.Nodes = slices.Clone(p.Nodes)
	for i := range a.Nodes {
		a.Nodes[i].Stats = slices.Clone(a.Nodes[i].Stats)
	}
	scale := costScale(p)
	for i := range a.Nodes {
		for j := range a.Nodes[i].Stats {
			s := &a.Nodes[i].Stats[j]
			s.Cost = scaleCost(s.Cost, scale)
			s.MPI, s.Calls = adjustCalls(s.MPI, scale), adjustCalls(s.Calls, scale)
			adjust(s)
		}
	}
	adjustWaits(&a, p)
	for i := range a.Nodes {
		if r := a.Nodes[i].Region; r >= 0 && a.Regions[r].Construct.IsParallel() {
			endTogether(a.Threads, a.Nodes[i].Stats)
		}
	}
	a.Meta.Duration = adjustedDuration(&a)
	a.Meta.TakenOut = p.Meta.Duration - a.Meta.Duration
	return &a
}

func hasCosts(p *profile.Profile) bool {
	for i := range p.Nodes {
		if slices.ContainsFunc(p.Nodes[i].Stats, func(s profile.ThreadStats) bool { return s.Cost != nil }) {
			return true
		}
	}
	return false
}

// adjust takes the cost out of a thread's times at a node.
func adjust(s *profile.ThreadStats) {
	c, measured, away := s.Cost, s.Exec.T, s.NoCore
	if c == nil {
		return
	}
	if away == nil {
		away = &profile.Cost{}
	}
	// The whole includes the phases, so it is never made smaller than their sum.
	parts, costs, waits := s.Parts(), c.Parts(), away.Parts()
	phases, other := int64(0), c.Exec
	for p := profile.Enter; p < profile.NumParts; p++ {
		part, cost := parts[p], *costs[p]
		cut := within(cost, part.T-max(0, *waits[p]))
		part.T -= cut
		if s.Exec.T != 0 { // the root has no time
			s.Exec.T = max(0, s.Exec.T-cut)
		}
		phases += part.T
		other -= cost
	}
	if c.Enter == 0 { // the Enter of a task is not part of the whole, and has no cost
		phases -= s.Enter.T
	}
	s.Exec.T -= within(other, s.Exec.T-max(phases, away.Exec))
	s.TakenOut = measured - s.Exec.T
	s.Child = min(s.Child-within(c.Child, s.Child-max(0, away.Child)), s.Exec.T)
	s.Task -= within(c.Task, s.Task-max(0, away.Task))
}

// endTogether lets the workers of a team be in it for as long as its primary thread, if they were
// so as measured. Where probes took more of a worker, the worker waits for longer in the final
// barrier. Otherwise it would seem to be in no team meanwhile.
func endTogether(threads []profile.Thread, stats []profile.ThreadStats) {
	for i := range stats {
		primary := &stats[i]
		if threads[primary.Thread].Num != 0 {
			continue
		}
		for j := range stats {
			s := &stats[j]
			t, d := &threads[s.Thread], primary.Exec.T-s.Exec.T
			if t.Num > 0 && t.Root == threads[primary.Thread].Root && d > 0 && s.TakenOut-d == primary.TakenOut {
				s.Exec.T, s.Barrier.T, s.TakenOut = s.Exec.T+d, s.Barrier.T+d, s.TakenOut-d
			}
		}
	}
}

// within returns the part of a cost that fits into a time.
func within(cost, t int64) int64 { return max(0, min(cost, t)) }

func adjustCalls(m *profile.MPIStats, scale float64) *profile.MPIStats {
	if m == nil || m.Cost == 0 {
		return m
	}
	a := *m
	a.Cost = int64(math.Round(scale * float64(m.Cost)))
	a.T -= within(a.Cost, m.T-m.NoCore)
	a.Wait = min(a.Wait, a.T)
	return &a
}

// adjustedDuration returns the wall time without the time that probes took of the first thread.
// That thread's time is the program's time, except where the thread waited for others.
func adjustedDuration(a *profile.Profile) int64 {
	d := a.Meta.Duration
	for i := range a.Nodes[0].Stats {
		s := &a.Nodes[0].Stats[i]
		if t := a.Threads[s.Thread]; t.Root == 0 && t.Num == 0 && s.Cost != nil {
			d -= within(s.Cost.Exec, d)
		}
	}
	// The duration is not less than the time that any thread spent in regions, and the first thread
	// in them or elsewhere without a core.
	in := make([]int64, len(a.Threads))
	var first int
	var away int64
	for i := range a.Nodes[0].Stats {
		s := &a.Nodes[0].Stats[i]
		if t := a.Threads[s.Thread]; t.Root == 0 && t.Num == 0 && s.NoCore != nil {
			first, away = s.Thread, s.NoCore.Exec
		}
	}
	for i := 1; i < len(a.Nodes); i++ {
		if a.Nodes[i].Parent == 0 {
			for j := range a.Nodes[i].Stats {
				s := &a.Nodes[i].Stats[j]
				in[s.Thread] += s.Exec.T
				if s.Thread == first && s.NoCore != nil {
					away -= s.NoCore.Exec
				}
				if t := a.Threads[s.Thread]; t.Root == 0 && t.Num == 0 && s.Cost != nil {
					d -= within(s.Cost.Wait, d)
				}
			}
		}
	}
	if away > 0 {
		in[first] += away
	}
	return min(a.Meta.Duration, max(d, slices.Max(append(in, 0))))
}

// OwnCost is the time that probes took of a region's own time, without the regions inside it. Times
// are in ns, summed over threads.
type OwnCost struct {
	Region int // index in Profile.Regions
	Cost   int64
	Time   int64 // the region's own time as measured
	NoCore int64 // the part of Time without a core
}

// OwnCosts returns the regions in which probes took time, the highest cost first.
func OwnCosts(p *profile.Profile) (out []OwnCost) {
	all := make([]OwnCost, len(p.Regions))
	for r := range all {
		all[r].Region = r
	}
	for i := 1; i < len(p.Nodes); i++ {
		o := &all[p.Nodes[i].Region]
		for j := range p.Nodes[i].Stats {
			s := &p.Nodes[i].Stats[j]
			o.Time += s.Exec.T - s.Child
			if s.NoCore != nil {
				o.NoCore += s.NoCore.Exec - s.NoCore.Child
			}
			if s.Cost != nil {
				own := s.Cost.Exec - s.Cost.Child
				o.Cost += own - s.Cost.Wait
				if p.Meta.Adjusted {
					o.Time += own
				}
			}
		}
	}
	all = slices.DeleteFunc(all, func(o OwnCost) bool { return o.Cost <= 0 })
	slices.SortStableFunc(all, func(a, b OwnCost) int { return int(min(1, max(-1, b.Cost-a.Cost))) })
	return all
}
