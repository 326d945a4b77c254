package inline

import (
	"slices"

	"ompp-attach/probes/disasm"
	"ompp-attach/probes/disasm/taint"
)

// share is the code of one static loop, or of several loops for which GCC made one common test for
// an empty share.
type share struct {
	guard  int     // block that ends in the test, -1: none
	header int     // header of the first of the loops
	cycles [][]int // the loops' blocks
	level  *level
	flags  taint.Set // what the test depends on
}

// level is a set of blocks and the outermost loops in it.
type level struct {
	in     []bool
	cyclic []bool
}

func (f *function) level(blocks []int, cycles [][]int) *level {
	l := &level{make([]bool, len(f.g.Blocks)), make([]bool, len(f.g.Blocks))}
	for n := range l.in {
		l.in[n] = blocks == nil
	}
	for _, n := range blocks {
		l.in[n] = true
	}
	for _, n := range slices.Concat(cycles...) {
		l.cyclic[n] = true
	}
	return l
}

func (l *level) acyclic(n int) bool { return l.in[n] && !l.cyclic[n] }

// shares finds the code of static loops among blocks (nil: all). These are loops whose end depends
// on the thread's number. shares also looks into the loops around them, whose end does not depend
// on it. header is the header of the loop that is looked into.
func (f *function) shares(blocks []int, header int) (out []share) {
	cycles := f.g.Cycles(blocks, header)
	l := f.level(blocks, cycles)
	for _, c := range cycles {
		if !f.dependent(c) {
			continue
		}
		h := f.header(c)
		if h < 0 {
			continue
		}
		if !f.ends(c) {
			out = append(out, f.shares(c, h)...)
			continue
		}
		g := f.guard(h, l)
		if g >= 0 {
			if k := slices.IndexFunc(out, func(s share) bool { return s.guard == g }); k >= 0 {
				out[k].cycles = append(out[k].cycles, c)
				continue
			}
		}
		s := share{guard: g, header: h, cycles: [][]int{c}, level: l}
		for _, n := range append(c, max(g, c[0])) {
			s.flags |= f.flow.Flags[f.g.Blocks[n].Last().Addr]
		}
		out = append(out, s)
	}
	return out
}

// mergeUnguarded makes one share of loops that follow each other without a test for an empty share
// in between. GCC leaves the test out because it knows the result from an earlier test.
func (f *function) mergeUnguarded(shares []share) (out []share) {
	for _, s := range shares {
		k := slices.IndexFunc(out, func(o share) bool {
			return o.guard < 0 && s.guard < 0 && !f.testedFirst(o.header) && f.dom.Covers(o.header, s.header) && f.post.Covers(s.header, o.header)
		})
		if k < 0 {
			out = append(out, s)
			continue
		}
		out[k].cycles = append(out[k].cycles, s.cycles...)
	}
	return out
}

// shareTaint holds the origins on which a thread's share of a loop depends.
const shareTaint = byThread | taint.Quotient

// dependent reports whether a conditional jump in a cycle depends on the
// thread's number, or on a division by the size of the team.
func (f *function) dependent(c []int) bool {
	return slices.ContainsFunc(c, func(n int) bool { return f.flow.Flags[f.g.Blocks[n].Last().Addr]&shareTaint != 0 })
}

// ends reports whether a cycle ends only where a thread's share ends. OpenMP allows no other way
// out of a loop that is shared out.
func (f *function) ends(c []int) (so bool) {
	for _, n := range c {
		b := &f.g.Blocks[n]
		if !slices.ContainsFunc(b.Succs, func(k int) bool { return !slices.Contains(c, k) && f.post.Reached(k) }) {
			continue
		}
		flags := f.flow.Flags[b.Last().Addr]
		if flags&(shareTaint|bySize) == 0 {
			return false
		}
		so = so || flags&shareTaint != 0
	}
	return so
}

// header returns the only block by which a cycle is entered, or -1 if there are several.
func (f *function) header(c []int) int {
	h := -1
	for _, n := range c {
		entered := f.dom.Over(n) < 0 || slices.ContainsFunc(f.g.Blocks[n].Preds, func(p int) bool { return !slices.Contains(c, p) })
		if entered && h >= 0 {
			return -1
		}
		if entered {
			h = n
		}
	}
	return h
}

// guard finds the outermost test that decides whether a thread has a share of
// the loop at h.
func (f *function) guard(h int, l *level) int {
	best, weak := -1, -1
	for d := f.dom.Over(h); d >= 0; d = f.dom.Over(d) {
		if !l.acyclic(d) {
			continue
		}
		i := f.g.Blocks[d].Last()
		flags := f.flow.Flags[i.Addr]
		if i.Control != disasm.Jcc || flags&byThread == 0 {
			continue
		}
		if j := f.post.Over(d); j >= 0 && f.dom.Covers(j, h) {
			continue // its ways meet before the loop
		}
		if flags&bySize != 0 {
			best = d
		} else {
			weak = d
		}
	}
	if best < 0 {
		best = weak
	}
	return best
}
