package insn

import "golang.org/x/arch/x86/x86asm"

// TestsForZero returns the register of which an instruction tests whether it, or
// its low part, is zero, for a conditional jump by Equal or NotEqual: test r, r.
func (i Inst) TestsForZero() (Reg, bool) {
	d, ok := i.x86()
	if !ok || d.Op != x86asm.TEST || d.Args[0] != d.Args[1] {
		return NoReg, false
	}
	r, ok := d.Args[0].(x86asm.Reg)
	if !ok || r >= x86asm.AH && r <= x86asm.BH {
		return NoReg, false
	}
	n, _ := regX86(r)
	return n, n != NoReg
}

// KeepsFlags reports whether an instruction is known to leave the flags as they
// are; compilers schedule such between a test and its jump.
func (i Inst) KeepsFlags() bool {
	d, ok := i.x86()
	return ok && keepsFlags(d.Op)
}

// TestBefore finds the instruction by whose test for zero the conditional jump at
// the end of a block goes one way or the other, and the register.
func (b *Block) TestBefore() (test Inst, r Reg, ok bool) {
	if jump := b.Last(); jump.Kind != Jcc || jump.Cond != Equal && jump.Cond != NotEqual {
		return test, NoReg, false
	}
	for k := len(b.Insts) - 2; k >= 0; k-- {
		if r, ok := b.Insts[k].TestsForZero(); ok {
			return b.Insts[k], r, true
		}
		if !b.Insts[k].KeepsFlags() {
			break
		}
	}
	return test, NoReg, false
}
