package inline

import (
	"bytes"
	"regexp"
	"slices"

	"ompp-attach/event"
	"ompp-attach/probes/disasm"
	"ompp-attach/probes/disasm/graph"
	"ompp-attach/probes/disasm/points"
	"ompp-attach/symbols"
	"ompp-attach/symbols/directives"
)

// noteCounted is the note on an inline atomic or flush.
const noteCounted = "executions are counted, by a probe beside the instruction; their time is not measured"

// Atomics finds the atomic and flush constructs of a file for which GCC or clang made instructions
// with a lock prefix, or a fence. The instructions' lines tell the directive. Reads, and writes
// that are not seq_cst, are plain moves: they are not found, nor is any construct without source.
func Atomics(o *symbols.Object) *Inlined {
	return foundAtomics.Of(o, analyseAtomics)
}

func analyseAtomics(o *symbols.Object) *Inlined {
	x := &Inlined{}
	if o.Arch() != "amd64" {
		return x
	}
	for _, fn := range locking(o) {
		parts, err := disasm.Parts(o, fn)
		if err != nil {
			continue
		}
		parts = ownParts(o, fn, parts)
		var at []disasm.Inst
		for _, i := range slices.Concat(parts...) {
			if _, _, ok := atomicAt(o, i); ok {
				at = append(at, i)
			}
		}
		if len(at) == 0 {
			continue
		}
		g := graph.New(o, parts, func(disasm.Inst) graph.Effect { return graph.CallReturns })
		dom, post := g.Dominators(), g.PostDominators()
		for _, i := range at {
			file, d, _ := atomicAt(o, i)
			c := Construct{Construct: event.Atomic, Fn: fn, Identity: i.Addr, File: file, Begin: d.Begin, Last: d.End, Exact: true, Notes: []string{noteCounted}}
			if d.Matches("flush") {
				c.Construct = event.Flush
			}
			if p, ok := once(g, dom, post, i); ok && !g.Unknown {
				c.Enter = []Point{p}
				x.Constructs = append(x.Constructs, c)
			} else {
				x.Unseen = append(x.Unseen, Unseen{fn, nameOf(&d), "no instruction is executed exactly as often"})
			}
		}
	}
	return x
}

// locking returns the functions whose bytes seem to contain instructions with a lock prefix, or
// fences.
func locking(o *symbols.Object) (fns []uint64) {
	seen := map[uint64]bool{}
	add := func(vaddr uint64) {
		if lo, _, ok := o.FuncRange(vaddr); ok && !seen[lo] {
			seen[lo] = true
			fns = append(fns, lo)
		}
	}
	for _, r := range o.TextRanges() {
		b := o.Read(r.Lo, int(r.Hi-r.Lo))
		for at := 0; at < len(b); at++ {
			switch {
			case b[at] == 0xf0, b[at] == 0x87, b[at] == 0x0f && bytes.HasPrefix(b[at:], mfence):
				add(r.Lo + uint64(at))
			}
		}
	}
	slices.Sort(fns)
	return fns
}

var mfence = []byte{0x0f, 0xae, 0xf0}

// mayBeAtomic tells whether an instruction may implement an atomic or flush directive.
func mayBeAtomic(i disasm.Inst) bool {
	return i.Locked || i.Exchanges() || bytes.Equal(i.Bytes, mfence)
}

// atomicAt returns the atomic or flush directive that an instruction implements.
func atomicAt(o *symbols.Object, i disasm.Inst) (file string, d directives.Directive, ok bool) {
	if !mayBeAtomic(i) {
		return "", d, false
	}
	fence := bytes.Equal(i.Bytes, mfence)
	file, line, _, ok := o.Line(i.Addr)
	if !ok {
		return "", d, false
	}
	ds, _ := o.Directives(file)
	for _, d := range ds {
		if d.Begin <= line && line <= d.End && (d.Matches("atomic") && (!fence || fenced(&d)) || d.Matches("flush")) {
			return file, d, true
		}
	}
	return "", d, false
}

// fenced tells whether an atomic construct may be a plain move and a fence. For a write that is
// seq_cst, GCC makes these in place of an exchange if it tunes for Intel's small cores (i386.md,
// TARGET_USE_XCHG_FOR_ATOMIC_STORE).
func fenced(d *directives.Directive) bool {
	return write.MatchString(d.Clauses) && seqCst.MatchString(d.Clauses)
}

var write, seqCst = regexp.MustCompile(`\bwrite\b`), regexp.MustCompile(`\bseq_cst\b`)

// Has tells whether code of a directive was found in the file.
func (x *Inlined) Has(c event.Construct, file string, line int) bool {
	return slices.ContainsFunc(x.Constructs, func(y Construct) bool { return y.Construct == c && y.File == file && y.Begin == line })
}

// once finds an instruction that is executed once for each atomic operation, and not for each retry
// of a compare-and-swap.
func once(g *graph.Graph, dom, post graph.Order, i disasm.Inst) (Point, bool) {
	n, ok := g.BlockOf(i.Addr)
	if !ok {
		return Point{}, false
	}
	b := &g.Blocks[n]
	if i.CompareAndSwaps() {
		if last := b.Last(); last.Control == disasm.Jcc && last.Emulated && (last.Cond == disasm.Equal || last.Cond == disasm.NotEqual) && g.FlagsKept(i.Addr, last.Addr) {
			return Point{VAddr: last.Addr, When: points.ZeroSet, Cost: points.CostOf(last)}, true
		}
		c := innermost(g, n)
		if c == nil {
			return Point{}, false
		}
		h := entry(g, c)
		if h < 0 {
			return Point{}, false
		}
		p := dom.Over(h)
		if p < 0 || slices.Contains(c, p) || !post.Covers(h, p) {
			return Point{}, false
		}
		return beside(&g.Blocks[p], 0)
	}
	return beside(b, i.Addr)
}

// beside returns the cheapest instruction of a block for a probe. not is an instruction that cannot
// have the probe.
func beside(b *graph.Block, not uint64) (p Point, ok bool) {
	for _, i := range b.Insts {
		if i.Addr == not || i.Refused {
			continue
		}
		if q := point(i); !ok || q.Cost < p.Cost {
			p, ok = q, true
		}
	}
	return p, ok
}

// innermost returns the innermost cycle that contains a block.
func innermost(g *graph.Graph, n int) (c []int) {
	var within []int
	for header := -1; ; {
		cycles := g.Cycles(within, header)
		k := slices.IndexFunc(cycles, func(c []int) bool { return slices.Contains(c, n) })
		if k < 0 {
			return c
		}
		c = cycles[k]
		within = c
		if header = entry(g, c); header < 0 {
			return c
		}
	}
}

// entry returns the only block by which a cycle is entered, or -1 if there are several.
func entry(g *graph.Graph, c []int) int {
	h := -1
	for _, n := range c {
		if n == 0 || slices.ContainsFunc(g.Blocks[n].Preds, func(p int) bool { return !slices.Contains(c, p) }) {
			if h >= 0 {
				return -1
			}
			h = n
		}
	}
	return h
}
