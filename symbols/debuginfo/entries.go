package debuginfo

import (
	"bytes"
	"debug/dwarf"
	"sort"
	"sync"
)

// entries gives access to the entries of units. debug/dwarf reads the abbreviations of all units
// before it gives the first entry: half of the time that a C library with its debug file takes. Few
// of its units are ever asked for. So a unit's entries are read with its own abbreviations alone,
// while the tables of all others are made to look empty. If more units are asked for, all are read.
type entries struct {
	read     func(abbrev []byte) *dwarf.Data // nil: they cannot be read
	abbrev   []byte
	units    []unitStart // of all kinds, by offset
	oneByOne bool        // otherwise all units are read at once

	mu     sync.Mutex
	some   map[int]*dwarf.Data // of units that were asked for, by index in units
	single int                 // how many were read one by one
	all    *dwarf.Data         // nil: not read
	// A copy of abbrev in which all tables are empty, but for those that are being read.
	emptied []byte
}

// Sizes of .debug_abbrev between which units are read one by one. If it is smaller, reading all
// takes a few milliseconds. If it is larger, so does copying it for one unit.
const (
	leastAbbrev = 64 << 10
	mostAbbrev  = 4 << 20
)

// mostSingle bounds how many units are read one by one. Each takes a twentieth of the time for all.
const mostSingle = 8

// begin reads the units that are asked for first, or all. ok is false if they cannot be read.
func (s *entries) begin(first func(unitStart) bool) (ok bool) {
	var units []int
	for i, u := range s.units {
		if first(u) {
			units = append(units, i)
		}
	}
	if n := len(s.abbrev); n < leastAbbrev || n > mostAbbrev || len(units) > len(s.units)/4 {
		s.all = s.read(s.abbrev)
		return s.all != nil
	}
	s.oneByOne = true
	s.together(units)
	return len(units) == 0 || s.some[units[0]] != nil
}

// at returns the data in which the entry at an offset can be read.
func (s *entries) at(off dwarf.Offset) *dwarf.Data {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all != nil {
		return s.all
	}
	if s.oneByOne {
		i := sort.Search(len(s.units), func(i int) bool { return s.units[i].header > uint64(off) }) - 1
		if s.some[i] == nil && i >= 0 && s.single < mostSingle {
			s.single++
			s.together([]int{i})
		}
		if d := s.some[i]; d != nil {
			return d
		}
	}
	if s.all = s.read(s.abbrev); s.all == nil {
		s.all = &dwarf.Data{} // whoever asks for a unit is told that there is none
	}
	s.some, s.emptied = nil, nil
	return s.all
}

// together reads some units, given by their indices, with their own abbreviations alone.
func (s *entries) together(units []int) {
	if s.emptied == nil {
		s.emptied = bytes.Clone(s.abbrev)
		for _, u := range s.units {
			s.begins(u, 0) // this ends a table
		}
	}
	for _, i := range units {
		if at := s.units[i].abbrev; at < uint64(len(s.abbrev)) {
			s.begins(s.units[i], s.abbrev[at])
		}
	}
	if d := s.read(s.emptied); d != nil {
		for _, i := range units {
			s.some[i] = d
		}
	}
	for _, i := range units { // debug/dwarf has read the tables, and does not look again
		s.begins(s.units[i], 0)
	}
}

// begins sets the first byte of a unit's table.
func (s *entries) begins(u unitStart, with byte) {
	if u.abbrev < uint64(len(s.emptied)) {
		s.emptied[u.abbrev] = with
	}
}
