package build

import (
	"cmp"
	"fmt"
	"slices"

	"ompp-attach/profile"
)

// Initial threads that live briefly. Some programs start threads without end, and each of these
// starts teams. A seat for each thread would tell no more than one seat for all. Shares of the time
// of all threads that ever lived would be next to nothing.

const (
	// FewBrief is how many initial threads that lived briefly may keep seats of their own. A
	// life is brief if it is shorter than the share briefShare of the measured time.
	FewBrief   = 8
	briefShare = 0.1
)

// joinBrief lets the initial threads that lived briefly share one seat if there are more than
// FewBrief of them. The workers of their teams then share one seat for each number. joinBrief
// returns the new seat of each old seat; nil: no seat has changed.
func joinBrief(p *profile.Profile, measured int64) (to []int) {
	teams := map[int]bool{} // threads that start no teams are few: caller bounds them
	for _, n := range p.Nodes[1:] {
		if p.Regions[n.Region].Construct.IsParallel() {
			for _, s := range n.Stats {
				teams[p.Threads[s.Thread].Root] = true
			}
		}
	}
	var brief []int // initial threads
	for _, t := range p.Threads {
		if t.Root > 0 && t.Num == 0 && t.Lived > 0 && teams[t.Root] && (t.Joined > 1 || float64(t.Lived) < briefShare*float64(measured)) {
			brief = append(brief, t.Root)
		}
	}
	if len(brief) <= FewBrief {
		return nil
	}
	first := slices.Min(brief)
	var threads []profile.Thread
	for _, t := range p.Threads {
		if slices.Contains(brief, t.Root) {
			t = profile.Thread{Root: first, Num: t.Num}
		}
		if !slices.ContainsFunc(threads, func(o profile.Thread) bool { return o.Root == t.Root && o.Num == t.Num }) {
			threads = append(threads, t)
		}
	}
	slices.SortFunc(threads, func(x, y profile.Thread) int { return cmp.Or(cmp.Compare(x.Root, y.Root), cmp.Compare(x.Num, y.Num)) })
	to = make([]int, len(p.Threads))
	for i, t := range p.Threads {
		joined := slices.Contains(brief, t.Root)
		if joined {
			t.Root = first
		}
		to[i] = slices.IndexFunc(threads, func(o profile.Thread) bool { return o.Root == t.Root && o.Num == t.Num })
		if joined {
			threads[to[i]].Join(&p.Threads[i])
		}
	}
	p.Threads = threads
	for i := range p.Nodes {
		n := &p.Nodes[i]
		stats := n.Stats
		n.Stats = nil
		for _, s := range stats {
			s.Thread = to[s.Thread]
			n.Add(s)
		}
		slices.SortFunc(n.Stats, func(x, y profile.ThreadStats) int { return cmp.Compare(x.Thread, y.Thread) })
	}
	for i := range p.Lost {
		p.Lost[i].Thread = to[p.Lost[i].Thread]
	}
	for i := range p.Samples {
		if s := &p.Samples[i]; s.Thread >= 0 {
			s.Thread = to[s.Thread]
		}
	}
	p.Warnings = append(p.Warnings, briefText(&threads[slices.IndexFunc(threads, func(t profile.Thread) bool { return t.Root == first && t.Num == 0 })]))
	return to
}

func briefText(t *profile.Thread) string {
	return fmt.Sprintf("%d initial threads that lived briefly share row %d:0 of the tables, and the workers of their teams the rows from %d:1 on: "+
		"together they lived for %.3f seconds, each from its first event to its last.", t.Joined, t.Root, t.Root, float64(t.Lived)/1e9)
}
