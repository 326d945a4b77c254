package graph

import (
	"slices"

	"ompp-attach/probes/disasm"
)

// FlagsKept reports whether no instruction between two of one block changes the
// flags.
func (g *Graph) FlagsKept(from, to uint64) bool {
	n, ok := g.BlockOf(from)
	if !ok {
		return false
	}
	return !slices.ContainsFunc(g.Blocks[n].Insts, func(i disasm.Inst) bool {
		if i.Addr <= from || i.Addr >= to {
			return false
		}
		return !i.KeepsFlags()
	})
}

// TestBefore finds the test for zero that decides the conditional jump at the end of a block, and
// the tested register.
func (b *Block) TestBefore() (test disasm.Inst, r disasm.Reg, ok bool) {
	if jump := b.Last(); jump.Control != disasm.Jcc || jump.Cond != disasm.Equal && jump.Cond != disasm.NotEqual {
		return test, disasm.NoReg, false
	}
	for k := len(b.Insts) - 2; k >= 0; k-- {
		if r, ok := b.Insts[k].TestsForZero(); ok {
			return b.Insts[k], r, true
		}
		if !b.Insts[k].KeepsFlags() {
			break
		}
	}
	return test, disasm.NoReg, false
}
