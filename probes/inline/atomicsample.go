package inline

import (
	"slices"

	"ompp-attach/probes/disasm"
	"ompp-attach/probes/disasm/graph"
	"ompp-attach/symbols"
	"ompp-attach/symbols/directives"
)

// AtomicAt reports whether a thread that was interrupted at vaddr is in the operation of an atomic
// directive, and which instruction the operation is. The processor takes an interrupt behind an
// instruction with a lock prefix, not in it. If GCC or clang made a loop around a compare-and-swap,
// the whole loop is the operation, and so is the load before it.
func AtomicAt(o *symbols.Object, vaddr uint64) (at uint64, ok bool) {
	if o.Arch() != "amd64" || !mayHaveAtomics(o, vaddr) {
		return 0, false
	}
	fn, _, ok := o.FuncRange(vaddr)
	if !ok {
		return 0, false
	}
	parts, err := disasm.Parts(o, fn)
	if err != nil {
		return 0, false
	}
	parts = ownParts(o, fn, parts)
	var g *graph.Graph
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
			g = graph.NewGraph(o, parts, func(disasm.Inst) graph.Effect { return graph.CallReturns })
		}
		if inCycle(g, i, vaddr) {
			return i.Addr, true
		}
	}
	return 0, false
}

// inCycle reports whether an instruction is in the innermost cycle around a compare-and-swap, or is
// the load for it before the cycle.
func inCycle(g *graph.Graph, swap disasm.Inst, vaddr uint64) bool {
	n, ok := g.BlockOf(swap.Addr)
	if !ok {
		return false
	}
	cycle := innermost(g, n)
	if len(cycle) == 0 {
		return false
	}
	at, ok := g.BlockOf(vaddr)
	if !ok || slices.Contains(cycle, at) {
		return ok
	}
	h := entry(g, cycle)
	if h < 0 || !slices.Contains(g.Blocks[h].Preds, at) {
		return false
	}
	// The processor takes an interrupt behind the load, not in it.
	before := g.Blocks[at].Insts
	load := slices.IndexFunc(before, func(i disasm.Inst) bool { return i.SameMemory(swap) })
	return load >= 0 && vaddr >= before[load].Addr
}

// mayHaveAtomics reports whether the source of a place has atomic directives.
func mayHaveAtomics(o *symbols.Object, vaddr uint64) bool {
	for _, at := range o.Places(vaddr) {
		ds, _ := o.Directives(at.File)
		if slices.ContainsFunc(ds, func(d directives.Directive) bool { return d.Matches("atomic") }) {
			return true
		}
	}
	return false
}
