package symbols

import (
	"debug/elf"
	"encoding/binary"
	"slices"
	"sort"
)

// relocations says which values the loader will write to which addresses.
type relocations struct {
	slots map[uint64]string // GOT slot -> symbol it will point to
	stubs map[uint64]bool   // slots through which only stubs of the PLT jump
	// taken has the symbols with addresses that the loader writes not only for stubs.
	taken    map[string]bool
	pointers []pointer // sorted by slot
	tls      []TLSSlot
}

// pointer is a data slot and the vaddr that it will point to.
type pointer struct {
	slot, target uint64
	known        bool // false: the target is in another object
}

// TLSSlot is a GOT slot. The loader writes into it the distance of a thread-local variable from the
// thread pointer. This value is known only after relocation, so read the slot in the process.
type TLSSlot struct {
	VAddr  uint64 // of the slot
	Addend uint64 // offset of the variable in the object's thread-local block
}

func (o *Object) loadRelocations() *relocations {
	const entry = 24 // sizeof(Elf64_Rela)
	t := &relocations{slots: map[uint64]string{}, stubs: map[uint64]bool{}, taken: map[string]bool{}}
	dynamic := o.symbols().dynamic
	for _, s := range o.file.Sections {
		if s.Type != elf.SHT_RELA || s.Flags&elf.SHF_ALLOC == 0 {
			continue
		}
		for raw := o.section(s); len(raw) >= entry; raw = raw[entry:] {
			slot := binary.LittleEndian.Uint64(raw)
			info := binary.LittleEndian.Uint64(raw[8:])
			addend := binary.LittleEndian.Uint64(raw[16:])
			var sym dynSymbol
			if i := info >> 32; i < uint64(len(dynamic)) {
				sym = dynamic[i]
			}
			t.add(o.file.Machine, uint32(info), slot, addend, sym)
		}
	}
	slices.SortStableFunc(t.pointers, func(a, b pointer) int { return compare(a.slot, b.slot) })
	slices.SortFunc(t.tls, func(a, b TLSSlot) int { return compare(a.VAddr, b.VAddr) })
	return t
}

func (t *relocations) add(machine elf.Machine, typ uint32, slot, addend uint64, sym dynSymbol) {
	if sym.name != "" && (machine != elf.EM_X86_64 || elf.R_X86_64(typ) != elf.R_X86_64_JMP_SLOT) {
		t.taken[sym.name] = true
	}
	type kind int
	const (
		other kind = iota
		relative
		got
		symbolic
		tls
	)
	k := other
	if machine == elf.EM_X86_64 {
		switch elf.R_X86_64(typ) {
		case elf.R_X86_64_RELATIVE:
			k = relative
		case elf.R_X86_64_JMP_SLOT, elf.R_X86_64_GLOB_DAT:
			k = got
		case elf.R_X86_64_64:
			k = symbolic
		case elf.R_X86_64_TPOFF64:
			k = tls
		}
	} else {
		switch elf.R_AARCH64(typ) {
		case elf.R_AARCH64_RELATIVE:
			k = relative
		case elf.R_AARCH64_JUMP_SLOT, elf.R_AARCH64_GLOB_DAT:
			k = got
		case elf.R_AARCH64_ABS64:
			k = symbolic
		case elf.R_AARCH64_TLS_TPREL64:
			k = tls
		}
	}
	switch k {
	case relative:
		t.pointers = append(t.pointers, pointer{slot, addend, true})
	case got:
		if sym.name != "" {
			t.slots[slot] = sym.name
			t.stubs[slot] = machine == elf.EM_X86_64 && elf.R_X86_64(typ) == elf.R_X86_64_JMP_SLOT
		}
		t.pointers = append(t.pointers, pointer{slot, sym.value + addend, !sym.undef && sym.name != ""})
	case symbolic:
		t.pointers = append(t.pointers, pointer{slot, sym.value + addend, !sym.undef && sym.name != ""})
	case tls:
		t.tls = append(t.tls, TLSSlot{slot, sym.value + addend})
	}
}

// GOT returns the symbol with the address that the loader writes into the slot at vaddr. Code that
// was compiled with -fno-plt calls through such slots.
func (o *Object) GOT(vaddr uint64) (symbol string, ok bool) {
	symbol, ok = o.relocs().slots[vaddr]
	return symbol, ok
}

// Pointer returns the vaddr to which the 8 bytes of data at vaddr point. It is the target of a
// relocation. If there is no relocation, the bytes in the file count. This is so in fixed-address
// programs, and with compact relative relocations, which keep the target in place. ok is false if
// the target is in another object.
func (o *Object) Pointer(vaddr uint64) (target uint64, ok bool) {
	ps := o.relocs().pointers
	if i := sort.Search(len(ps), func(i int) bool { return ps[i].slot >= vaddr }); i < len(ps) && ps[i].slot == vaddr {
		return ps[i].target, ps[i].known
	}
	b := o.Read(vaddr, 8)
	if len(b) < 8 {
		return 0, false
	}
	return binary.LittleEndian.Uint64(b), true
}

// TLSOffsetSlots returns the slots that receive thread-pointer offsets
// (R_X86_64_TPOFF64, R_AARCH64_TLS_TPREL), sorted by vaddr.
func (o *Object) TLSOffsetSlots() []TLSSlot { return slices.Clone(o.relocs().tls) }
