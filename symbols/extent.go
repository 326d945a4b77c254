package symbols

import (
	"debug/elf"
	"encoding/binary"
	"slices"
	"sort"
)

// FuncRange returns the extent of the function that covers vaddr. It also knows local functions of
// stripped files, by their unwind information. Then the end may include the padding before the next
// function. Stripped static programs mostly lack the table for it: ok is false.
func (o *Object) FuncRange(vaddr uint64) (lo, hi uint64, ok bool) {
	section, ok := o.codeRange(vaddr)
	if !ok {
		return 0, 0, false
	}
	hi = section.Hi
	// The starts of functions are in the table of unwind information, which survives stripping, and
	// in the symbol tables.
	starts, known := o.starts(), o.symbols().funcs.sorted
	i := sort.Search(len(starts), func(i int) bool { return starts[i] > vaddr })
	k := sort.Search(len(known), func(k int) bool { return known[k].addr > vaddr })
	if i > 0 {
		lo = starts[i-1]
	}
	if k > 0 {
		lo = max(lo, known[k-1].addr)
	}
	if i+k == 0 || lo < section.Lo {
		return 0, 0, false
	}
	if i < len(starts) {
		hi = min(hi, starts[i])
	}
	if k < len(known) {
		hi = min(hi, known[k].addr)
	}
	if s, named := o.symbols().funcs.at(lo); named && s.addr == lo && s.size > 0 {
		hi = min(hi, lo+s.size)
	}
	return lo, hi, vaddr < hi
}

// codeRange returns the executable section that holds vaddr. If the file has no sections, it
// returns the segment.
func (o *Object) codeRange(vaddr uint64) (Range, bool) {
	for _, s := range o.file.Sections {
		r := Range{Lo: s.Addr, Hi: s.Addr + s.Size}
		if s.Flags&elf.SHF_EXECINSTR != 0 && s.Type == elf.SHT_PROGBITS && r.Contains(vaddr) {
			return r, true
		}
	}
	for _, p := range o.file.Progs {
		r := Range{Lo: p.Vaddr, Hi: p.Vaddr + p.Filesz}
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 && r.Contains(vaddr) {
			return r, true
		}
	}
	return Range{}, false
}

// unwindStarts returns the starts of functions, ascending. It reads the binary search table of
// .eh_frame_hdr (LSB 5.0, Core, 10.6.2). The section holds its version, three encodings, a pointer
// to .eh_frame, and a count. Pairs of (function start, unwind entry) follow, relative to the
// section.
func (o *Object) unwindStarts() []uint64 {
	const (
		udata4, sdata4   = 0x03, 0x0b // DW_EH_PE_*: how a value is stored
		dataRelative     = 0x30
		pcRelativeSdata4 = 0x1b
	)
	for _, p := range o.file.Progs {
		if p.Type != elf.PT_GNU_EH_FRAME {
			continue
		}
		b := o.readAt(p.Off, p.Filesz)
		if len(b) < 12 || b[0] != 1 || b[1] != pcRelativeSdata4 || b[2] != udata4 || b[3] != dataRelative|sdata4 {
			return nil // every linker writes these encodings; others would need a general decoder
		}
		n := uint64(binary.LittleEndian.Uint32(b[8:]))
		b = b[12:]
		n = min(n, uint64(len(b)/8))
		starts := make([]uint64, 0, n)
		for i := range n {
			rel := int32(binary.LittleEndian.Uint32(b[8*i:]))
			starts = append(starts, p.Vaddr+uint64(int64(rel)))
		}
		if !slices.IsSorted(starts) { // the table is made for binary search, so it should be sorted
			slices.Sort(starts)
		}
		return starts
	}
	return nil
}
