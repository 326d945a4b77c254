package points

import (
	"golang.org/x/arch/x86/x86asm"

	"ompp-attach/probes/disasm"
)

// lockOutcome looks at a straight line of instructions that ends in a probe point. It looks for an
// atomic exchange before that point, and for a jump at the point that decides on the exchange's
// outcome. Known are the two forms of libgomp on x86-64 Linux:
//
//	lock cmpxchg %edx,(lock); jne slow            acquire: ZF=1 means it was free
//	xchg %eax,(lock); test %eax,%eax; js slow     release: SF=0 means no waiter
//
// Other forms give Always. arm64 compares in registers, so flags alone do not tell the outcome.
func lockOutcome(line []disasm.Inst) (atomic bool, free When) {
	var (
		state  When
		word   disasm.Reg // the register that received the lock's old value from xchg
		filled bool       // the register still holds that value
	)
	last := len(line) - 1
	for _, i := range line[:last] {
		d, ok := i.X86()
		if !ok {
			// On arm64, and for hints: no atomic of a known form, no flags.
			atomic = atomic || i.Locked
			continue
		}
		_, toMemory := d.Args[0].(x86asm.Mem)
		reg := disasm.NoReg
		if r, isReg := d.Args[1].(x86asm.Reg); isReg {
			reg, _ = disasm.RegX86(r)
		}
		switch {
		case d.Op == x86asm.CMPXCHG && i.Locked:
			atomic, state, filled = true, ZeroSet, false
		case d.Op == x86asm.XCHG && toMemory:
			atomic, state, word, filled = true, Always, max(reg, 0), reg != disasm.NoReg
		case d.Op == x86asm.TEST && filled && reg == word && d.Args[0] == d.Args[1]:
			state = SignClear
		case i.Locked:
			atomic, state, filled = true, Always, false
		case !i.KeepsFlags():
			state = Always
			fallthrough
		default:
			filled = filled && i.Meaning.Writes>>word&1 == 0
		}
	}
	switch cond := line[last].Cond; {
	case state == ZeroSet && (cond == disasm.Equal || cond == disasm.NotEqual):
		free = ZeroSet
	case state == SignClear && (cond == disasm.Sign || cond == disasm.NotSign):
		free = SignClear
	}
	return atomic, free
}
