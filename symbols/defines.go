package symbols

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"slices"
)

// Defines reports, of each of the names, whether a function of that name is
// defined: whether Symbol would find any. It reads the symbol tables through
// without making a list of them, which is what takes time in a large program
// that is linked to a runtime and contains none.
func (o *Object) Defines(names ...string) []bool {
	found := make([]bool, len(names))
	file, full := o.symbolTable()
	for _, t := range []struct {
		file *elf.File
		s    *elf.Section
	}{{file, full}, {o.file, o.file.SectionByType(elf.SHT_DYNSYM)}} {
		if t.s != nil && int(t.s.Link) < len(t.file.Sections) {
			definesIn(t.file, t.s, names, found)
		}
	}
	return found
}

func definesIn(f *elf.File, table *elf.Section, names []string, found []bool) {
	strs, err := f.Sections[table.Link].Data()
	if err != nil {
		return
	}
	at := map[uint32]int{} // names by their place in the string table
	for n, name := range names {
		for from := 0; ; from++ {
			k := bytes.Index(strs[from:], []byte(name))
			if k < 0 {
				break
			}
			from += k
			// The linker writes name@version or name@@version into .symtab.
			if end := from + len(name); end < len(strs) && (strs[end] == 0 || strs[end] == '@') {
				at[uint32(from)] = n
			}
		}
	}
	if len(at) == 0 {
		return
	}
	raw, err := table.Data()
	if err != nil {
		return
	}
	places := make([]uint32, 0, len(at))
	for place := range at {
		places = append(places, place)
	}
	lo, hi := slices.Min(places), slices.Max(places)
	for ; len(raw) >= symbolSize; raw = raw[symbolSize:] {
		place := binary.LittleEndian.Uint32(raw)
		if place < lo || place > hi {
			continue
		}
		if n, ok := at[place]; ok && definesFunction(raw) {
			found[n] = true
		}
	}
}

// definesFunction reports whether an entry of a symbol table (Elf64_Sym) is a
// function that is defined in the file.
func definesFunction(entry []byte) bool {
	section := elf.SectionIndex(binary.LittleEndian.Uint16(entry[6:]))
	typ := elf.ST_TYPE(entry[4])
	return section != elf.SHN_UNDEF && section != elf.SHN_ABS && (typ == elf.STT_FUNC || typ == elf.STT_GNU_IFUNC)
}
