package inline

import (
	"slices"

	"ompp-attach/probes/insn"
	"ompp-attach/symbols"
)

// AtomicAt tells whether a thread that was interrupted at an instruction is in
// an atomic directive's operation, and which instruction that is. An interrupt
// that waits for one with a lock prefix is taken behind it. Where GCC or clang
// made a loop around a compare-and-swap, all of the loop is the operation.
func AtomicAt(o *symbols.Object, vaddr uint64) (at uint64, ok bool) {
	if o.Arch() != "amd64" || !mayHaveAtomics(o, vaddr) {
		return 0, false
	}
	fn, _, ok := o.FuncRange(vaddr)
	if !ok {
		return 0, false
	}
	parts, err := insn.Parts(o, fn)
	if err != nil {
		return 0, false
	}
	parts = ownParts(o, fn, parts)
	var g *insn.Graph
	for _, i := range slices.Concat(parts...) {
		if _, d, ok := atomicAt(o, i); !ok || !d.Matches("atomic") {
			continue
		}
		if vaddr == i.Addr || vaddr == i.Addr+uint64(i.Len) {
			return i.Addr, true
		}
		if !i.CompareAndSwaps() {
			continue
		}
		if g == nil {
			g = insn.NewGraph(o, parts, func(insn.Inst) insn.Effect { return insn.CallReturns })
		}
		if inCycle(g, i.Addr, vaddr) {
			return i.Addr, true
		}
	}
	return 0, false
}

// inCycle tells whether an instruction is in the innermost cycle around another
// one.
func inCycle(g *insn.Graph, around, vaddr uint64) bool {
	n, ok := g.BlockOf(around)
	if !ok {
		return false
	}
	for _, b := range innermost(g, n) {
		if slices.ContainsFunc(g.Blocks[b].Insts, func(i insn.Inst) bool { return i.Addr == vaddr }) {
			return true
		}
	}
	return false
}

// mayHaveAtomics tells whether the source of a place has atomic directives.
func mayHaveAtomics(o *symbols.Object, vaddr uint64) bool {
	for _, at := range o.Places(vaddr) {
		ds, _ := o.Directives(at.File)
		if slices.ContainsFunc(ds, func(d symbols.Directive) bool { return d.Matches("atomic") }) {
			return true
		}
	}
	return false
}
