package debuginfo

import (
	"bytes"
	"debug/dwarf"
	"sort"
	"sync"
)

// entries gives access to the entries of units. debug/dwarf parses the abbreviation tables of all
// units before it gives the first entry. For a C library, this takes half of the time in which its
// debug file is loaded, although few of its units are ever asked for. So at first a unit is read by
// itself: all tables but its own are made to look empty. After mostSingle such units, all units are
// read.
type entries struct {
	read     func(abbrev []byte) *dwarf.Data // nil: they cannot be read
	abbrev   []byte
	units    []unitStart // of all kinds, by offset
	oneByOne bool        // units may be read one by one

	mu     sync.Mutex
	some   map[int]*dwarf.Data // of units that were asked for, by index in units
	single int                 // how many were read one by one after begin
	all    *dwarf.Data         // nil: not read
	// emptied is a copy of abbrev. In it, all tables look empty, except those that are being read.
	emptied []byte
}

// Units are read one by one if .debug_abbrev has a size between these two. A smaller section is
// read whole within a few milliseconds. A larger one takes as long to copy for one unit.
const (
	leastAbbrev = 64 << 10
	mostAbbrev  = 4 << 20
)

// mostSingle bounds how many units are read one by one. Each takes a twentieth of the time that all
// units take.
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

// reader returns a reader at the entry at an offset. When a reader first comes to a unit,
// debug/dwarf notes the unit's bases in data that all readers share. So readers are placed under
// the lock.
func (s *entries) reader(off dwarf.Offset) *dwarf.Reader {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.data(off).Reader()
	r.Seek(off)
	return r
}

// ranges returns the code of an entry. Ranges of DWARF 5 are relative to bases of the unit, which
// debug/dwarf learns when a reader first comes to the unit. So a reader is placed at the entry
// first.
func (s *entries) ranges(e *dwarf.Entry) ([][2]uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.data(e.Offset)
	d.Reader().Seek(e.Offset)
	return d.Ranges(e)
}

// at returns the data in which the entry at an offset can be read.
func (s *entries) at(off dwarf.Offset) *dwarf.Data {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.data(off)
}

// whole reads all units at once, for callers that will ask for all of them.
func (s *entries) whole() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readAll()
}

// data is the method at, called under the lock.
func (s *entries) data(off dwarf.Offset) *dwarf.Data {
	if s.oneByOne && s.all == nil {
		i := sort.Search(len(s.units), func(i int) bool { return s.units[i].header > uint64(off) }) - 1
		if s.some[i] == nil && i >= 0 && s.single < mostSingle {
			s.single++
			s.together([]int{i})
		}
		if d := s.some[i]; d != nil {
			return d
		}
	}
	s.readAll()
	return s.all
}

func (s *entries) readAll() {
	if s.all != nil {
		return
	}
	if s.all = s.read(s.abbrev); s.all == nil {
		s.all = &dwarf.Data{} // later questions for units find none
	}
	s.some, s.emptied = nil, nil
}

// together reads some units, given by their indices, with only their own abbreviations.
func (s *entries) together(units []int) {
	if s.emptied == nil {
		s.emptied = bytes.Clone(s.abbrev)
		for _, u := range s.units {
			s.setFirstByte(u, 0)
		}
	}
	for _, i := range units {
		if at := s.units[i].abbrev; at < uint64(len(s.abbrev)) {
			s.setFirstByte(s.units[i], s.abbrev[at])
		}
	}
	if d := s.read(s.emptied); d != nil {
		for _, i := range units {
			s.some[i] = d
		}
	}
	for _, i := range units { // debug/dwarf has read the tables, and does not look at them again
		s.setFirstByte(s.units[i], 0)
	}
}

// setFirstByte sets the first byte of a unit's table. 0 ends the table, which makes it look empty.
func (s *entries) setFirstByte(u unitStart, b byte) {
	if u.abbrev < uint64(len(s.emptied)) {
		s.emptied[u.abbrev] = b
	}
}
