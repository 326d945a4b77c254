package disasm

import "golang.org/x/arch/x86/x86asm"

// CompareAndSwaps reports whether an instruction writes memory only if the memory holds an expected
// value, and sets the zero flag accordingly.
func (i Inst) CompareAndSwaps() bool {
	d, ok := i.X86()
	return ok && (d.Op == x86asm.CMPXCHG || d.Op == x86asm.CMPXCHG8B || d.Op == x86asm.CMPXCHG16B)
}

// Exchanges reports whether an instruction is an xchg with memory, which is
// atomic without a lock prefix.
func (i Inst) Exchanges() bool {
	d, ok := i.X86()
	if !ok || d.Op != x86asm.XCHG {
		return false
	}
	_, first := d.Args[0].(x86asm.Mem)
	_, second := d.Args[1].(x86asm.Mem)
	return first || second
}

// SameMemory reports whether two instructions name the same place in memory, provided that no
// register in that name changes in between.
func (i Inst) SameMemory(j Inst) bool {
	a, ok := i.memory()
	b, okb := j.memory()
	return ok && okb && a == b
}

// memory returns the place in memory that an instruction names. A place relative to the instruction
// pointer is returned as an address.
func (i Inst) memory() (m x86asm.Mem, ok bool) {
	d, ok := i.X86()
	if !ok {
		return m, false
	}
	for _, a := range d.Args {
		if m, ok = a.(x86asm.Mem); ok {
			if m.Base == x86asm.RIP {
				m.Disp += int64(i.Next())
			}
			return m, true
		}
	}
	return m, false
}
