// Package timelinetest compares timelines with profiles, for tests.
package timelinetest

import (
	"fmt"

	"ompp-attach/profile"
	"ompp-attach/timeline"
)

type cell struct{ node, thread int }

type sums [profile.NumParts]profile.Sum

// Differences compares the sums of a timeline's spans with a profile, by node and thread: times and
// counts must be equal. It returns a sentence for each difference, and the number of figures that
// were compared. The profile must hold all that was measured: nothing hidden, nothing taken out.
func Differences(p *profile.Profile, f *timeline.File) (wrong []string, figures int) {
	got, wrong := spanSums(f)
	combined := map[int]bool{} // their parts are of two regions
	for _, id := range f.Dictionary.Within {
		combined[int(f.Dictionary.NodeOf[id])] = true
	}
	want := map[cell]sums{}
	for i := range p.Nodes {
		for _, s := range p.Nodes[i].Stats {
			want[cell{i, s.Thread}] = seen(&s)
		}
	}
	for c, w := range want {
		g := sums{}
		if got[c] != nil {
			g = *got[c]
		}
		if combined[c.node] {
			g, w = sums{g[profile.Exec]}, sums{w[profile.Exec]}
		}
		if g != w {
			wrong = append(wrong, fmt.Sprintf("node %d (region %d), thread %d: spans add up to %+v, the profile has %+v", c.node, p.Nodes[c.node].Region, c.thread, g, w))
		}
		if w != (sums{}) {
			figures++
		}
	}
	if f.Counting != nil {
		more, n := countDifferences(p, f)
		wrong, figures = append(wrong, more...), figures+n
	}
	for c, g := range got {
		if _, ok := want[c]; !ok {
			wrong = append(wrong, fmt.Sprintf("node %d, thread %d: the profile has nothing, spans add up to %+v", c.node, c.thread, *g))
		}
	}
	return wrong, figures
}

// spanSums adds up a timeline's spans. wrong tells of spans that are damaged or out of order.
func spanSums(f *timeline.File) (got map[cell]*sums, wrong []string) {
	got = map[cell]*sums{}
	for _, tid := range f.TIDs() {
		last := uint64(0)
		for s, err := range f.Thread(tid) {
			if err != nil {
				return got, append(wrong, err.Error())
			}
			if s.From < last || s.To < s.From {
				wrong = append(wrong, fmt.Sprintf("thread %d: a span from %d to %d comes behind one from %d", tid, s.From, s.To, last))
			}
			last = s.From
			if s.Kind == timeline.Created {
				continue
			}
			c := cell{int(s.Node), int(s.Thread)}
			if got[c] == nil {
				got[c] = &sums{}
			}
			got[c][profile.Exec].Add(s.Exec)
			for i, part := range s.Parts {
				got[c][int(profile.Enter)+i].Add(part)
			}
		}
	}
	return got, wrong
}

// seen returns the figures without those that were estimated.
func seen(s *profile.ThreadStats) (out sums) {
	for i, part := range s.Parts() {
		out[i] = *part
		if s.Estimate != nil {
			e := s.Estimate.Parts()[i]
			out[i].T, out[i].C = out[i].T-e.T, out[i].C-e.C
		}
	}
	return out
}
