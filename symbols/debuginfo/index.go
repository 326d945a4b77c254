package debuginfo

import (
	"cmp"
	"debug/dwarf"
	"encoding/binary"
	"slices"
	"sort"
	"sync"
)

// Range is a half-open range of vaddrs.
type Range struct{ Lo, Hi uint64 }

// Contains reports whether v lies in r.
func (r Range) Contains(v uint64) bool { return r.Lo <= v && v < r.Hi }

// Symbols are the symbol tables of a file. They have the names that the DWARF lacks.
type Symbols interface {
	// FuncAt returns the name and start of the function that covers vaddr.
	FuncAt(vaddr uint64) (name string, start uint64, ok bool)
	// FunctionsIn visits the functions that start in a range. It visits an address with several
	// names once.
	FunctionsIn(r Range, visit func(name string, code Range))
}

// Sections are the debug sections that Load may ask for, without the prefix .debug_. The first is
// the largest.
var Sections = []string{"info", "line", "abbrev", "ranges", "str", "aranges", "addr", "line_str", "str_offsets", "rnglists"}

// Input has the parts of a file from which the debug information is read.
type Input struct {
	Section func(name string) []byte // the contents of one of Sections; nil: the file lacks it
	// Shared: parts of the information are in a file that several programs share (dwz -m).
	Shared  bool
	Text    []Range // code of the file: other rows are of functions that the linker dropped
	Symbols Symbols
}

// Index knows which compile unit covers an address. A unit's line table and functions are parsed
// when an address in it is first asked for. All methods are safe for concurrent use.
type Index struct {
	lines      []byte // .debug_line
	entries    *entries
	symbols    Symbols
	text       []Range     // see Input
	units      []*unit     // by offset
	unitRanges []unitRange // by address

	elsewhere string // see the method Elsewhere
}

type unitRange struct {
	Range
	unit *unit
}

// unit is one compile unit.
type unit struct {
	index *Index
	die   dwarf.Offset // of the unit's first entry
	entry func() *dwarf.Entry
	lines func() *lineTable
	funcs func() []function
	code  func() []codeOf
}

// Load reads the debug sections. It returns nil if there is no usable DWARF. debug/dwarf is known
// to panic on corrupt input. That must not end a measurement.
func Load(in *Input) (x *Index) {
	defer func() {
		if recover() != nil {
			x = nil
		}
	}()
	info, lines := in.Section("info"), in.Section("line")
	starts, split := unitStarts(info)
	read := func(abbrev []byte) *dwarf.Data { return readData(in, abbrev) }
	x = &Index{lines: lines, symbols: in.Symbols, text: in.Text,
		entries: &entries{read: read, abbrev: in.Section("abbrev"), units: starts, some: map[int]*dwarf.Data{}}}
	switch {
	case split:
		x.elsewhere = "in .dwo files (-gsplit-dwarf)"
	case in.Shared:
		x.elsewhere = "in a file shared with others (dwz -m)"
	}
	inAranges := map[uint64]bool{}
	byHeader := map[uint64]*unit{}
	for _, s := range starts {
		if !s.compiled {
			continue
		}
		u := x.newUnit(s.die)
		x.units = append(x.units, u)
		byHeader[s.header] = u
	}
	// GCC writes .debug_aranges, so its units need not be read for their ranges. Clang does not
	// write it. So units that are not listed there are read.
	readAranges(in.Section("aranges"), func(header uint64, r Range) {
		if u := byHeader[header]; u != nil {
			inAranges[header] = true
			x.unitRanges = append(x.unitRanges, unitRange{r, u})
		}
	})
	if !x.entries.begin(func(s unitStart) bool { return s.compiled && !inAranges[s.header] }) {
		return nil
	}
	for _, s := range starts {
		u := byHeader[s.header]
		if u == nil || inAranges[s.header] || len(x.unitRanges) > maxRanges {
			continue
		}
		for _, r := range x.ranges(u.entry()) {
			x.unitRanges = append(x.unitRanges, unitRange{r, u})
		}
	}
	x.unitRanges = slices.DeleteFunc(x.unitRanges, func(s unitRange) bool { return s.Lo >= s.Hi || !x.isText(s.Lo) })
	slices.SortStableFunc(x.unitRanges, func(a, b unitRange) int { return cmp.Compare(a.Lo, b.Lo) })
	return x
}

// readData reads the headers of all units, and the abbreviations.
func readData(in *Input, abbrev []byte) (d *dwarf.Data) {
	defer func() {
		if recover() != nil { // see Load
			d = nil
		}
	}()
	d, err := dwarf.New(abbrev, nil, nil, in.Section("info"), in.Section("line"), nil, in.Section("ranges"), in.Section("str"))
	if err != nil {
		return nil
	}
	for _, name := range []string{"addr", "line_str", "str_offsets", "rnglists"} {
		if b := in.Section(name); b != nil {
			if err := d.AddSection(".debug_"+name, b); err != nil {
				return nil
			}
		}
	}
	return d
}

// maxRanges bounds the ranges of all units, and the ranges of one unit's functions. In a corrupt
// file, thousands of entries may refer to the same long list. Programs of a gigabyte have a quarter
// of this bound.
const maxRanges = 1 << 22

