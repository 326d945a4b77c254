package analysis

import (
	"cmp"
	"slices"

	"ompp-attach/attribution"
	"ompp-attach/event"
)

// The performance properties, by ompP's names.
const (
	WaitAtBarrier                           = "WaitAtBarrier"
	ImbalanceInParallelRegion               = "ImbalanceInParallelRegion"
	ImbalanceInParallelLoop                 = "ImbalanceInParallelLoop"
	ImbalanceInParallelWorkshare            = "ImbalanceInParallelWorkshare"
	ImbalanceInParallelSections             = "ImbalanceInParallelSections"
	ImbalanceDueToNotEnoughSections         = "ImbalanceDueToNotEnoughSections"
	ImbalanceDueToUnevenSectionDistribution = "ImbalanceDueToUnevenSectionDistribution"
	CriticalSectionContention               = "CriticalSectionContention"
	LockContention                          = "LockContention"
	FrequentAtomic                          = "FrequentAtomic"
	InsufficientWorkInParallelLoop          = "InsufficientWorkInParallelLoop"
	UnparallelizedInMasterRegion            = "UnparallelizedInMasterRegion"
	UnparallelizedInSingleRegion            = "UnparallelizedInSingleRegion"
	// These ompP does not know: idle in a taskwait or at the end of a taskgroup;
	// MPI calls in a parallel region, outside of nested ones.
	WaitAtTaskwait          = "WaitAtTaskwait"
	MPITimeInParallelRegion = "MPITimeInParallelRegion"
)

// frequentAtomic is the rate, in executions per thread and second, above which
// ompP calls an atomic frequent.
const frequentAtomic = 1000

// Property is a performance property that holds for a region.
type Property struct {
	Name     string
	Region   int
	Severity float64 // share of all thread time (see ThreadTime) that is lost to it, 0 to 1
}

// Properties returns the properties that hold, by the rules that put no time
// into two.
func Properties(p *attribution.Profile) []Property { return Disjoint.Properties(p) }

// Properties returns the properties that hold, the most severe first. One
// whose time is zero does not hold. The properties are those of ompP over the
// flat profile; InsufficientWorkInParallelLoop, which ompP names but never
// reports, holds here when starting and ending a parallel loop's team took
// more time than its body, and that time is its severity.
func (r Rules) Properties(p *attribution.Profile) []Property {
	all := ThreadTime(p)
	var out []Property
	holds := func(name string, region int, t int64) {
		if severity := Ratio(t, all); severity > 0 {
			out = append(out, Property{name, region, severity})
		}
	}
	if r == Disjoint {
		for _, o := range r.Overheads(p) {
			holds(MPITimeInParallelRegion, o.Region, o.MPI)
		}
	}
	for region, b := range Flat(p) {
		construct, s := p.Regions[region].Construct, &b.Sum
		inside, waiting := r.mpiIn(&s.ThreadStats)
		barrier := s.Barrier.T - s.Task - waiting // executing tasks is no idleness
		switch construct {
		case event.Barrier:
			holds(WaitAtBarrier, region, s.Exec.T-s.Task-waiting)
		case event.Parallel, event.Teams, event.Unknown:
			holds(ImbalanceInParallelRegion, region, barrier)
		case event.Loop, event.ParallelLoop:
			holds(ImbalanceInParallelLoop, region, barrier)
			if around := s.Enter.T + s.Exit.T; construct == event.ParallelLoop && around > s.Body.T {
				holds(InsufficientWorkInParallelLoop, region, around)
			}
		case event.Workshare, event.ParallelWorkshare:
			holds(ImbalanceInParallelWorkshare, region, barrier)
		case event.Sections, event.ParallelSections:
			holds(sectionsProperty(&b), region, barrier)
		case event.Critical, event.Ordered:
			holds(CriticalSectionContention, region, s.Enter.T)
		case event.Lock, event.NestLock:
			holds(LockContention, region, s.Enter.T)
		case event.Atomic:
			if float64(s.Exec.C) > frequentAtomic*float64(all)/1e9 {
				holds(FrequentAtomic, region, s.Exec.T-inside)
			}
		case event.Single:
			holds(UnparallelizedInSingleRegion, region, barrier)
		case event.Master, event.Masked:
			holds(UnparallelizedInMasterRegion, region, s.Exec.T)
		case event.TaskWait, event.TaskGroup:
			if r == Disjoint {
				holds(WaitAtTaskwait, region, s.Barrier.T-waiting)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Property) int { return cmp.Compare(b.Severity, a.Severity) })
	return out
}

// sectionsProperty tells why threads waited at the end of sections: there
// were fewer than threads, or some thread got more of them than another, or
// neither, and the sections themselves differ.
func sectionsProperty(b *Block) string {
	least, most := ^uint64(0), uint64(0)
	for _, row := range b.Rows {
		least, most = min(least, row.Body.C), max(most, row.Body.C)
	}
	switch {
	case most > least && b.Sum.Body.C > b.Sum.Exec.C:
		return ImbalanceDueToUnevenSectionDistribution
	case most > least && b.Sum.Body.C < b.Sum.Exec.C:
		return ImbalanceDueToNotEnoughSections
	}
	return ImbalanceInParallelSections
}
