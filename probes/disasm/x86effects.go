package disasm

import "golang.org/x/arch/x86/x86asm"

// argOfX86 gives the argument number of a register in encoding order.
var argOfX86 = [16]int{7: 0, 6: 1, 2: 2, 1: 3, 8: 4, 9: 5,
	0: -1, 3: -1, 4: -1, 5: -1, 10: -1, 11: -1, 12: -1, 13: -1, 14: -1, 15: -1}

// RegX86 returns a general register in encoding order (rax 0, rcx 1, ..., r15
// 15) and its size in bytes, or NoReg.
func RegX86(r x86asm.Reg) (Reg, int) {
	switch {
	case r >= x86asm.AH && r <= x86asm.BH:
		return Reg(r - x86asm.AH), 1
	case r >= x86asm.AL && r <= x86asm.BL:
		return Reg(r - x86asm.AL), 1
	case r >= x86asm.SPB && r <= x86asm.R15B:
		return Reg(r-x86asm.SPB) + 4, 1
	case r >= x86asm.AX && r <= x86asm.R15W:
		return Reg(r - x86asm.AX), 2
	case r >= x86asm.EAX && r <= x86asm.R15L:
		return Reg(r - x86asm.EAX), 4
	case r >= x86asm.RAX && r <= x86asm.R15:
		return Reg(r - x86asm.RAX), 8
	}
	return NoReg, 0
}

// written notes that an x86 instruction changes a general register.
func (i *Inst) written(r Reg) {
	if r < 0 || r > 15 {
		return
	}
	if r == 4 {
		i.WritesSP = true
	}
	if a := argOfX86[r]; a >= 0 {
		i.WritesArgs |= Args(a)
	}
	i.Meaning.Writes |= 1 << r
}

// The registers of x86-64 that instructions use without naming them as operands, or that other
// packages ask for.
const (
	RAX, RDX, RSP, RBP = Reg(0), Reg(2), Reg(4), Reg(5)
	rcx, rbx, rsi, rdi = Reg(1), Reg(3), Reg(6), Reg(7)
)

// effectsX86 finds out which general registers an instruction changes, and its meaning if the
// symbolic evaluation knows it. x86asm has no table of operand directions. So the first operand
// counts as written unless the instruction is known to only read it, which errs on the safe side.
func effectsX86(i *Inst, addr uint64, d x86asm.Inst) {
	for _, a := range d.Args {
		if m, ok := a.(x86asm.Mem); ok && m.Base == x86asm.RIP {
			i.Ref = addr + uint64(d.Len) + uint64(DispX86(m))
		}
	}
	if !onlyReadsX86(d.Op) {
		if r, ok := d.Args[0].(x86asm.Reg); ok {
			n, _ := RegX86(r)
			i.written(n)
		}
	}
	implicitX86(i, d)
	i.Meaning = meaningX86(i, d)
}

func onlyReadsX86(op x86asm.Op) bool {
	switch op {
	case x86asm.CMP, x86asm.TEST, x86asm.BT, x86asm.NOP, x86asm.PUSH, x86asm.COMISS, x86asm.COMISD,
		x86asm.UCOMISS, x86asm.UCOMISD, x86asm.PTEST, x86asm.MUL, x86asm.DIV, x86asm.IDIV:
		return true
	}
	return false
}

func implicitX86(i *Inst, d x86asm.Inst) {
	set := func(rs ...Reg) {
		for _, r := range rs {
			i.written(r)
		}
	}
	switch d.Op {
	case x86asm.PUSH, x86asm.PUSHF, x86asm.PUSHFD, x86asm.PUSHFQ, x86asm.POP, x86asm.POPF, x86asm.POPFD, x86asm.POPFQ,
		x86asm.ENTER, x86asm.LEAVE, x86asm.LRET, x86asm.IRET, x86asm.IRETD, x86asm.IRETQ:
		set(RSP)
	case x86asm.XCHG, x86asm.XADD:
		if r, ok := d.Args[1].(x86asm.Reg); ok {
			n, _ := RegX86(r)
			set(n)
		}
		set(RAX)
	case x86asm.CMPXCHG:
		set(RAX)
	case x86asm.CMPXCHG8B, x86asm.CMPXCHG16B, x86asm.MUL, x86asm.DIV, x86asm.IDIV, x86asm.CWD, x86asm.CDQ, x86asm.CQO,
		x86asm.RDTSC, x86asm.RDPMC, x86asm.RDMSR, x86asm.CWDE, x86asm.CDQE, x86asm.CBW, x86asm.LAHF, x86asm.XLATB:
		set(RAX, RDX)
	case x86asm.IMUL:
		if d.Args[1] == nil {
			set(RAX, RDX)
		}
	case x86asm.CPUID, x86asm.RDTSCP, x86asm.XGETBV:
		set(RAX, rbx, rcx, RDX)
	case x86asm.SYSCALL:
		set(RAX, rcx, 11)
	case x86asm.PCMPESTRI, x86asm.PCMPISTRI:
		set(rcx)
	case x86asm.MOVSB, x86asm.MOVSW, x86asm.MOVSD, x86asm.MOVSQ, x86asm.CMPSB, x86asm.CMPSW, x86asm.CMPSD, x86asm.CMPSQ:
		set(rsi, rdi, rcx) // rcx counts down under a rep prefix
	case x86asm.STOSB, x86asm.STOSW, x86asm.STOSD, x86asm.STOSQ, x86asm.SCASB, x86asm.SCASW, x86asm.SCASD, x86asm.SCASQ:
		set(rdi, rcx) // rcx counts down under a rep prefix
	case x86asm.LODSB, x86asm.LODSW, x86asm.LODSD, x86asm.LODSQ:
		set(RAX, rsi, rcx) // rcx counts down under a rep prefix
	}
	// VEX instructions with two general destinations (mulx) or implicit rcx.
	if a, ok := d.Args[1].(x86asm.Reg); ok && d.Args[2] != nil {
		if n, _ := RegX86(a); n != NoReg && d.Prefix[0].IsVEX() {
			set(n)
		}
	}
}

