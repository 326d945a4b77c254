package analysis

import (
	"cmp"
	"slices"

	"ompp-attach/event"
	"ompp-attach/profile"
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
	// ompP does not have the following two: idle time in a taskwait or at the end of a
	// taskgroup, and MPI calls in a parallel region, outside of nested ones.
	WaitAtTaskwait          = "WaitAtTaskwait"
	MPITimeInParallelRegion = "MPITimeInParallelRegion"
	// ompP does not have this one: threads were ready to run without a core.
	WaitForCore = "WaitForCore"
)

// leadsTo names the property that the time lost in a construct leads to, if there is one.
var leadsTo = map[event.Construct]string{
	event.Parallel:          ImbalanceInParallelRegion,
	event.Teams:             ImbalanceInParallelRegion,
	event.Unknown:           ImbalanceInParallelRegion,
	event.ParallelLoop:      ImbalanceInParallelLoop,
	event.Loop:              ImbalanceInParallelLoop,
	event.ParallelWorkshare: ImbalanceInParallelWorkshare,
	event.Workshare:         ImbalanceInParallelWorkshare,
	event.ParallelSections:  ImbalanceInParallelSections, // or another reason: sectionsProperty
	event.Sections:          ImbalanceInParallelSections,
	event.Single:            UnparallelizedInSingleRegion,
	event.Master:            UnparallelizedInMasterRegion, // by the whole time
	event.Masked:            UnparallelizedInMasterRegion,
	event.Critical:          CriticalSectionContention,
	event.Ordered:           CriticalSectionContention,
	event.Lock:              LockContention,
	event.NestLock:          LockContention,
	event.Barrier:           WaitAtBarrier,
	event.Atomic:            FrequentAtomic, // if it is frequent
	event.TaskWait:          WaitAtTaskwait,
	event.TaskGroup:         WaitAtTaskwait,
}

// LeadsTo returns the name of the property that the time lost in a construct leads to; empty: there
// is none. Of sections, SectionsProperty tells more.
func LeadsTo(c event.Construct) string { return leadsTo[c] }

// SectionsProperty returns the reason why threads waited at the end of sections, of which b is the
// flat profile.
func SectionsProperty(b *Block) string { return sectionsProperty(b) }

// frequentAtomic is the rate, in executions per thread and second, above which
// ompP calls an atomic frequent.
const frequentAtomic = 1000

// Property is a performance property that holds for a region.
type Property struct {
	Name     string
	Region   int
	Severity float64 // share of all thread time (see ThreadTime) that the property costs, 0 to 1
	// Core is the share of the region's time for which its threads had a core, 0 to 1.
	Core float64
}

// Properties returns the properties that hold, by the rules Disjoint.
func Properties(p *profile.Profile) []Property { return Disjoint.Properties(p) }

// Properties returns the properties that hold, the most severe first. A property whose time is zero
// does not hold. The properties are those of ompP over the flat profile. ompP names
// InsufficientWorkInParallelLoop but never reports it. Here it holds if starting and ending a
// parallel loop's team took more time than the loop's body; its severity is that time. Properties
// in doubt are left out (see Findings).
func (r Rules) Properties(p *profile.Profile) []Property {
	return r.Findings(p).Hold
}

// Findings returns all properties, including the ones that Properties leaves out.
func (r Rules) Findings(p *profile.Profile) Findings {
	all := ThreadTime(p)
	var out []Property
	flat := Flat(p)
	holds := func(name string, region int, t int64) {
		if severity := Ratio(t, all); severity > 0 {
			core, _ := CoreShare(&flat[region].Sum.ThreadStats)
			out = append(out, Property{name, region, severity, core})
		}
	}
	if r == Disjoint {
		for _, o := range r.Overheads(p) {
			holds(MPITimeInParallelRegion, o.Region, o.MPI)
			holds(WaitForCore, o.Region, o.NoCore)
		}
	}
	own := make([]Classes, len(p.Regions)) // classes of each region, without the regions inside it
	for i := 1; i < len(p.Nodes); i++ {
		for _, c := range r.Classify(p, i) {
			own[p.Nodes[i].Region].Add(c)
		}
	}
	for region, b := range flat {
		construct, s := p.Regions[region].Construct, &b.Sum.ThreadStats
		if r == Disjoint {
			bare := withCore(construct, s)
			s = &bare
		}
		name, lost := leadsTo[construct], own[region].lost()
		switch {
		case name == UnparallelizedInMasterRegion:
			lost = s.Exec.T
		case name == ImbalanceInParallelSections:
			name = sectionsProperty(&b)
		case name == FrequentAtomic && float64(s.Exec.C) <= frequentAtomic*float64(all)/1e9:
			name = ""
		}
		if name != "" {
			holds(name, region, lost)
		}
		if around := s.Enter.T + s.Exit.T; construct == event.ParallelLoop && around > s.Body.T {
			holds(InsufficientWorkInParallelLoop, region, around)
		}
	}
	slices.SortStableFunc(out, func(a, b Property) int { return cmp.Compare(b.Severity, a.Severity) })
	return divide(p, out, all)
}

// sectionsProperty returns the reason why threads waited at the end of sections. There were fewer
// sections than threads, or some threads got more sections than others. Otherwise the sections
// themselves differ.
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
