package job

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"ompp-attach/event"
	"ompp-attach/mpi"
	"ompp-attach/mpi/critical"
	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/reader"
	"ompp-attach/profile"
	"ompp-attach/severity"
)

// The critical path over the ranks of a job (package mpi/critical).

// callPaths returns the call path of each call site, in a spelling that is the same on all ranks.
func callPaths(p *profile.Profile) []string {
	nodes := make([]string, len(p.Nodes))
	for i := range p.Nodes {
		if n := &p.Nodes[i]; n.Parent >= 0 {
			nodes[i] = fmt.Sprintf("%s/%v", nodes[n.Parent], keyOf(&p.Regions[n.Region]))
		}
	}
	var out []string
	for _, s := range p.Calls.Sites {
		path := ""
		if s.Node >= 0 && s.Node < len(nodes) {
			path = nodes[s.Node]
		}
		out = append(out, path)
	}
	return out
}

// matched matches the calls of ranks. If these are all ranks of the job, it also finds the critical
// path.
func (m *Matching) matched(ranks []*rankCalls, logs []*match.RankCalls, c match.Clocks, all bool) *match.Result {
	if !all {
		return reader.RunAcross(logs, c)
	}
	number, of := map[string]int{"": -1}, make([][]int, len(ranks)) // -1: sites without a place
	for i, r := range ranks {
		for _, path := range r.paths {
			n, ok := number[path]
			if !ok {
				n = len(number) - 1
				number[path] = n
			}
			of[i] = append(of[i], n)
		}
	}
	path := func(rank, site int) int { return of[rank][site] }
	p := critical.New(logs, path)
	out := reader.RunWith(logs, c, p)
	m.Path, m.aside = p.Finish(), map[string]int64{}
	for _, r := range ranks {
		for op, t := range r.aside {
			m.aside[op] += t
		}
	}
	m.share(ranks, path)
	m.partsOf(ranks, path)
	return out
}

// asideOf returns the time in MPI calls that are not recorded one by one, by operation (ns). These
// calls, too, may wait for other ranks, or may ask again and again whether a message has come.
func asideOf(p *profile.Profile) map[string]int64 {
	out := map[string]int64{}
	for i := range p.Nodes[1:] {
		n := &p.Nodes[i+1]
		r := &p.Regions[n.Region]
		op, ok := mpi.ParseOp(r.Name)
		if r.Construct != event.MPI || !ok || oneByOne(p, op) || op.Info().Local {
			continue
		}
		for j := range n.Stats {
			out[r.Name] += n.Stats[j].Exec.T
		}
	}
	return out
}

// oneByOne reports whether a profile's log has the calls of an operation. Older versions did not
// record MPI_Probe.
func oneByOne(p *profile.Profile, op mpi.Op) bool {
	return match.Wanted(op) && (p.Calls.Until != 0 || slices.Contains(p.Calls.Ops, op))
}

// pathShares are a rank's shares of the path, and of the times for which others waited, by call
// site.
type pathShares map[int]pathShare

type pathShare struct {
	sides            [2]profile.PathTime // [0]: before the calls of the site, [1]: in them
	indirect, passed int64               // as in profile.RankWaits
}

func side(in bool) int {
	if in {
		return 1
	}
	return 0
}

// share divides the saving by balance among the ranks, by their times on the path.
func (m *Matching) share(ranks []*rankCalls, path func(rank, site int) int) {
	all := map[critical.Work]critical.Time{}
	of := func(at critical.Place) critical.Work { return critical.Work{Path: path(at.Rank, at.Site), In: at.In} }
	for at, t := range m.Path.Times {
		sum := all[of(at)]
		all[of(at)] = critical.Time{Path: sum.Path + t.Path, Own: sum.Own + t.Own}
	}
	m.shares = map[int]pathShares{}
	for at, t := range m.Path.Times {
		w := of(at)
		sum := all[w]
		part := 0.0
		switch {
		case sum.Path > 0:
			part = float64(t.Path) / float64(sum.Path)
		case sum.Own > 0:
			part = float64(t.Own) / float64(sum.Own)
		}
		rank := ranks[at.Rank].rank
		if m.shares[rank] == nil {
			m.shares[rank] = pathShares{}
		}
		x := m.shares[rank][at.Site]
		x.indirect, x.passed = x.indirect+t.Indirect, x.passed+t.Passed
		x.sides[side(at.In)] = profile.PathTime{T: t.Path, Delay: t.Delay, Far: t.Far, Imbalance: int64(part * float64(max(0, sum.Path-sum.Own/int64(len(ranks))))),
			Saves: int64(part * float64(m.Path.Saves[w]))}
		m.shares[rank][at.Site] = x
	}
}

