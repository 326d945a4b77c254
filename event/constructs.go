package event

import (
	"slices"
	"strings"
)

// Constructs is a set of constructs. NoConstruct may be in it: libomp's
// reductions, whose construct the engine tells.
type Constructs uint64

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
