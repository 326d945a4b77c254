package symbols

import (
	"debug/elf"
	"encoding/binary"
	"slices"
)

// Defines reports, for each of the names, whether the file defines a function of that name (as
// Symbol would find it). It only reads through the symbol tables. A list of their symbols would
// take long in a large program that is linked to a runtime, but contains none of its functions.
func (o *Object) Defines(names ...string) []bool {
	found := make([]bool, len(names))
	w := newWanted(names)
	for _, t := range []rawSymbols{o.symbolTable(), o.dynamicTable()} {
		strs := t.names()
		t.each(func(entry []byte) {
			if n := w.find(strs, binary.LittleEndian.Uint32(entry)); n >= 0 && isFunction(entry) && isDefined(entry) {
				found[n] = true
			}
		})
	}
	return found
}

// isFunction reports whether an entry of a symbol table is a function's.
func isFunction(entry []byte) bool {
	typ := elf.ST_TYPE(entry[4])
	return typ == elf.STT_FUNC || typ == elf.STT_GNU_IFUNC
}

// wanted is a set of names to look for among many others.
type wanted struct {
	names []string
	heads [1 << 16 / 64]uint64 // the set of their first two bytes: hardly any other name begins so
}

func newWanted(names []string) *wanted {
	w := &wanted{names: names}
	for _, name := range names {
		for _, end := range []byte{0, '@'} {
			if b := append([]byte(name), end); len(b) > 1 {
				head := binary.LittleEndian.Uint16(b)
				w.heads[head/64] |= 1 << (head % 64)
			}
		}
	}
	return w
}

// find returns the index of the name at a place in a string table; -1: none of the names is there.
func (w *wanted) find(table string, at uint32) int {
	if int64(at)+2 > int64(len(table)) {
		return -1
	}
	head := uint16(table[at]) | uint16(table[at+1])<<8
	if w.heads[head/64]>>(head%64)&1 == 0 {
		return -1
	}
	return slices.Index(w.names, nameAt(table, at))
}

// named visits the functions that have one of the names.
func (o *Object) named(names []string, visit func(name string, vaddr uint64)) {
	t, w := &o.symbols().funcs, newWanted(names)
	for i := range t.sorted {
		s, table := &t.sorted[i], t.names[0]
		if s.dynamic {
			table = t.names[1]
		}
		if n := w.find(table, s.name); n >= 0 {
			visit(names[n], s.addr)
		}
	}
}
