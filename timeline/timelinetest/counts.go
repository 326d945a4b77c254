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
	case s.Flags&timeline.Within != 0:
		if s.Counts != nil {
			c.charge(f, s)
		}
		return
	case s.Counts == nil:
		c.uncounted += s.Exec.C
		return
	case s.Counts.Partial && s.Kind == timeline.Fold:
		c.uncounted += s.Exec.C
	case s.Counts.Partial:
		c.uncounted++
	}
	c.charge(f, s)
}

// charge adds a span's counters. Of a construct that is a part of the region around, the region has
// them already, as of a region inside: they become its own.
func (c *counts) charge(f *timeline.File, s *timeline.Span) {
	for i := range f.Counting.Counters {
		all, _ := f.Count(s.Counts.All, i)
		child, _ := f.Count(s.Counts.Child, i)
		if s.Flags&timeline.Within != 0 {
			c.child[i] += int64(child) - int64(all)
			continue
		}
		c.all[i], c.child[i] = c.all[i]+int64(all), c.child[i]+int64(child)
	}
}

// countDifferences compares the sums of spans' counters with a profile. Counters that are scaled
// have no exact sums: such a timeline must not be given.
func countDifferences(p *profile.Profile, f *timeline.File) (wrong []string, figures int) {
	n := len(f.Counting.Counters)
	got := map[cell]*counts{}
	for _, tid := range f.TIDs() {
		for s, err := range f.All(tid) {
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

func statsOf(p *profile.Profile, c cell) *profile.ThreadStats {
	for i := range p.Nodes[c.node].Stats {
		if s := &p.Nodes[c.node].Stats[i]; s.Thread == c.thread {
			return s
		}
	}
	return nil
}
