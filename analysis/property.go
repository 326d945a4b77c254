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
	// This one ompP does not know: idle in a taskwait or at the end of a taskgroup.
	WaitAtTaskwait = "WaitAtTaskwait"
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

// Properties returns the properties that hold, the most severe first. One
// whose time is zero does not hold. The properties are those of ompP over the
// flat profile; InsufficientWorkInParallelLoop, which ompP names but never
// reports, holds here when starting and ending a parallel loop's team took
// more time than its body, and that time is its severity.
func Properties(p *attribution.Profile) []Property {
	all := ThreadTime(p)
	var out []Property
	holds := func(name string, region int, t int64) {
		if severity := Ratio(t, all); severity > 0 {
			out = append(out, Property{name, region, severity})
		}
	}
	for r, b := range Flat(p) {
		construct, s := p.Regions[r].Construct, &b.Sum
		barrier := s.Barrier.T - s.Task // executing tasks is no idleness
		switch construct {
		case event.Barrier:
			holds(WaitAtBarrier, r, s.Exec.T-s.Task)
		case event.Parallel, event.Teams, event.Unknown:
			holds(ImbalanceInParallelRegion, r, barrier)
		case event.Loop, event.ParallelLoop:
			holds(ImbalanceInParallelLoop, r, barrier)
			if around := s.Enter.T + s.Exit.T; construct == event.ParallelLoop && around > s.Body.T {
				holds(InsufficientWorkInParallelLoop, r, around)
			}
		case event.Workshare, event.ParallelWorkshare:
			holds(ImbalanceInParallelWorkshare, r, barrier)
		case event.Sections, event.ParallelSections:
			holds(sectionsProperty(&b), r, barrier)
		case event.Critical, event.Ordered:
			holds(CriticalSectionContention, r, s.Enter.T)
		case event.Lock, event.NestLock:
			holds(LockContention, r, s.Enter.T)
		case event.Atomic:
			if float64(s.Exec.C) > frequentAtomic*float64(all)/1e9 {
				holds(FrequentAtomic, r, s.Exec.T)
			}
		case event.Single:
			holds(UnparallelizedInSingleRegion, r, barrier)
		case event.Master, event.Masked:
			holds(UnparallelizedInMasterRegion, r, s.Exec.T)
		case event.TaskWait, event.TaskGroup:
			holds(WaitAtTaskwait, r, s.Barrier.T)
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