// meaningX86 translates moves and address computations: the runtimes' accessor functions consist of
// these.
func meaningX86(i *Inst, d x86asm.Inst) Meaning {
	s := Meaning{Writes: i.Meaning.Writes}
	dst, ok := d.Args[0].(x86asm.Reg)
	if !ok {
		return s
	}
	var size int
	if s.Dst, size = RegX86(dst); s.Dst == NoReg || size < 4 {
		return s
	}
	switch src := d.Args[1].(type) {
	case x86asm.Mem:
		a, ok := AddressX86(i, src)
		if !ok {
			return s
		}
		switch {
		case d.Op == x86asm.MOV:
			s.Op, s.Addr, s.Size = MeansLoad, a, size
		case d.Op == x86asm.ADD && size == 8:
			s.Op, s.Addr, s.Size = MeansAddLoad, a, 8
		case d.Op == x86asm.LEA && size == 8 && !a.TP:
			s.Op, s.Addr = MeansAddress, a
		}
	case x86asm.Reg:
		from, fromSize := RegX86(src)
		switch {
		case from == NoReg:
		case d.Op == x86asm.MOV && size == 8 && fromSize == 8:
			s.Op, s.Addr = MeansAddress, Address{Base: from, Index: NoReg}
		case d.Op == x86asm.ADD && size == 8:
			s.Op, s.Addr = MeansAddress, Address{Base: s.Dst, Index: from}
		case d.Op == x86asm.XOR && from == s.Dst:
			s.Op, s.Addr = MeansAddress, Address{Base: NoReg, Index: NoReg}
		}
	case x86asm.Imm:
		switch {
		case d.Op == x86asm.MOV && size == 8:
			s.Op, s.Addr = MeansAddress, Address{Base: NoReg, Index: NoReg, Disp: int64(src)}
		case d.Op == x86asm.MOV: // 32 bits are zero-extended
			s.Op, s.Addr = MeansAddress, Address{Base: NoReg, Index: NoReg, Disp: int64(uint32(src))}
		case d.Op == x86asm.ADD && size == 8:
			s.Op, s.Addr = MeansAddress, Address{Base: s.Dst, Index: NoReg, Disp: int64(src)}
		case d.Op == x86asm.SUB && size == 8:
			s.Op, s.Addr = MeansAddress, Address{Base: s.Dst, Index: NoReg, Disp: -int64(src)}
		}
	}
	return s
}

// DispX86 returns the signed displacement of an operand in memory. x86asm extends some negative
// displacements of 32 bits with zeros, as if they were positive.
func DispX86(m x86asm.Mem) int64 {
	if m.Disp == int64(uint32(m.Disp)) {
		return int64(int32(m.Disp))
	}
	return m.Disp
}

// AddressX86 returns the address of an operand in memory. It returns false if type Address cannot
// express that address.
func AddressX86(i *Inst, m x86asm.Mem) (Address, bool) {
	a := Address{Base: NoReg, Index: NoReg, Disp: DispX86(m)}
	switch m.Segment {
	case x86asm.FS:
		a.TP = true
	case x86asm.GS:
		return a, false
	}
	if m.Base == x86asm.RIP {
		a.Disp = int64(i.Ref)
		return a, true
	}
	if m.Base != 0 {
		var size int
		if a.Base, size = RegX86(m.Base); size != 8 {
			return a, false
		}
	}
	if m.Index != 0 && m.Scale != 0 {
		var size int
		if a.Index, size = RegX86(m.Index); size != 8 {
			return a, false
		}
		a.Scaled = m.Scale != 1
	}
	return a, true
}
