package symbols

import (
	"debug/elf"
	"encoding/binary"
	"unsafe"
)

// rawSymbols is a symbol table as it is in a file. The zero value has no entries. elf.File.Symbols
// is not used: before the first lookup, it would allocate a string for each symbol, of which there
// may be a million.
type rawSymbols struct {
	in    *Object
	table *elf.Section
}

// symbolTable returns the full symbol table, or that of the separate debug file if the file has
// none.
func (o *Object) symbolTable() rawSymbols {
	if t := o.file.SectionByType(elf.SHT_SYMTAB); t != nil {
		return rawSymbols{o, t}
	}
	if d := o.debug(); d != nil {
		return rawSymbols{d, d.file.SectionByType(elf.SHT_SYMTAB)}
	}
	return rawSymbols{}
}

// dynamicTable returns the table of dynamic symbols.
func (o *Object) dynamicTable() rawSymbols {
	return rawSymbols{o, o.file.SectionByType(elf.SHT_DYNSYM)}
}

// names returns the string table of the symbols' names. The one of the full symbol table is kept,
// because it is large and needed twice.
func (r rawSymbols) names() string {
	switch {
	case r.table == nil:
		return ""
	case r.table.Type == elf.SHT_SYMTAB:
		return r.in.fullNames()
	}
	return r.readNames()
}

func (r rawSymbols) readNames() string {
	if r.table == nil || int(r.table.Link) >= len(r.in.file.Sections) {
		return ""
	}
	s := r.in.file.Sections[r.table.Link]
	if s.Type == elf.SHT_NOBITS {
		return ""
	}
	b := r.in.readAt(s.Offset, s.FileSize)
	return unsafe.String(unsafe.SliceData(b), len(b)) // b is used nowhere else
}

// bytes returns how many bytes of the table are in the file.
func (r rawSymbols) bytes() uint64 {
	if r.table == nil || r.table.Type == elf.SHT_NOBITS || r.table.Offset >= uint64(r.in.size) {
		return 0
	}
	return min(r.table.FileSize, uint64(r.in.size)-r.table.Offset)
}

// count returns how many entries there are.
func (r rawSymbols) count() int { return int(r.bytes() / symbolSize) }

// each visits the entries (Elf64_Sym). An entry is overwritten after its visit.
func (r rawSymbols) each(visit func(entry []byte)) {
	const chunk = symbolSize << 12
	var b []byte
	for at, end := uint64(0), r.bytes()/symbolSize*symbolSize; at < end; at += chunk {
		b = r.in.readAtInto(b, r.table.Offset+at, min(chunk, end-at))
		for rest := b; len(rest) >= symbolSize; rest = rest[symbolSize:] {
			visit(rest[:symbolSize:symbolSize])
		}
	}
}

// isUndefined reports whether an entry refers to another file's symbol.
func isUndefined(entry []byte) bool {
	return elf.SectionIndex(binary.LittleEndian.Uint16(entry[6:])) == elf.SHN_UNDEF
}

// isDefined reports whether the file itself contains the thing that an entry names.
func isDefined(entry []byte) bool {
	section := elf.SectionIndex(binary.LittleEndian.Uint16(entry[6:]))
	return section != elf.SHN_UNDEF && section != elf.SHN_ABS
}
