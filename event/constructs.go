package event

import (
	"slices"
	"strings"
)

// Constructs is a set of constructs. NoConstruct may be in it: libomp's
// reductions, whose construct the engine tells.
type Constructs uint64

// A set has a bit for each construct.
var _ [64 - numConstructs]struct{}

// AllConstructs returns every construct, in the order of reports.
func AllConstructs() (all []Construct) {
	for c := NoConstruct + 1; c < numConstructs; c++ {
		all = append(all, c)
	}
	return all
}

// SetOf returns the set of some constructs.
func SetOf(cs ...Construct) (s Constructs) {
	for _, c := range cs {
		s |= 1 << c
	}
	return s
}

// Has tells whether a construct is in the set.
func (s Constructs) Has(c Construct) bool { return s>>c&1 != 0 }

// MarshalText writes the constructs' names, so that what is recorded does not
// depend on their numbers.
func (s Constructs) MarshalText() ([]byte, error) {
	var names []string
	for c := range numConstructs {
		if s.Has(c) {
			names = append(names, c.String())
		}
	}
	return []byte(strings.Join(names, ",")), nil
}

// UnmarshalText reads what MarshalText wrote.
func (s *Constructs) UnmarshalText(b []byte) error {
	*s = 0
	if len(b) == 0 {
		return nil
	}
	for _, name := range slices.Collect(strings.SplitSeq(string(b), ",")) {
		c, ok := ParseConstruct(name)
		if !ok {
			return &UnknownNameError{Kind: "construct", Name: name}
		}
		*s |= SetOf(c)
	}
	return nil
}