// applyPath adds the times of the critical path to a rank's profile.
func (m *Matching) applyPath(p *profile.Profile, rank int) {
	for site, share := range m.shares[rank] {
		if x := m.statsAt(p, match.Place{Rank: rank, Site: site}); x != nil {
			for i, s := range share.sides {
				x.Path[i].Add(s)
			}
			x.Indirect, x.Passed = x.Indirect+share.indirect, x.Passed+share.passed
		}
	}
}

// path returns the path's length for package severity; nil: there is none.
func (m *Matching) path() *severity.JobPath {
	if m.Path == nil || m.Path.Length == 0 {
		return nil
	}
	p := m.Path
	return &severity.JobPath{Length: p.Length, Unknown: p.Unknown, Bound: p.Bound, Turns: p.Turns, Phases: p.Phases, Part: len(m.Joined) > 0}
}

// littleAside is the share of the path's length below which calls that may have
// waited are not named.
const littleAside = 0.001

// asides names operations with calls that count as work on the path, although ranks may have waited
// in them.
func (m *Matching) asides() []string {
	var names []string
	for _, op := range slices.Sorted(maps.Keys(m.aside)) {
		if t := m.aside[op]; float64(t) >= littleAside*float64(m.Path.Length) {
			names = append(names, fmt.Sprintf("%s (%.6f sec of all ranks)", op, seconds(t)))
		}
	}
	if names == nil {
		return nil
	}
	return []string{"The critical path over the ranks counts these calls as work, although ranks may have waited in them: " + strings.Join(names, ", ") + "."}
}

// noCause says how much of the waits has no known cause.
func (m *Matching) noCause() []string {
	p := m.Path
	if p.NoCause*1000 < p.Waited || p.NoCause == 0 {
		return nil
	}
	return []string{fmt.Sprintf("The causes of %.6f of %.6f sec of waits between ranks are not known. The late rank came late to its first call, waited itself for a rank that is not known, or did no more than the others since they met.", seconds(p.NoCause), seconds(p.Waited))}
}

// whyUnknown says why the path, or a part of it, is not known.
func (m *Matching) whyUnknown() string {
	if m.Path.Lost > 0 {
		return "MPI calls are missing, or it cannot be told for whom a rank waited"
	}
	return "it cannot be told for whom a rank waited"
}

// pathSentences say why the critical path is not known, or not all of it.
func (m *Matching) pathSentences() []string {
	const none = "The critical path over the ranks is not known: "
	switch p := m.Path; {
	case p == nil:
		return []string{none + "that needs all MPI calls of all ranks."}
	case len(m.Joined) > 0 && p.Overlap < 0 && p.Length == 0:
		return []string{none + "no two calls are known at which all ranks met after they were attached to."}
	case p.Overlap >= 0:
		return []string{fmt.Sprintf(none+"several threads of rank %d were in MPI at the same time.", m.Ranks[p.Overlap])}
	case p.Length > 0 && p.Unknown == p.Length:
		return []string{none + m.whyUnknown() + "."}
	case p.Unknown > 0:
		return append(append(m.asides(), m.noCause()...), fmt.Sprintf("%.6f of %.6f sec of the critical path over the ranks are not known: %s.",
			seconds(p.Unknown), seconds(p.Length), m.whyUnknown()))
	}
	return append(m.asides(), m.noCause()...)
}
