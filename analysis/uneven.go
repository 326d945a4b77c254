package analysis

import (
	"slices"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// Uneven says why threads waited at a barrier, or at the end of a construct, if this is known.
type Uneven uint8

const (
	// Starved: the loop left a thread of its team without work. Mostly, the loop has fewer
	// iterations than threads then, or one iteration with nearly all of the work. But a thread's
	// chunk may have all of the work, too. The number of iterations itself is not recorded.
	Starved Uneven = iota + 1
	// Coreless: the threads that others waited for were ready to run, but had no core, as they
	// began the region or later. This makes up most of the waits.
	Coreless
	// Late: some threads began the parallel region later than others, and this makes up most of the
	// waits.
	Late
	// Behind: some threads came to the construct later than others, and this makes up most of the
	// waits. They were in the same parallel region before.
	Behind

	numUneven
)

// Says returns the reason as a clause about a region; "": no reason is known.
func (u Uneven) Says() string {
	return [numUneven]string{Starved: "some of its threads had next to nothing to do", Coreless: "its threads mostly waited for threads that had no core",
		Late: "its threads mostly waited for threads that began it late", Behind: "its threads mostly waited for threads that came to it late"}[u]
}

// HasUneven tells whether the reasons of waits (Uneven) are those of a property with one of ompP's
// names. Properties of idle threads have no such reason: nobody waited for a late thread there.
func HasUneven(name string) bool {
	switch name {
	case WaitAtBarrier, ImbalanceInParallelRegion, ImbalanceInParallelLoop, ImbalanceInParallelWorkshare, ImbalanceInParallelSections,
		ImbalanceDueToUnevenSectionDistribution:
		return true
	}
	return false
}

// UnevenWaits are the waits at a barrier, or at the end of a region (ns), by their reason. Those
// with reason 0 have uneven work for a reason, or it is not known.
type UnevenWaits [numUneven]int64

// Why returns the reason that makes up more than half of the waits; 0: there is none.
func (u UnevenWaits) Why() Uneven {
	all := int64(0)
	for _, waits := range u {
		all += waits
	}
	for why, waits := range u {
		if why > 0 && 2*waits > all {
			return Uneven(why)
		}
	}
	return 0
}

// Plus returns the sum of two processes' waits at the same region.
func (u UnevenWaits) Plus(o UnevenWaits) UnevenWaits {
	for why := range u {
		u[why] += o[why]
	}
	return u
}

// WhyUneven tells, by region, how long threads waited at its barrier, and why. All waits of a
// region have one reason. In a loop that left a thread without work, the loop's body took the
// thread less than a hundredth of what it took the busiest thread under the same initial thread.
func WhyUneven(p *profile.Profile) []UnevenWaits {
	out, last := make([]UnevenWaits, len(p.Regions)), latecomersOf(p)
	for region, b := range Flat(p) {
		c, l, why := p.Regions[region].Construct, &last[region], Uneven(0)
		waits := int64(0)
		for i := range b.Rows {
			waits += max(0, barrierTime(&b.Rows[i].ThreadStats)-b.Rows[i].Task)
		}
		switch {
		case (c == event.Loop || c == event.ParallelLoop) && starved(p.Threads, b.Rows):
			why = Starved
		case l.known(waits) && l.coreless():
			why = Coreless
		case c.IsParallel():
			why = lateBegin(p.Threads, b.Rows)
		case (c == event.Loop || c == event.Sections || c == event.Workshare) && l.known(waits) && l.behind():
			why = Behind
		}
		out[region][why] = waits
	}
	return out
}

// WhyEnds tells, by region, how long the ends of its teams took the threads, and why: Coreless if
// the thread that ends the teams had no core for more than half of that time. The others wait for
// that thread. All of a region has one reason.
func WhyEnds(p *profile.Profile) []UnevenWaits {
	out := make([]UnevenWaits, len(p.Regions))
	for region, b := range Flat(p) {
		c := p.Regions[region].Construct
		if !c.IsParallel() {
			continue
		}
		var took, primary, away int64
		for i := range b.Rows {
			s := &b.Rows[i].ThreadStats
			bare := withCore(c, s)
			took += bare.Exit.T
			if p.Threads[s.Thread].Num == 0 {
				primary += s.Exit.T
				away += s.Exit.T - bare.Exit.T
			}
		}
		why := Uneven(0)
		if 2*away > primary {
			why = Coreless
		}
		out[region][why] = took
	}
	return out
}

// starved tells whether a loop left a thread nearly without work, compared with the busiest thread
// under the same initial thread.
func starved(threads []profile.Thread, rows []ThreadFigures) bool {
	const little = 0.01
	most := map[int]int64{} // by initial thread: each has teams of its own
	for i := range rows {
		root := threads[rows[i].Thread].Root
		most[root] = max(most[root], rows[i].Body.T)
	}
	return slices.ContainsFunc(rows, func(r ThreadFigures) bool {
		return float64(r.Body.T) < little*float64(most[threads[r.Thread].Root])
	})
}

// lateBegin returns Late or Coreless if threads that began a parallel region late, or that had no
// core as they began it, make up more than half of the waits at the region's end; else 0.
func lateBegin(threads []profile.Thread, rows []ThreadFigures) Uneven {
	all, waits := lateness(threads, rows, func(s *profile.ThreadStats) int64 { return s.Enter.T })
	withCore, _ := lateness(threads, rows, enterWithCore)
	switch {
	case 2*all <= waits:
		return 0
	case 2*(all-withCore) > waits:
		return Coreless
	}
	return Late
}

// lateness returns how long threads waited at a region's end (waits), and how much of this can be
// due to threads that began late (earlier), in ns. A thread's wait for them is at most the time by
// which it began before the last thread of its teams.
func lateness(threads []profile.Thread, rows []ThreadFigures, enter func(*profile.ThreadStats) int64) (earlier, waits int64) {
	last := map[int]int64{} // by initial thread: each has teams of its own
	for i := range rows {
		root := threads[rows[i].Thread].Root
		last[root] = max(last[root], enter(&rows[i].ThreadStats))
	}
	for i := range rows {
		wait := max(0, rows[i].Barrier.T-rows[i].Task)
		waits += wait
		earlier += min(wait, last[threads[rows[i].Thread].Root]-enter(&rows[i].ThreadStats))
	}
	return earlier, waits
}

// enterWithCore returns how long a thread took to begin a region, without the time in which it had
// no core (ns).
func enterWithCore(s *profile.ThreadStats) int64 {
	if s.NoCore == nil {
		return s.Enter.T
	}
	return s.Enter.T - within(s.NoCore.Enter, s.Enter.T)
}

// latecomers are the waits at a region's barrier for the threads that came last (profile.Waits), in
// ns.
type latecomers struct {
	waits int64 // at this barrier, as far as it is known for whom
	from  int64 // the waits for threads that came from the region: also at other barriers
	away  int64 // the part of from in which these threads had no core
	own   int64 // the part of the waits, at most, that is due to time within the region
}

// known tells whether it is known for whom threads waited in more than half of a region's waits.
func (l *latecomers) known(waits int64) bool { return l.waits > 0 && 2*l.waits > waits }

// coreless tells whether threads without a core make up more than half of the waits. If others
// waited for threads that came from the region at other barriers, too, the same share holds here.
func (l *latecomers) coreless() bool { return 2*l.away > max(l.waits, l.from) }

// behind tells whether more than half of the waits are due to what threads did before the region.
func (l *latecomers) behind() bool { return 2*l.own < l.waits }

// latecomersOf returns the latecomers of each region. Threads come to the barrier of a construct
// from the construct itself, and to an explicit barrier from the region around.
func latecomersOf(p *profile.Profile) []latecomers {
	out, t := make([]latecomers, len(p.Regions)), newTree(p)
	for i := 1; i < len(p.Nodes); i++ {
		here, source := &out[p.Nodes[i].Region], i
		if p.Regions[p.Nodes[i].Region].Construct == event.Barrier {
			source = p.Nodes[i].Parent
		}
		for j := range p.Nodes[source].Stats {
			if w := p.Nodes[source].Stats[j].Waits; w != nil {
				here.from += w.Late.T
				here.away += w.NoCore
			}
		}
		due := int64(0)
		for j := range p.Nodes[i].Stats {
			if w := p.Nodes[i].Stats[j].Waits; w != nil {
				here.waits += w.Wait.T
				due += w.Delay + w.Passed
			}
		}
		// A nested team's time counts for its region. No wait in a team is due to time above it.
		for at := i; due > 0 && at > 0; at = p.Nodes[at].Parent {
			if t.same[at] < max(1, t.team[i]) { // else an ancestor of the same region has it
				out[p.Nodes[at].Region].own += due
			}
			if at == t.team[i] && at != i {
				break
			}
		}
	}
	return out
}
