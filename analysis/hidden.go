package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// hiding is the share of a time above which nothing can be told of the rest. A hit takes up to a
// fourth more or less than it took in the calibration (docs/overhead.md). So where hits took two
// thirds, the rest is wrong by up to a half.
const hiding = 2.0 / 3

// Hidden says that probes took so much of the time that what is left of it cannot be told. Times
// are in ns.
type Hidden struct {
	Cost, Time int64 // Time is the processor time, or the wall time of the first thread
	Wall       bool
	Rank       int // in MPI_COMM_WORLD; -1: of no job
	// Disable are the words by which --disable names the constructs and MPI operations in which
	// probes took most.
	Disable []string
	Exact   bool // counts are exact: no hit was lost, and all was observed all of the time
}

// HiddenByProbes tells whether probes took more than two thirds of the processor time, or of the
// first thread's wall time, without time that lacked a core; nil: they did not. Probes that took
// less than a tenth of the threads' time with a core hide nothing, however little processor time
// there was: shares of that time hold. Times as measured hold as they are.
func HiddenByProbes(p *profile.Profile) *Hidden {
	if !p.Meta.Adjusted {
		return nil
	}
	h := &Hidden{Cost: ProbeCost(p), Time: p.Meta.UserTime + p.Meta.SysTime, Rank: -1}
	away, first := coreless(p)
	much := muchCost * float64(measuredTime(p)-away)
	if h.Time <= 0 || float64(h.Cost) <= hiding*float64(h.Time) || float64(h.Cost) <= much {
		// Time without a core is of another clock, and may exceed the wall time by a little.
		h.Cost, h.Time, h.Wall = p.Meta.TakenOut, max(0, p.Meta.Duration+p.Meta.TakenOut-first), true
		if float64(h.Cost) <= hiding*float64(h.Time) {
			return nil
		}
	}
	if m := p.Meta.MPI; m != nil {
		h.Rank = m.Rank
	}
	h.Disable = costliest(p)
	h.Exact = p.Meta.LostHits == 0 && len(p.Meta.Observations) == 0
	return h
}

// Or returns the one of two in which probes took the greater share; nil: there is none.
func (h *Hidden) Or(o *Hidden) *Hidden {
	if h == nil || o != nil && Ratio(o.Cost, o.Time) > Ratio(h.Cost, h.Time) {
		return o
	}
	return h
}

// coreless returns the time without a core: of all threads, and of the first.
func coreless(p *profile.Profile) (all, first int64) {
	for i := range p.Nodes[0].Stats {
		s := &p.Nodes[0].Stats[i]
		if s.NoCore == nil {
			continue
		}
		all += s.NoCore.Exec
		if t := p.Threads[s.Thread]; t.Root == 0 && t.Num == 0 {
			first = s.NoCore.Exec
		}
	}
	return all, first
}

// costliest returns the words for constructs and MPI operations with most of the cost, the highest
// cost first. The cost of constructs that are counted only is charged to the region around. So if
// no words have enough of the cost, they are those with most of the executions.
func costliest(p *profile.Profile) []string {
	var cost, executions [][2]int64 // region, figure
	for _, c := range OwnCosts(p) {
		cost = append(cost, [2]int64{int64(c.Region), c.Cost})
	}
	for region, b := range Flat(p) {
		executions = append(executions, [2]int64{int64(region), int64(b.Sum.Exec.C)})
	}
	if words := foremost(p, cost); len(words) > 0 {
		return words
	}
	return foremost(p, executions)
}

// The words that are to be disabled have mostOfCost of a figure together. If there are no such
// words, they are all that have someCost by themselves. They must have leastOfCost together: to
// disable less would hardly help.
const mostOfCost, someCost, leastOfCost = 0.9, 0.05, 0.5

// foremost returns the words for constructs, and for operations of MPI, with most of a figure.
func foremost(p *profile.Profile, figures [][2]int64) (words []string) {
	by, all := map[string]int64{}, int64(0)
	for _, f := range figures {
		all += f[1]
		r := &p.Regions[f[0]]
		word := r.Construct.Traits().Selector
		if r.Construct == event.MPI {
			word = r.Name
		}
		if word != "" && f[1] > 0 {
			if by[word] == 0 {
				words = append(words, word)
			}
			by[word] += f[1]
		}
	}
	slices.SortStableFunc(words, func(a, b string) int { return cmp.Compare(by[b], by[a]) })
	sum := int64(0)
	for i, w := range words {
		if float64(sum) >= mostOfCost*float64(all) || float64(by[w]) < someCost*float64(all) {
			words = words[:i]
			break
		}
		sum += by[w]
	}
	if float64(sum) < leastOfCost*float64(all) {
		return nil
	}
	return words
}

// Says says why figures cannot be told, and what to do.
func (h *Hidden) Says() string {
	of := "the processor time"
	if h.Wall {
		of = "the wall time"
	}
	took := fmt.Sprintf("%.0f%%", 100*Ratio(h.Cost, h.Time))
	if h.Cost > h.Time {
		took = "more than all"
	}
	rank := ""
	if h.Rank >= 0 {
		rank = fmt.Sprintf(" on rank %d", h.Rank)
	}
	text := fmt.Sprintf("cannot be told: by the cost of a hit, probes took %s of %s%s.", took, of, rank)
	switch {
	case h.Exact && h.Rank >= 0:
		text += " That rank's counts are exact."
	case h.Exact:
		text += " Counts are exact."
	}
	if len(h.Disable) > 0 {
		text += fmt.Sprintf(" Measure again with --disable %s for the times of the rest;", strings.Join(h.Disable, ","))
	} else {
		text += " Measure longer regions for their times;"
	}
	return text + " --raw shows times as measured."
}
