package timelinetest

import (
	"fmt"
	"slices"

	"ompp-attach/profile"
	"ompp-attach/timeline"
)

// counts are the sums of spans' counters at a node, in the profile's order.
type counts struct {
	all, child []int64
	uncounted  uint64
}

func (c *counts) add(f *timeline.File, s *timeline.Span) {
	switch {
	case s.Counts == nil:
		c.uncounted += s.Exec.C
		return
	case s.Counts.Partial && s.Kind == timeline.Fold:
		c.uncounted += s.Exec.C
	case s.Counts.Partial:
		c.uncounted++
	}
	for i := range f.Counting.Counters {
		all, _ := f.Count(s.Counts.All, i)
		child, _ := f.Count(s.Counts.Child, i)
		c.all[i], c.child[i] = c.all[i]+int64(all), c.child[i]+int64(child)
	}
}

// countDifferences compares the sums of spans' counters with a profile. Counters that are scaled have
// no exact sums: such a timeline must not be given. What belongs to two regions is left out.
func countDifferences(p *profile.Profile, f *timeline.File) (wrong []string, figures int) {
	n := len(f.Counting.Counters)
	got := map[cell]*counts{}
	for _, tid := range f.TIDs() {
		for s, err := range f.Thread(tid) {
			if err != nil || s.Kind == timeline.Created {
				continue // an error has been told
			}
			c := cell{int(s.Node), int(s.Thread)}
			if got[c] == nil {
				got[c] = &counts{make([]int64, n), make([]int64, n), 0}
			}
			got[c].add(f, s)
		}
	}
	for c, g := range got {
		if partOfTwo(p, f, c.node) {
			continue
		}
		s := statsOf(p, c)
		if s == nil || s.Counters == nil {
			continue // the difference has been told, or nothing was counted so far
		}
		if !slices.Equal(s.Counters, g.all) || !slices.Equal(s.ChildCounters, g.child) || s.Uncounted != g.uncounted {
			wrong = append(wrong, fmt.Sprintf("node %d, thread %d: spans count %v, %v in regions inside, %d not counted; the profile has %v, %v, %d",
				c.node, c.thread, g.all, g.child, g.uncounted, s.Counters, s.ChildCounters, s.Uncounted))
		}
		figures++
	}
	return wrong, figures
}

// partOfTwo tells whether a node has spans of two constructs that are one directive, or a region
// inside has been taken out of it.
func partOfTwo(p *profile.Profile, f *timeline.File, node int) bool {
	return slices.ContainsFunc(f.Dictionary.Within, func(id int32) bool {
		return int(f.Dictionary.NodeOf[id]) == node
	})
}

func statsOf(p *profile.Profile, c cell) *profile.ThreadStats {
	for i := range p.Nodes[c.node].Stats {
		if s := &p.Nodes[c.node].Stats[i]; s.Thread == c.thread {
			return s
		}
	}
	return nil
}
