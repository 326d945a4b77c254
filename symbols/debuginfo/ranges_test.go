package debuginfo

import (
	"encoding/binary"
	"runtime"
	"testing"
)

// TestManyRanges: many entries that refer to the same long list of ranges take few bytes, but would
// give very many ranges.
func TestManyRanges(t *testing.T) {
	const functions, ranges = 20000, 20000
	// DWARF 4: a unit whose children are subprograms of 4 bytes each.
	abbrev := []byte{1, 0x11, 1, 0, 0, 2, 0x2e, 0, 0x55, 0x17, 0, 0, 0}
	info := []byte{0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, 1}
	for range functions {
		info = append(info, 2, 0, 0, 0, 0)
	}
	info = append(info, 0)
	binary.LittleEndian.PutUint32(info, uint32(len(info)-4))
	var list []byte
	for i := range uint64(ranges) {
		list = binary.LittleEndian.AppendUint64(list, 0x1000+i*16)
		list = binary.LittleEndian.AppendUint64(list, 0x1008+i*16)
	}
	list = append(list, make([]byte, 16)...)
	sections := map[string][]byte{"abbrev": abbrev, "info": info, "ranges": list, "line": {0, 0, 0, 0}}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	x := Load(&Input{Section: func(name string) []byte { return sections[name] }, Symbols: noSymbols{}})
	if x == nil || len(x.units) != 1 {
		t.Fatalf("the unit is not found: %+v", x)
	}
	fs := x.units[0].funcs()
	runtime.ReadMemStats(&after)
	sum := 0
	for _, f := range fs {
		sum += len(f.ranges)
	}
	if alloc := after.TotalAlloc - before.TotalAlloc; sum > maxRanges+ranges || alloc > 1<<30 {
		t.Errorf("%d functions: %d ranges, %d MiB allocated", len(fs), sum, alloc>>20)
	}
	if len(fs) == 0 {
		t.Error("no function is left")
	}
}

// noSymbols is a symbol table without symbols.
type noSymbols struct{}

func (noSymbols) FuncAt(uint64) (name string, start uint64, ok bool) { return "", 0, false }
func (noSymbols) FunctionsIn(Range, func(name string, code Range))   {}