func (x *Index) newUnit(die dwarf.Offset) *unit {
	u := &unit{index: x, die: die}
	u.entry = sync.OnceValue(func() (e *dwarf.Entry) {
		defer func() {
			if recover() != nil {
				e = nil
			}
		}()
		r := x.entries.reader(die)
		e, err := r.Next()
		if err != nil || e == nil || e.Tag != dwarf.TagCompileUnit && e.Tag != dwarf.TagSkeletonUnit {
			return nil
		}
		return e
	})
	u.lines = sync.OnceValue(u.loadLines)
	u.funcs = sync.OnceValue(u.loadFunctions)
	u.code = sync.OnceValue(u.loadCode)
	return u
}

func (x *Index) isText(v uint64) bool {
	return slices.ContainsFunc(x.text, func(r Range) bool { return r.Contains(v) })
}

// ranges returns the code of an entry; none for nil.
func (x *Index) ranges(e *dwarf.Entry) []Range {
	if e == nil {
		return nil
	}
	pairs, err := x.entries.ranges(e)
	if err != nil {
		return nil
	}
	var rs []Range
	for _, p := range pairs {
		if p[0] < p[1] {
			rs = append(rs, Range{p[0], p[1]})
		}
	}
	return rs
}

// Elsewhere says where debug information lies that the file and its separate debug file lack. It
// returns "" if they lack none. Without it there are still lines, and symbols tell the places where
// regions begin. Only the names of inlined functions are missing.
func (x *Index) Elsewhere() string {
	if x == nil {
		return ""
	}
	if x.elsewhere == "" && len(x.units) > 0 { // before DWARF 5 only entries tell where it is
		const gnuDwoName = dwarf.Attr(0x2130) // DW_AT_GNU_dwo_name
		if e := x.units[len(x.units)-1].entry(); e != nil && e.Val(gnuDwoName) != nil {
			return "in .dwo files (-gsplit-dwarf)"
		}
	}
	return x.elsewhere
}

// unitAt returns the unit whose code covers vaddr, or nil.
func (x *Index) unitAt(vaddr uint64) *unit {
	if x == nil {
		return nil
	}
	i := sort.Search(len(x.unitRanges), func(i int) bool { return x.unitRanges[i].Lo > vaddr })
	// Ranges of units do not nest. But the range of a function that the linker dropped may overlap
	// others. A few steps back find the unit then.
	for n := 0; i > 0 && n < 8; n++ {
		i--
		if x.unitRanges[i].Contains(vaddr) {
			return x.unitRanges[i].unit
		}
	}
	return nil
}

// unitOf returns the unit in which the entry at off is.
func (x *Index) unitOf(off dwarf.Offset) *unit {
	i := sort.Search(len(x.units), func(i int) bool { return x.units[i].die > off })
	if i == 0 {
		return nil
	}
	return x.units[i-1]
}

// unitStart is the place of a unit: its header and its first entry in .debug_info.
type unitStart struct {
	header   uint64
	die      dwarf.Offset
	abbrev   uint64 // of its table, in .debug_abbrev
	compiled bool   // it may have code
}

// unitStarts walks the unit headers (DWARF 5, 7.5.1). debug/dwarf would find the next unit only by
// walking all entries of the last one. split says that some units are skeletons: their contents are
// in other files.
func unitStarts(info []byte) (starts []unitStart, split bool) {
	for at := uint64(0); at+12 <= uint64(len(info)); {
		b := info[at:]
		size, head, offsetSize := uint64(binary.LittleEndian.Uint32(b)), uint64(4), uint64(4)
		if size == 0xffffffff { // 64-bit DWARF
			size, head, offsetSize = binary.LittleEndian.Uint64(b[4:]), 12, 8
		}
		if size > uint64(len(b))-head || size < 3 {
			break
		}
		version := binary.LittleEndian.Uint16(b[head:])
		die := at + head + 2 + offsetSize + 1      // version, abbreviations, address size
		const compile, partial, skeleton = 1, 3, 4 // DW_UT_*
		start := unitStart{header: at, compiled: true}
		table := b[head+2:]
		if version >= 5 {
			unitType := b[head+2]
			start.compiled = unitType == compile || unitType == partial || unitType == skeleton
			table = b[min(head+4, uint64(len(b))):]
			die++
			if unitType == skeleton {
				die += 8 // the number of its .dwo file
				split = true
			}
		}
		switch {
		case offsetSize == 8 && len(table) >= 8:
			start.abbrev = binary.LittleEndian.Uint64(table)
		case offsetSize == 4 && len(table) >= 4:
			start.abbrev = uint64(binary.LittleEndian.Uint32(table))
		}
		start.die = dwarf.Offset(die)
		starts = append(starts, start)
		at += head + size
	}
	return starts, split
}

// readAranges decodes .debug_aranges (DWARF 5, 6.1.2) for 8-byte addresses:
// per unit a header padded to 16 bytes, then (address, length) up to (0, 0).
func readAranges(b []byte, visit func(unitHeader uint64, r Range)) {
	for len(b) >= 16 {
		size := uint64(binary.LittleEndian.Uint32(b))
		if size == 0xffffffff || size > uint64(len(b))-4 || size < 12 {
			return
		}
		set := b[:4+size]
		b = b[4+size:]
		header := uint64(binary.LittleEndian.Uint32(set[6:]))
		if addressSize, segmentSize := set[10], set[11]; addressSize != 8 || segmentSize != 0 {
			continue
		}
		for set = set[16:]; len(set) >= 16; set = set[16:] {
			lo, n := binary.LittleEndian.Uint64(set), binary.LittleEndian.Uint64(set[8:])
			if lo == 0 && n == 0 {
				break
			}
			visit(header, Range{lo, lo + n})
		}
	}
}
