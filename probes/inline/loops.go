package inline

import (
	"fmt"
	"slices"
	"strings"

	"ompp-attach/event"
	"ompp-attach/probes/insn"
	"ompp-attach/symbols"
)

// share is the code of one static loop, or of several whose common test for an
// empty share GCC made once.
type share struct {
	guard  int     // block that ends in the test, -1: none
	cycles [][]int // the loops' blocks
	level  *level
	flags  insn.Taint // what the test depends on
}

// level is a set of blocks and the loops in it, which are not further divided.
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

// loops finds the static loops.
func (f *function) loops(x *Inlined) {
	shares := f.shares(nil, -1)
	var seen []symbols.Directive
	for i := range shares {
		s := &shares[i]
		ds := f.directives(s)
		seen = append(seen, ds...)
		if f.source && len(ds) == 0 || !f.source && s.flags&insn.Remainder == 0 {
			continue // shared out by hand
		}
		if f.whole(s, shares, ds) {
			x.Loops = append(x.Loops, f.fn)
			continue
		}
		if c, ok := f.loop(s, ds); ok {
			x.Constructs = append(x.Constructs, c)
		}
	}
	f.missing(x, seen)
}

// missing names the loop directives of a region of which no code was found.
func (f *function) missing(x *Inlined, seen []symbols.Directive) {
	e, ok := f.o.Outlined(f.fn)
	if !ok || !f.region {
		return
	}
	for _, name := range f.calls { // loops that call the runtime
		if strings.HasPrefix(name, "GOMP_loop_") {
			return
		}
	}
	for _, d := range f.ds {
		if d.Begin > e.Begin && d.End <= e.End+1 && isLoop(&d) && !strings.HasPrefix(d.Words, "parallel") && !slices.Contains(seen, d) && !f.nested(&d, e.Begin) {
			x.Unseen = append(x.Unseen, Unseen{f.fn, fmt.Sprintf("%s of line %d", strings.ToUpper(d.Words), d.Begin),
				"no code of its own was found that every thread comes by"})
		}
	}
}

// nested reports whether a directive stands in an inner parallel region or task.
func (f *function) nested(d *symbols.Directive, region int) bool {
	return slices.ContainsFunc(f.ds, func(o symbols.Directive) bool {
		return o.Begin > region && o.Begin < d.Begin && d.Begin <= o.End && (o.Matches("parallel") || o.Matches("task"))
	})
}

