package debuginfo

import (
	"bytes"
	"debug/dwarf"
	"sort"
	"sync"
)

// entries gives access to the entries of units. debug/dwarf parses the abbreviation tables of all
// units before it gives the first entry. For a C library, that is half of the time to load its
// debug file, and few of its units are ever asked for. So a unit is read with its own table, while
// all other tables look empty. After mostSingle such units, all are read.
type entries struct {
	read     func(abbrev []byte) *dwarf.Data // nil: they cannot be read
	abbrev   []byte
	units    []unitStart // of all kinds, by offset
	oneByOne bool        // units may be read one by one

	mu     sync.Mutex
	some   map[int]*dwarf.Data // of units that were asked for, by index in units
	single int                 // how many were read one by one after begin
	all    *dwarf.Data         // nil: not read
	// A copy of abbrev in which all tables are empty, but for those that are being read.
	emptied []byte
}

// Sizes of .debug_abbrev between which units are read one by one. Reading a smaller section whole
// takes a few milliseconds only. Copying a larger one for a unit takes as long.
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

// reader returns a reader at the entry at an offset. debug/dwarf notes a unit's bases in the shared
// data when a reader first comes to the unit, so readers are placed under the lock.
func (s *entries) reader(off dwarf.Offset) *dwarf.Reader {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.data(off).Reader()
	r.Seek(off)
	return r
}

// at returns the data in which the entry at an offset can be read.
func (s *entries) at(off dwarf.Offset) *dwarf.Data {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.data(off)
}

// whole reads all units at once, for callers that will ask for each.
func (s *entries) whole() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readAll()
}

// data is at, under the lock.
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
		s.all = &dwarf.Data{} // whoever asks for a unit is told that there is none
	}
	s.some, s.emptied = nil, nil
}

// together reads some units, given by their indices, with their own abbreviations alone.
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
	for _, i := range units { // debug/dwarf has read the tables, and does not look again
		s.setFirstByte(s.units[i], 0)
	}
}

// setFirstByte sets the first byte of a unit's table: 0 ends the table, so that it looks empty.
func (s *entries) setFirstByte(u unitStart, b byte) {
	if u.abbrev < uint64(len(s.emptied)) {
		s.emptied[u.abbrev] = b
	}
}
