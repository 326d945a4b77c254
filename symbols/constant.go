package symbols

import (
	"debug/elf"
	"encoding/binary"
	"sort"
)

// FixedAddresses reports whether the object is a program that is linked for
// the addresses at which it runs.
func (o *Object) FixedAddresses() bool { return o.file.Type == elf.ET_EXEC }

// Constant returns n (up to 8) bytes of data as a number, if the data does not change after the
// loader has relocated it. relocated says that the load bias must be added. Constant does not
// return slots for symbols that the dynamic linker fills in: see GOT.
func (o *Object) Constant(vaddr uint64, n int) (value uint64, relocated, ok bool) {
	t := o.relocs()
	i := sort.Search(len(t.pointers), func(i int) bool { return t.pointers[i].slot+8 > vaddr })
	if i < len(t.pointers) && t.pointers[i].slot < vaddr+uint64(n) {
		p := t.pointers[i]
		_, slot := t.slots[p.slot]
		exact := p.slot == vaddr && n == 8 && p.known && !slot
		return p.target, true, exact && o.unchanging(vaddr, n)
	}
	b := o.Read(vaddr, n)
	if len(b) < n || n > 8 || !o.unchanging(vaddr, n) {
		return 0, false, false
	}
	var number [8]byte
	copy(number[:], b)
	return binary.LittleEndian.Uint64(number[:]), false, true
}

// unchanging reports whether memory is read-only, either from the start or after relocation. Memory
// that is read-only after relocation counts only if no compact relocations hide which bytes are
// addresses.
func (o *Object) unchanging(vaddr uint64, n int) bool {
	within := func(p *elf.Prog) bool { return vaddr >= p.Vaddr && vaddr+uint64(n) <= p.Vaddr+p.Memsz }
	const relr = 19 // SHT_RELR
	for _, p := range o.file.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_W == 0 && within(p) {
			return true
		}
		if p.Type == elf.PT_GNU_RELRO && within(p) && o.file.SectionByType(relr) == nil {
			return true
		}
	}
	return false
}
