package symbols

import "debug/elf"

// CodeSegment returns the addresses at which the object's code is loaded, and where the code begins
// in the file. Both are in whole pages, as in a process's mapping.
func (o *Object) CodeSegment() (lo, hi, fileOffset uint64) {
	const page = 4096 // linkers align segments to this size, or to a multiple of it
	for _, p := range o.file.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 {
			into := p.Vaddr % page
			return p.Vaddr - into, p.Vaddr + p.Memsz, p.Off - min(into, p.Off)
		}
	}
	return 0, 0, 0
}
