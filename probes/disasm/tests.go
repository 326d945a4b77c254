package disasm

import "golang.org/x/arch/x86/x86asm"

// TestsForZero returns the register of an instruction test r, r: it tests whether the register, or
// its low part, is zero. A jump by Equal or NotEqual may follow.
func (i Inst) TestsForZero() (Reg, bool) {
	d, ok := i.X86()
	if !ok || d.Op != x86asm.TEST || d.Args[0] != d.Args[1] {
		return NoReg, false
	}
	r, ok := d.Args[0].(x86asm.Reg)
	if !ok || r >= x86asm.AH && r <= x86asm.BH {
		return NoReg, false
	}
	n, _ := RegX86(r)
	return n, n != NoReg
}

// KeepsFlags reports whether an instruction is known not to change the flags. Compilers schedule
// such instructions between a test, or an atomic, and its jump.
func (i Inst) KeepsFlags() bool {
	d, ok := i.X86()
	if !ok {
		return false
	}
	switch d.Op {
	case x86asm.MOV, x86asm.LEA, x86asm.NOP, x86asm.MOVSXD, x86asm.MOVZX, x86asm.MOVSX:
		return true
	}
	return false
}

// Compares reports whether an instruction only compares, as cmp and test do.
func (i Inst) Compares() bool {
	d, ok := i.X86()
	return ok && (d.Op == x86asm.CMP || d.Op == x86asm.TEST)
}
