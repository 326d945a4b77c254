package inline

import (
	"slices"
	"sync"

	"ompp-attach/probes/disasm"
	"ompp-attach/probes/disasm/graph"
	"ompp-attach/symbols"
	"ompp-attach/symbols/directives"
)

// AtomicAt reports whether a thread that was interrupted at vaddr executes an atomic directive. at
// is the directive's atomic instruction. The processor takes an interrupt after an instruction with
// a lock prefix, never during it. GCC and clang may make a loop around a compare-and-swap. Then the
// whole loop belongs to the directive, with the load before the loop. Most samples hit no atomic
// instruction: then AtomicAt reads neither debug information nor sources.
func AtomicAt(o *symbols.Object, vaddr uint64) (at uint64, ok bool) {
	if o.Arch() != "amd64" {
		return 0, false
	}
	fn, _, ok := o.FuncRange(vaddr)
	if !ok {
		return 0, false
	}
	c := candidatesIn.Of(o, func(*symbols.Object) *fileCandidates { return &fileCandidates{functions: map[uint64]*candidates{}} }).of(o, fn)
	for _, i := range c.insts {
		if !c.covers(i, vaddr) || !mayHaveAtomics(o, vaddr) {
			continue
		}
		if _, d, ok := atomicAt(o, i); ok && d.Matches("atomic") {
			return i.Addr, true
		}
	}
	return 0, false
}

// candidatesIn keeps, by file, the candidates of functions that were asked about: many samples hit
// the same function.
var candidatesIn symbols.Memo[*fileCandidates]

// fileCandidates holds the candidates of a file's functions.
type fileCandidates struct {
	mu        sync.Mutex
	functions map[uint64]*candidates // by the function's beginning
}

// candidates are the instructions of one function that may be those of atomic directives.
type candidates struct {
	insts []disasm.Inst
	graph func() *graph.Graph // of the whole function; nil if there are no candidates
}

// of returns the candidates of the function that begins at fn.
func (fc *fileCandidates) of(o *symbols.Object, fn uint64) *candidates {
	fc.mu.Lock()
	defer fc.mu.Unlock()
	c := fc.functions[fn]
	if c != nil {
		return c
	}
	c = &candidates{}
	fc.functions[fn] = c
	parts, err := disasm.Parts(o, fn)
	if err != nil {
		return c
	}
	parts = ownParts(o, fn, parts)
	for _, i := range slices.Concat(parts...) {
		if mayBeAtomic(i) {
			c.insts = append(c.insts, i)
		}
	}
	if len(c.insts) > 0 {
		c.graph = sync.OnceValue(func() *graph.Graph {
			return graph.New(o, parts, func(disasm.Inst) graph.Effect { return graph.CallReturns })
		})
	}
	return c
}

// covers reports whether a thread that was interrupted at vaddr executes candidate i, or the loop
// that belongs to i.
func (c *candidates) covers(i disasm.Inst, vaddr uint64) bool {
	return vaddr == i.Addr || vaddr == i.Addr+uint64(i.Len) || i.CompareAndSwaps() && inCycle(c.graph(), i, vaddr)
}

// inCycle reports whether the instruction at vaddr lies in the innermost cycle around a
// compare-and-swap, or is the load for the compare-and-swap before the cycle.
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
	// The processor takes an interrupt after the load, never during it.
	before := g.Blocks[at].Insts
	load := slices.IndexFunc(before, func(i disasm.Inst) bool { return i.SameMemory(swap) })
	return load >= 0 && vaddr >= before[load].Addr
}

// mayHaveAtomics reports whether the source of the code at vaddr has atomic directives.
func mayHaveAtomics(o *symbols.Object, vaddr uint64) bool {
	if o.WithoutOpenMP(vaddr) { // a C library, for example: its many sources would be searched
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
