package debuginfo

import (
	"encoding/binary"
	"fmt"
	"testing"
)

const (
	manyUnits = 40
	unlisted  = 39 // is not in .debug_aranges
	referring = 5  // the function of this unit refers to the next unit's
)

// sectionsOfMany makes debug sections of units with a function each: the function of unit i is
// named fi, and lies at 0x1000*(i+1). Each unit has abbreviations of its own.
func sectionsOfMany(listed bool) map[string][]byte {
	le := binary.LittleEndian
	var abbrev, info, aranges []byte
	function := 0 // offset of the entry of the function before
	for i := manyUnits - 1; i >= 0; i-- {
		table := len(abbrev)
		// A unit; subprograms with low_pc, high_pc, and a name or an abstract_origin (ref_addr).
		abbrev = append(abbrev, 1, 0x11, 1, 0x11, 0x01, 0x12, 0x07, 0, 0)
		abbrev = append(abbrev, 2, 0x2e, 0, 0x11, 0x01, 0x12, 0x07, 0x03, 0x08, 0, 0)
		abbrev = append(abbrev, 3, 0x2e, 0, 0x11, 0x01, 0x12, 0x07, 0x31, 0x10, 0, 0)
		for n := 4; n < 127; n++ { // in no entry
			abbrev = append(abbrev, byte(n), 0x2e, 0, 0x11, 0x01, 0x12, 0x07, 0x03, 0x08, 0x3a, 0x0b, 0x3b, 0x0b, 0, 0)
		}
		abbrev = append(abbrev, 0)
		header, at := len(info), uint64(0x1000*(i+1))
		code := func() {
			info = le.AppendUint64(info, at)
			info = le.AppendUint64(info, 0x100)
		}
		info = append(info, 0, 0, 0, 0, 4, 0)
		info = le.AppendUint32(info, uint32(table))
		info = append(info, 8, 1)
		code()
		if i == referring {
			info = append(info, 3)
			code()
			info = le.AppendUint32(info, uint32(function))
		} else {
			function = len(info)
			info = append(info, 2)
			code()
			info = append(info, fmt.Sprintf("f%d\x00", i)...)
		}
		info = append(info, 0)
		le.PutUint32(info[header:], uint32(len(info)-header-4))
		if i == unlisted || !listed {
			continue
		}
		aranges = append(aranges, 44, 0, 0, 0, 2, 0)
		aranges = le.AppendUint32(aranges, uint32(header))
		aranges = append(aranges, 8, 0, 0, 0, 0, 0)
		aranges = le.AppendUint64(aranges, at)
		aranges = le.AppendUint64(aranges, 0x100)
		aranges = append(aranges, make([]byte, 16)...)
	}
	return map[string][]byte{"abbrev": abbrev, "info": info, "line": {0, 0, 0, 0}, "aranges": aranges, "str": {0}}
}

// TestUnitsOneByOne: of a file with many abbreviations, only the units are read that are asked for,
// until many have been asked for. The answers are the same as if all were read at once.
func TestUnitsOneByOne(t *testing.T) {
	load := func(listed bool) *Index {
		sections := sectionsOfMany(listed)
		x := Load(&Input{Section: func(name string) []byte { return sections[name] }, Text: []Range{{0, 1 << 20}}, Symbols: noSymbols{}})
		if x == nil {
			t.Fatal("not loaded")
		}
		return x
	}
	x, whole := load(true), load(false)
	if whole.entries.all == nil || x.entries.all != nil || x.entries.single != 0 || len(x.entries.some) != 1 {
		t.Fatalf("at first all units were read: %t, %t; one by one: %d, at once: %d",
			whole.entries.all != nil, x.entries.all != nil, x.entries.single, len(x.entries.some))
	}
	function := func(x *Index, i int) string {
		places := x.Places(uint64(0x1000*(i+1)+8), "")
		if len(places) != 1 {
			return fmt.Sprint(places)
		}
		return places[0].Function
	}
	if got := function(x, unlisted); got != "f39" || x.entries.single != 0 {
		t.Errorf("the unit that was read at first: %s, %d units read one by one", got, x.entries.single)
	}
	if got := function(x, referring); got != "f6" || x.entries.single != 2 {
		t.Errorf("the function that refers to another unit's: %s, %d units read one by one", got, x.entries.single)
	}
	for i := range manyUnits {
		want := fmt.Sprintf("f%d", i)
		if i == referring {
			want = "f6"
		}
		if got, all := function(x, i), function(whole, i); got != want || all != want {
			t.Errorf("unit %d: %s; if all are read at once: %s", i, got, all)
		}
		if many := i >= mostSingle; many != (x.entries.all != nil) {
			t.Errorf("after unit %d: %d read one by one, all: %t", i, x.entries.single, x.entries.all != nil)
		}
	}
}
