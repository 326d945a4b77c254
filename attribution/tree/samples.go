package tree

import "maps"

// SampleID is what equal samples of a node have in common.
type SampleID struct {
	Seat        int
	Tid         uint32 // of a thread whose seat is not known yet
	Phase       string
	Stack       int32
	Kernel, Cut bool
}

// SampleSum is a number of equal samples, and the sum of their weights.
type SampleSum struct{ Count, Weight uint64 }

// Sums holds the samples of one node.
type Sums map[SampleID]SampleSum

// Add adds samples that are equal.
func (s *Sums) Add(id SampleID, n SampleSum) {
	if *s == nil {
		*s = Sums{}
	}
	was := (*s)[id]
	(*s)[id] = SampleSum{was.Count + n.Count, was.Weight + n.Weight}
}

// AddAll adds the samples of another node.
func (s *Sums) AddAll(o Sums) {
	for id, n := range o {
		s.Add(id, n)
	}
}

// Own replaces the samples by a copy of their own (see deepcopy.Map).
func (s *Sums) Own() { *s = maps.Clone(*s) }
