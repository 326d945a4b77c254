// Package samples holds samples by region and stack. Their number is bounded.
package samples

import (
	"encoding/binary"
	"fmt"

	"ompp-attach/attribution/tree"
)

// MaxStackBytes bounds the memory of different stacks: 100 000 stacks of 20 frames.
const MaxStackBytes = 16 << 20

// maxPlaces bounds the number of different combinations of thread, region and stack: some 60 MB,
// and about 1 MB of the recorded profile.
const maxPlaces = 1 << 18

// Store holds samples by region and stack. The zero value holds none.
type Store struct {
	stackOf map[string]int32 // index in Stacks, by the stack's addresses
	Stacks  []string
	bytes   int
	// Number of samples whose callers were left out, because there were too many stacks.
	cut    uint64
	taken  uint64
	places int
}

// Take counts a sample, and returns the number of its stack.
func (s *Store) Take(stack []uint64) int32 {
	s.taken++
	return s.intern(stack)
}

// Add adds a sample to a node. When there are too many places, new ones keep only their
// innermost address.
func (s *Store) Add(n *tree.Node, id tree.SampleID, weight uint64) {
	if _, known := n.Samples[id]; !known {
		const addr = 8
		if of := s.Stacks[id.Stack]; s.places >= maxPlaces && len(of) > addr {
			id.Stack = s.intern([]uint64{binary.LittleEndian.Uint64([]byte(of[:addr]))})
			s.cut++
		}
		s.places++
	}
	n.Samples.Add(id, tree.SampleSum{Count: 1, Weight: weight})
}

// intern returns the number of a stack. When there are too many stacks, new ones keep only their
// innermost address.
func (s *Store) intern(stack []uint64) int32 {
	if s.stackOf == nil {
		s.stackOf = map[string]int32{}
	}
	b := make([]byte, 0, 512)
	for _, addr := range stack {
		b = binary.LittleEndian.AppendUint64(b, addr)
	}
	n, known := s.stackOf[string(b)]
	if known {
		return n
	}
	if s.bytes += len(b); s.bytes > MaxStackBytes && len(stack) > 1 {
		s.bytes -= len(b)
		s.cut++
		return s.intern(stack[:1])
	}
	n = int32(len(s.Stacks))
	s.Stacks = append(s.Stacks, string(b))
	s.stackOf[s.Stacks[n]] = n
	return n
}

// Note returns the warning about samples whose callers were left out, if there are any.
func (s *Store) Note() []string {
	if s.cut == 0 {
		return nil
	}
	return []string{fmt.Sprintf("More different call stacks were sampled than could be kept: of %d samples only the innermost function is known.", s.cut)}
}