// shares finds the code of static loops among blocks (nil: all): loops whose end
// depends on the thread's number. Loops around them, which do not, are looked
// into; header is that of the loop that is looked into.
func (f *function) shares(blocks []int, header int) (out []share) {
	cycles := f.g.Cycles(blocks, header)
	l := f.level(blocks, cycles)
	for _, c := range cycles {
		if !f.dependent(c, false) {
			continue
		}
		h := f.header(c)
		if h < 0 {
			continue
		}
		if !f.dependent(c, true) {
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
		s := share{guard: g, cycles: [][]int{c}, level: l}
		if g >= 0 {
			s.flags = f.flow.Flags[f.g.Blocks[g].Last().Addr]
		}
		out = append(out, s)
	}
	return out
}

// dependent reports whether a conditional jump in a cycle depends on the
// thread's number, or on a division by the size of the team; with exits, one
// that leaves the cycle.
func (f *function) dependent(c []int, exits bool) bool {
	for _, n := range c {
		b := &f.g.Blocks[n]
		if f.flow.Flags[b.Last().Addr]&(byThread|insn.Quotient) == 0 || b.Last().Kind != insn.Jcc {
			continue
		}
		if !exits || slices.ContainsFunc(b.Succs, func(s int) bool { return !slices.Contains(c, s) }) {
			return true
		}
	}
	return false
}

// header returns the only block by which a cycle is entered, -1 if there are
// several.
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
		if i.Kind != insn.Jcc || flags&byThread == 0 {
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

// directives returns the loop directives in whose blocks the loops of a share
// stand, in order.
func (f *function) directives(s *share) (ds []symbols.Directive) {
	for _, c := range s.cycles {
		votes := map[symbols.Directive]int{}
		var best symbols.Directive
		for _, n := range c {
			for _, i := range f.g.Blocks[n].Insts {
				if d, ok := f.around(f.line(i.Addr)); ok {
					votes[d]++
					if votes[d] > votes[best] {
						best = d
					}
				}
			}
		}
		if votes[best] > 0 && !slices.Contains(ds, best) {
			ds = append(ds, best)
		}
	}
	slices.SortFunc(ds, func(a, b symbols.Directive) int { return a.Begin - b.Begin })
	return ds
}

// whole reports whether a loop is all of its outlined function: a parallel loop.
func (f *function) whole(s *share, shares []share, ds []symbols.Directive) bool {
	if f.source {
		return len(ds) == 1 && strings.HasPrefix(ds[0].Words, "parallel")
	}
	if !f.region || len(shares) > 1 {
		return false
	}
	for n := range f.g.Blocks {
		if f.g.Blocks[n].After >= 0 {
			return false
		}
	}
	in := slices.Concat(s.cycles...)
	for n := range f.g.Blocks {
		for _, i := range f.g.Blocks[n].Insts {
			name, called := f.calls[i.Addr]
			if called && !slices.Contains(in, n) && name != "omp_get_num_threads" && name != "omp_get_thread_num" &&
				!strings.HasPrefix(name, "GOMP_atomic") && name != "__stack_chk_fail" {
				return false
			}
		}
	}
	return true
}

// loop makes a construct of the code of a loop.
func (f *function) loop(s *share, ds []symbols.Directive) (c Construct, ok bool) {
	c = Construct{Kind: event.Loop, Fn: f.fn}
	f.place(&c, s, ds)
	if s.guard < 0 {
		return c, false
	}
	i := f.g.Blocks[s.guard].Last()
	c.Identity, c.Enter = i.Addr, []Point{point(i)}
	if f.ownBarrier(s) {
		c.End = event.EndBarrier
		return c, true
	}
	c.Leave, c.End = f.leave(s.guard, s.level.acyclic)
	return c, true
}

// place fills in a loop's lines.
func (f *function) place(c *Construct, s *share, ds []symbols.Directive) {
	c.File = f.file
	if len(ds) > 0 {
		c.Begin, c.Last, c.Exact = ds[0].Begin, ds[0].End, true
		if len(ds) > 1 {
			var lines []string
			for _, d := range ds[1:] {
				lines = append(lines, fmt.Sprint(d.Begin))
			}
			c.Notes = append(c.Notes, fmt.Sprintf("GCC merged the loops of lines %s into this one, as they have the same bounds: its count is each one's, its times are the sum", strings.Join(lines, ", ")))
		}
		return
	}
	for _, n := range slices.Concat(s.cycles...) {
		for _, i := range f.g.Blocks[n].Insts {
			if line := f.line(i.Addr); line > 0 {
				if c.Begin == 0 || line < c.Begin {
					c.Begin = line
				}
				c.Last = max(c.Last, line)
			}
		}
	}
}

// ownBarrier reports whether the loop's own barrier is the next thing that all
// threads do.
func (f *function) ownBarrier(s *share) bool {
	var lines []int
	in := map[int]bool{}
	for _, n := range slices.Concat(s.cycles...) {
		in[n] = true
		for _, i := range f.g.Blocks[n].Insts {
			lines = append(lines, f.line(i.Addr))
		}
	}
	seen := map[int]bool{}
	barrier := false
	for work := []int{s.guard}; len(work) > 0; {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		if seen[n] {
			continue
		}
		seen[n] = true
		b := &f.g.Blocks[n]
		for _, i := range b.Insts {
			name, called := f.calls[i.Addr]
			switch {
			case strings.HasPrefix(name, "GOMP_barrier"):
				if f.explicit(i.Addr, lines) {
					return false
				}
				barrier = true
			case strings.HasPrefix(name, "GOMP_atomic"): // a reduction
			case name == "omp_get_thread_num", divides(name):
				return false // another construct comes first
			case called && !in[n] && n != s.guard && f.beyond(s, n):
				return false // code of the user
			}
		}
		if b.Leaves && !divides(f.calls[b.Last().Addr]) && !f.noReturn(b) {
			return false
		}
		work = append(work, b.Succs...)
	}
	return barrier
}

// beyond reports whether a block comes after the loop, where every thread comes.
func (f *function) beyond(s *share, n int) bool { return f.post.Covers(n, s.guard) }

// noReturn reports whether a block ends in a call that does not return.
func (f *function) noReturn(b *insn.Block) bool {
	return b.Last().Kind == insn.Trap || b.Last().Kind == insn.Call
}

// explicit reports whether a call is that of a barrier directive.
func (f *function) explicit(call uint64, loop []int) bool {
	file, line, exact, ok := f.o.Line(call)
	if !ok {
		return false
	}
	if f.source && file == f.file {
		return slices.ContainsFunc(f.ds, func(d symbols.Directive) bool {
			return d.Begin <= line && line <= d.Last && d.Matches("barrier")
		})
	}
	return exact && !slices.Contains(loop, line)
}
