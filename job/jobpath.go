package job

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"ompp-attach/mpi/critical"
	"ompp-attach/profile"
)

// CriticalPath is the path over the ranks that decides when the job ends (package mpi/critical).
// Times are in ns. They are as measured: the time that probes took is in them.
type CriticalPath struct {
	Length int64 // from the first MPI call on the path to the end of the last one
	// Part: ranks were attached to, so the path goes from the first to the last call at which all
	// ranks met.
	Part    bool
	Unknown int64      // the part of Length that is not known
	Why     string     // why Unknown is not known: the end of a sentence
	Parts   []PathPart // the longest first
	// Nowhere is the part of the path at calls without a recorded place.
	Nowhere int64
}

// PathPart is a part of the path at one call path. It is either the time in the MPI calls there
// (In), or the time before them, since the rank's previous MPI call.
type PathPart struct {
	Region int // of the call, index in Job.Regions
	// Around is the innermost region that the call is in: index in Job.Regions; -1: it is in none.
	Around int
	In     bool
	Time   int64 // ns
	Saves  int64 // what perfect balance of the ranks' times here saves at most, ns
	// Last is an MPI call, if In is not set: most of Time passed between this call and the call of
	// Region. It is an index in Job.Regions; -1: not known. LastT is the time between the two (ns).
	// Same: both calls are in the same innermost region.
	Last  int
	LastT int64
	Same  bool
	Most  int   // the rank with most of Time
	MostT int64 // how much that rank has, ns
}

// sitePlace is the place of a call site. ok: the profile has the place.
type sitePlace struct {
	region, around key
	inside, ok     bool // inside: around is set
}

// compare orders places.
func (s *sitePlace) compare(o *sitePlace) int {
	return cmp.Or(s.region.compare(&o.region), s.around.compare(&o.around))
}

// sitePlaces returns the places of a rank's call sites.
func sitePlaces(p *profile.Profile) (out []sitePlace) {
	for _, s := range p.Calls.Sites {
		var at sitePlace
		if s.Node > 0 && s.Node < len(p.Nodes) {
			n := &p.Nodes[s.Node]
			at.region, at.ok = keyOf(&p.Regions[n.Region]), true
			if n.Parent > 0 {
				at.around, at.inside = keyOf(&p.Regions[p.Nodes[n.Parent].Region]), true
			}
		}
		out = append(out, at)
	}
	return out
}

// partOfPath is a PathPart whose regions are not numbered yet.
type partOfPath struct {
	PathPart
	at     sitePlace
	byRank map[int]int64
	byLast map[sitePlace]int64 // by the previous call
	last   sitePlace
}

// partsOf adds up the path's times by call path.
func (m *Matching) partsOf(ranks []*rankCalls, path func(rank, site int) int) {
	all := map[critical.Work]*partOfPath{}
	for at, t := range m.Path.Times {
		place := ranks[at.Rank].places[at.Site]
		if t.Path == 0 || !place.ok {
			continue
		}
		w := critical.Work{Path: path(at.Rank, at.Site), In: at.In}
		x := all[w]
		if x == nil {
			x = &partOfPath{PathPart: PathPart{In: at.In, Saves: m.Path.Saves[w]}, at: place, byRank: map[int]int64{}, byLast: map[sitePlace]int64{}}
			all[w] = x
		}
		x.Time += t.Path
		x.byRank[ranks[at.Rank].rank] += t.Path
	}
	for at, t := range m.Path.Stretches {
		if x := all[critical.Work{Path: path(at.Rank, at.Site)}]; x != nil && at.Last >= 0 {
			x.byLast[ranks[at.Rank].places[at.Last]] += t
		}
	}
	for _, x := range all {
		for rank, t := range x.byRank {
			if t > x.MostT || t == x.MostT && rank < x.Most {
				x.Most, x.MostT = rank, t
			}
		}
		for place, t := range x.byLast {
			if t > x.LastT || t == x.LastT && place.compare(&x.last) < 0 {
				x.last, x.LastT = place, t
			}
		}
		m.parts = append(m.parts, *x)
	}
}

// CriticalPath returns the critical path over the ranks; nil: none is known, and why says the
// reason. why is empty if the ranks were recorded without --waits, or if Options do not ask for the
// path.
func (j *Job) CriticalPath() (p *CriticalPath, why string) {
	m := j.Waits
	if m == nil || m.Path != nil && m.Path.Overlap < 0 && m.Path.Length == 0 && len(m.Joined) == 0 {
		return nil, ""
	}
	if m.Path == nil || m.Path.Unknown == m.Path.Length {
		if said := m.pathSentences(); len(said) > 0 {
			why = said[len(said)-1]
		}
		for _, of := range slices.Sorted(maps.Keys(m.LeftOut)) {
			why += fmt.Sprintf(" Left out: %s, as %s.", RankList(m.LeftOut[of]), of)
		}
		return nil, why
	}
	number := map[key]int{}
	for i, g := range j.Regions {
		number[g.key] = i
	}
	p = &CriticalPath{Length: m.Path.Length, Part: len(m.Joined) > 0, Unknown: m.Path.Unknown, Why: m.whyUnknown(), Nowhere: m.Path.Length - m.Path.Unknown}
	for _, x := range m.parts {
		region, ok := number[x.at.region]
		if !ok {
			continue
		}
		if x.Region, x.Around = region, -1; x.at.inside {
			if around, ok := number[x.at.around]; ok {
				x.Around = around
			}
		}
		x.Last = -1
		if last, ok := number[x.last.region]; ok && x.last.ok {
			x.Last, x.Same = last, x.last.inside && x.at.inside && x.last.around == x.at.around
		}
		p.Parts = append(p.Parts, x.PathPart)
		p.Nowhere -= x.Time
	}
	slices.SortFunc(p.Parts, func(a, b PathPart) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Region, b.Region), cmp.Compare(a.Around, b.Around), side(a.In)-side(b.In))
	})
	return p, ""
}
