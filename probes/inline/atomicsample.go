package inline

import (
	"slices"
	"sync"

	"ompp-attach/probes/disasm"
	"ompp-attach/probes/disasm/graph"
	"ompp-attach/symbols"
	"ompp-attach/symbols/directives"
)

// AtomicAt reports whether a thread that was interrupted at vaddr is in the operation of an atomic
// directive, and which instruction the operation is. The processor takes an interrupt behind an
// instruction with a lock prefix, not in it. If GCC or clang made a loop around a compare-and-swap,
// the whole loop is the operation, and so is the load before it. Most samples hit no such
// instruction: then neither debug information nor sources are read.
func AtomicAt(o *symbols.Object, vaddr uint64) (at uint64, ok bool) {
	if o.Arch() != "amd64" {
		return 0, false
	}
	fn, _, ok := o.FuncRange(vaddr)
	if !ok {
		return 0, false
	}
	l := lockedIn.Of(o, func(*symbols.Object) *lockedOf { return &lockedOf{functions: map[uint64]*locked{}} }).in(o, fn)
	for _, i := range l.insts {
		if !l.operates(i, vaddr) || !mayHaveAtomics(o, vaddr) {
			continue
		}
		if _, d, ok := atomicAt(o, i); ok && d.Matches("atomic") {
			return i.Addr, true
		}
	}
	return 0, false
}

// lockedIn keeps the instructions of functions that were asked about: many samples hit one.
var lockedIn symbols.Memo[*lockedOf]

// lockedOf are instructions of a file's functions that may be atomic operations.
type lockedOf struct {
	mu        sync.Mutex
	functions map[uint64]*locked // by the function's beginning
}

// locked are such instructions of one function.
type locked struct {
	insts []disasm.Inst
	graph func() *graph.Graph
}

// in returns the instructions of a function.
func (l *lockedOf) in(o *symbols.Object, fn uint64) *locked {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.functions[fn]
	if f != nil {
		return f
	}
	f = &locked{}
	l.functions[fn] = f
	parts, err := disasm.Parts(o, fn)
	if err != nil {
		return f
	}
	parts = ownParts(o, fn, parts)
	for _, i := range slices.Concat(parts...) {
		if mayBeAtomic(i) {
			f.insts = append(f.insts, i)
		}
	}
	if len(f.insts) > 0 {
		f.graph = sync.OnceValue(func() *graph.Graph {
			return graph.New(o, parts, func(disasm.Inst) graph.Effect { return graph.CallReturns })
		})
	}
	return f
}

// operates reports whether a thread that was interrupted at vaddr is in the operation of which i is
// the instruction.
func (l *locked) operates(i disasm.Inst, vaddr uint64) bool {
	return vaddr == i.Addr || vaddr == i.Addr+uint64(i.Len) || i.CompareAndSwaps() && inCycle(l.graph(), i, vaddr)
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
	if o.WithoutOpenMP(vaddr) { // as a C library, whose many sources would be looked for
		return false
	}
	for _, at := range o.Places(vaddr) {
		ds, _ := o.Directives(at.File)
		if slices.ContainsFunc(ds, func(d directives.Directive) bool { return d.Matches("atomic") }) {
			return true
		}
	}
	return false
}
