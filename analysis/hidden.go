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

// Untold says why nothing can be told of the times of a run: in a word, for programs, and as the
// rest of a sentence. Both are empty if times can be told. silent: nothing was seen of any process.
func Untold(h *Hidden, silent bool) (word, rest string) {
	switch {
	case h != nil:
		return "probes", h.Says()
	case silent:
		return "silent", "is " + SilentText + "."
	}
	return "", ""
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
// cost first.
func costliest(p *profile.Profile) []string {
	cost := make([]int64, len(p.Regions))
	for i, c := range causedAt(p) {
		if region := p.Nodes[i].Region; region >= 0 {
			cost[region] += c
		}
	}
	return foremost(p, cost)
}

// MPICost returns the part of the probes' cost (0 to 1) that MPI calls caused, and the operations
// with most of it, the highest cost first.
func MPICost(p *profile.Profile) (share float64, operations []string) {
	if p.Meta.Overhead == nil {
		return 0, nil
	}
	cost, all, calls := make([]int64, len(p.Regions)), int64(0), int64(0)
	for i, c := range causedAt(p) {
		all += c
		if region := p.Nodes[i].Region; region >= 0 && p.Regions[region].Construct == event.MPI {
			cost[region] += c
			calls += c
		}
	}
	return Ratio(calls, all), foremost(p, cost)
}

// causedAt returns, by node, the cost that the executions of the node's region caused. The hit at
// the begin of an execution takes time before its time stamp, and the hit at the end after its own.
// These times are charged to the region around. If executions are only counted, all of their cost
// is charged there. So what is too much for the executions of the region around was caused by the
// executions of the regions inside.
func causedAt(p *profile.Profile) []int64 {
	// The most hits of a thread in one execution. Rows of docs/probes.md with more hits are of two
	// threads, or add up several executions: of tasks, for example.
	const mostHits = 8
	dearest := int64(0)
	for _, h := range p.Meta.Overhead.Probes {
		dearest = max(dearest, h.Before+h.After)
	}
	caused, executions, inside := make([]int64, len(p.Nodes)), make([]int64, len(p.Nodes)), make([]int64, len(p.Nodes))
	// By thread: the cost of a team has, for its workers, hits of the primary thread, too. So what
	// is left outside may be negative for a worker.
	outside := make([]int64, len(p.Threads))
	for i := range p.Nodes {
		for j := range p.Nodes[i].Stats {
			s := &p.Nodes[i].Stats[j]
			executions[i] += int64(max(s.Exec.C, s.Body.C))
			switch {
			case s.Cost == nil:
				continue
			case i == 0: // the root has no Child
				outside[s.Thread] += s.Cost.Exec
				continue
			case p.Nodes[i].Parent == 0: // the root's cost has no Wait
				outside[s.Thread] -= s.Cost.Exec - s.Cost.Wait
			}
			caused[i] += s.Cost.Exec - s.Cost.Child - s.Cost.Wait
		}
		if i > 0 {
			inside[p.Nodes[i].Parent] += executions[i]
		}
	}
	for _, left := range outside {
		caused[0] += max(0, left)
	}
	excess, scale := make([]float64, len(p.Nodes)), costScale(p)
	for i := range p.Nodes { // the nodes around a node come before it
		if up := p.Nodes[i].Parent; up >= 0 && inside[up] > 0 {
			caused[i] += int64(excess[up] * Ratio(executions[i], inside[up]))
		}
		most := float64(executions[i]) * mostHits * float64(dearest) * scale
		if excess[i] = float64(caused[i]) - most; excess[i] > 0 && inside[i] > 0 {
			caused[i] = int64(most)
		} else {
			excess[i] = 0
		}
	}
	return caused
}

// The words that are to be disabled have mostOfCost of the cost together. If there are no such
// words, they are all that have someCost by themselves. They must have leastOfCost together: to
// disable less would hardly help.
const mostOfCost, someCost, leastOfCost = 0.9, 0.05, 0.5

// foremost returns the words for constructs, and for operations of MPI, with most of the cost. The
// cost is by region.
func foremost(p *profile.Profile, cost []int64) (words []string) {
	by, all := map[string]int64{}, int64(0)
	for region, c := range cost {
		all += c
		r := &p.Regions[region]
		word := r.Construct.Traits().Selector
		if r.Construct == event.MPI {
			word = r.Name
		}
		if word != "" && c > 0 {
			if by[word] == 0 {
				words = append(words, word)
			}
			by[word] += c
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
