package disasm

import "golang.org/x/arch/x86/x86asm"

// TestsForZero returns the register of an instruction test r, r: it tests whether the register, or
// its low part, is zero. A jump by Equal or NotEqual may follow.
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

// KeepsFlags reports whether an instruction is known not to change the flags. Compilers schedule
// such instructions between a test and its jump.
func (i Inst) KeepsFlags() bool {
	d, ok := i.x86()
	return ok && keepsFlags(d.Op)
}

// TestBefore finds the test for zero that decides the conditional jump at the end of a block, and
// the tested register.
func (b *Block) TestBefore() (test Inst, r Reg, ok bool) {
	if jump := b.Last(); jump.Control != Jcc || jump.Cond != Equal && jump.Cond != NotEqual {
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
