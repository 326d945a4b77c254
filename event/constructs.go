package event

import (
	"slices"
	"strings"
)

// Constructs is a set of constructs, and of kinds of levels (LevelKinds).
type Constructs uint64

// AllConstructs returns every construct that a region can have, in the order of reports.
func AllConstructs() (all []Construct) {
	for c := range numConstructs {
		if table[c].Form != nil {
			all = append(all, c)
		}
	}
	return all
}

// SetOf returns the set of the given constructs.
func SetOf(cs ...Construct) (s Constructs) {
	for _, c := range cs {
		s |= 1 << c
	}
	return s
}

// Has tells whether a construct is in the set.
func (s Constructs) Has(c Construct) bool { return s>>c&1 != 0 }

// MarshalText writes the names of the constructs, separated by commas, so that recorded files do
// not depend on their numbers. It never fails.
func (s Constructs) MarshalText() ([]byte, error) {
	var names []string
	for c := range numConstructs {
		if s.Has(c) {
			names = append(names, c.String())
		}
	}
	return []byte(strings.Join(s.kindNames(names), ",")), nil
}

// UnmarshalText reads a text that MarshalText wrote. For an unknown name it returns an
// UnknownNameError.
func (s *Constructs) UnmarshalText(b []byte) error {
	*s = 0
	if len(b) == 0 {
		return nil
	}
	for _, name := range slices.Collect(strings.SplitSeq(string(b), ",")) {
		c, ok := ParseConstruct(name)
		if !ok {
			c, ok = parseKind(name)
		}
		if !ok {
			return &UnknownNameError{Kind: "construct", Name: name}
		}
		*s |= SetOf(c)
	}
	return nil
}
