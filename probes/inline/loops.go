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
	header int     // of the first of the loops
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
	shares = f.mergeUnguarded(shares)
	f.shared = make([]bool, len(f.g.Blocks))
	for _, s := range shares {
		for _, n := range slices.Concat(s.cycles...) {
			f.shared[n] = true
		}
	}
	var (
		seen   []symbols.Directive
		groups [][]*share
		of     [][]symbols.Directive
	)
	for i := range shares {
		s := &shares[i]
		ds := f.directives(s)
		seen = append(seen, ds...)
		k := slices.IndexFunc(of, func(o []symbols.Directive) bool { return len(ds) > 0 && slices.Equal(o, ds) })
		if k >= 0 {
			groups[k] = append(groups[k], s)
			continue
		}
		groups, of = append(groups, []*share{s}), append(of, ds)
	}
	for k, copies := range groups {
		s, ds := copies[0], of[k]
		if f.source && len(ds) == 0 {
			continue // shared out by hand
		}
		if !f.source && s.flags&insn.Remainder == 0 {
			x.Unseen = append(x.Unseen, Unseen{f.fn, f.describe(s), "a loop that the user shares out by the threads' numbers looks the same: the source would tell"})
			continue
		}
		if f.whole(s, shares, ds) {
			x.Loops = append(x.Loops, f.fn)
			continue
		}
		if c := f.loop(copies, ds); len(c.Enter) > 0 {
			x.Constructs = append(x.Constructs, c)
		} else {
			x.Unseen = append(x.Unseen, Unseen{f.fn, f.describe(s), "the code has no place that every thread comes by, also one without a share"})
		}
	}
	f.missing(x, seen)
}

// describe names the loops of a share for messages.
func (f *function) describe(s *share) string {
	ds := f.directives(s)
	if len(ds) > 1 {
		return "LOOPs of lines " + lines(ds)
	}
	var c Construct
	if f.place(&c, s, ds); c.Begin > 0 {
		return fmt.Sprintf("LOOP of line %d", c.Begin)
	}
	return fmt.Sprintf("LOOP at %#x", f.g.Blocks[s.header].Insts[0].Addr)
}

func lines(ds []symbols.Directive) string {
	var out []string
	for _, d := range ds {
		out = append(out, fmt.Sprint(d.Begin))
	}
	return strings.Join(out, ", ")
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
		if g >= 0 {
			s.flags = f.flow.Flags[f.g.Blocks[g].Last().Addr]
		}
		out = append(out, s)
	}
	return out
}

// mergeUnguarded makes one share of loops that follow each other without a test
// for an empty share before either: GCC knows the outcome of the test from an
// earlier one.
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

// shareTaint is what a thread's share of a loop depends on.
const shareTaint = byThread | insn.Quotient

// dependent reports whether a conditional jump in a cycle depends on the
// thread's number, or on a division by the size of the team.
func (f *function) dependent(c []int) bool {
	return slices.ContainsFunc(c, func(n int) bool { return f.flow.Flags[f.g.Blocks[n].Last().Addr]&shareTaint != 0 })
}

// ends reports whether a cycle ends where a thread's share does, and nowhere
// else: OpenMP allows no other way out of a loop that is shared out.
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

// loop makes a construct of a loop's code, of which GCC may have made copies. It
// has no places to enter if they cannot be told for sure.
func (f *function) loop(copies []*share, ds []symbols.Directive) (c Construct) {
	c = Construct{Kind: event.Loop, Fn: f.fn}
	f.place(&c, copies[0], ds)
	if len(f.ownBarrier(copies[0], copies[0].header)) > 0 {
		c.End = event.EndBarrier
		c.Enter = f.enterToBarrier(copies)
	} else {
		for _, s := range copies {
			enter := f.enterNowait(s)
			if len(enter) == 0 {
				return Construct{}
			}
			leave, end := f.leave(s.decides(), s.level.acyclic)
			c.Enter, c.Leave = append(c.Enter, enter...), append(c.Leave, leave...)
			if s == copies[0] || end == event.EndNext {
				c.End = end
			}
		}
	}
	if len(c.Enter) > 0 {
		c.Identity = c.Enter[0].VAddr
	}
	return c
}

// decides is the block that decides whether a thread has a share.
func (s *share) decides() int {
	if s.guard >= 0 {
		return s.guard
	}
	return s.header
}

// enterToBarrier finds the places before a loop with a barrier: a loop is
// executed as often as its barrier, so that each way to the barrier must have
// exactly one of them.
func (f *function) enterToBarrier(copies []*share) []Point {
	s := copies[0]
	calls := f.sync.copies(f.ownBarrier(s, s.header)[0])
	first := s.guard
	if first < 0 {
		first = f.dom.Over(s.header)
	}
	// One place for all, where there is one.
	for d := first; d >= 0 && !f.foreign(d); d = f.dom.Over(d) {
		if f.ownBarrier(s, d) == nil {
			break
		}
		if s.level.acyclic(d) && !slices.ContainsFunc(calls, func(n int) bool { return !f.dom.Covers(d, n) }) {
			return []Point{f.near(d)}
		}
	}
	// Several tests, and the barrier's copies for threads that are known to have
	// no share.
	var from []int
	for _, s := range copies {
		gs := f.guards(s)
		if d := f.dom.Over(s.header); len(gs) == 0 && d >= 0 && s.level.acyclic(d) && !f.foreign(d) {
			gs = []int{d}
		}
		for _, n := range gs {
			if !slices.Contains(from, n) && f.ownBarrier(s, n) != nil {
				from = append(from, n)
			}
		}
	}
	if points := f.cover(from, calls, false); len(from) > 0 && points != nil {
		return points
	}
	// Else the barrier's calls count: one that follows a place before the loop is
	// the same execution.
	var points []Point
	for _, n := range from {
		points = append(points, f.near(n))
	}
	for _, n := range calls {
		i := f.g.Blocks[n].Last()
		if !i.Emulated {
			return nil
		}
		points = append(points, point(i))
	}
	return points
}

// cover completes the places before a loop, so that each way to the calls which
// follow every execution of it has exactly one; nil if that cannot be. The ways
// beside the loop are those of threads that are known to have no share; strict
// demands that nothing is decided on them, as a condition that the user wrote
// could be.
func (f *function) cover(from, calls []int, strict bool) (points []Point) {
	behind := map[int]bool{}
	for _, n := range from {
		for k := range f.reach(f.g.Blocks[n].Succs) {
			behind[k] = true
		}
		points = append(points, f.near(n))
	}
	if slices.ContainsFunc(from, func(n int) bool { return behind[n] }) {
		return nil // two of them on one way
	}
	beside := f.avoiding(from)
	for n := range beside {
		b := &f.g.Blocks[n]
		to := f.reach([]int{n})
		if behind[n] || !slices.ContainsFunc(calls, func(c int) bool { return to[c] }) {
			continue
		}
		if f.shared[n] {
			return nil // another loop's
		}
		if strict && b.Last().Kind == insn.Jcc {
			return nil
		}
		enters := slices.ContainsFunc(b.Succs, func(k int) bool { return behind[k] })
		switch {
		case slices.Contains(calls, n): // nothing but the call tells of the loop
			points = append(points, point(b.Last()))
		case enters && slices.ContainsFunc(b.Succs, func(k int) bool { return !behind[k] }):
			return nil
		case enters:
			points = append(points, f.near(n))
		}
	}
	for _, r := range f.g.Roots() {
		if behind[r] && !slices.Contains(from, r) && slices.ContainsFunc(calls, func(c int) bool { return f.reach([]int{r})[c] }) {
			return nil
		}
	}
	return points
}

// guards returns all tests for an empty share of a loop, where GCC made several
// of one.
func (f *function) guards(s *share) (gs []int) {
	for n := range f.g.Blocks {
		i := f.g.Blocks[n].Last()
		if flags := f.flow.Flags[i.Addr]; i.Kind != insn.Jcc || flags&byThread == 0 || f.foreign(n) || !s.level.acyclic(n) {
			continue
		}
		if !f.reach(f.g.Blocks[n].Succs)[s.header] {
			continue
		}
		if j := f.post.Over(n); j >= 0 && f.reach([]int{j})[s.header] {
			continue // its ways meet before the loop
		}
		gs = append(gs, n)
	}
	return gs
}

// foreign reports whether a block tests for the primary thread, as a master does.
func (f *function) foreign(n int) bool {
	i := f.g.Blocks[n].Last()
	return i.Kind == insn.Jcc && f.flow.Zero[i.Addr] == byThread
}

// avoiding returns the blocks that control can come to from the start of a
// segment without some blocks.
func (f *function) avoiding(without []int) map[int]bool {
	seen := map[int]bool{}
	for work := f.g.Roots(); len(work) > 0; {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		if !seen[n] && !slices.Contains(without, n) {
			seen[n] = true
			work = append(work, f.g.Blocks[n].Succs...)
		}
	}
	return seen
}

// enterNowait finds the places before a loop without a barrier, of which every
// thread comes by one per execution.
func (f *function) enterNowait(s *share) []Point {
	if s.guard >= 0 {
		if f.foreign(s.guard) {
			return nil
		}
		return []Point{f.near(f.zeroTrip(s))}
	}
	first := f.dom.Over(s.header)
	if first < 0 || !s.level.acyclic(first) || f.foreign(first) || !f.post.Covers(s.header, first) {
		return nil
	}
	if f.testedFirst(s.header) {
		return []Point{f.near(first)}
	}
	next := f.sync.after(s.header)
	if len(next) != 1 || next[0] == leaves {
		return nil
	}
	return f.cover([]int{first}, f.sync.copies(next[0]), true)
}

// near returns the last cheap instruction of a block, its very last one if
// there is none.
func (f *function) near(n int) Point {
	b := &f.g.Blocks[n]
	for _, i := range slices.Backward(b.Insts) {
		if i.Emulated && !i.Refused && i.Kind != insn.Nop {
			return point(i)
		}
	}
	return point(b.Last())
}

// testedFirst reports whether a loop decides at its beginning, also before the
// first iteration, whether the thread has a share (left): GCC does so at -O0.
func (f *function) testedFirst(header int) bool {
	b := &f.g.Blocks[header]
	return b.Last().Kind == insn.Jcc && f.flow.Flags[b.Last().Addr]&byThread != 0 && !slices.Contains(b.Succs, header)
}

// zeroTrip returns the test by which all threads skip a loop that is empty for
// the whole team, if there is one, else the test for an empty share: what it
// compares is the number of iterations, on which the share depends.
func (f *function) zeroTrip(s *share) int {
	const bounds insn.Taint = 1 << 2
	best := s.guard
	guard := f.g.Blocks[s.guard].Last().Addr
	join := f.post.Over(s.guard)
	for d := f.dom.Over(s.guard); d >= 0; d = f.dom.Over(d) {
		b := &f.g.Blocks[d]
		last := len(b.Insts) - 1
		if b.Last().Kind != insn.Jcc || !s.level.acyclic(d) || f.post.Over(d) != join || f.flow.Flags[b.Last().Addr]&byThread != 0 {
			continue
		}
		compare := -1
		for n := last - 1; n >= 0 && compare < 0; n-- {
			if b.Insts[n].Compares() {
				compare = n
			}
		}
		if compare < 0 {
			continue
		}
		at := b.Insts[compare].Addr
		flow := f.g.Trace(func(i insn.Inst) insn.Taint {
			if i.Addr == at {
				return bounds
			}
			return 0
		})
		if flow.Flags[guard]&bounds != 0 {
			best = d
		}
	}
	return best
}

// place fills in a loop's lines.
func (f *function) place(c *Construct, s *share, ds []symbols.Directive) {
	c.File = f.file
	if len(ds) > 0 {
		c.Begin, c.Last, c.Exact = ds[0].Begin, ds[0].End, true
		if len(ds) > 1 {
			c.Notes = append(c.Notes, fmt.Sprintf("GCC merged the loops of lines %s into this one, as they have the same bounds: its count is each one's, its times are the sum", lines(ds[1:])))
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

// ownBarrier returns the blocks that call the loop's own barrier, if that is the
// next thing that all threads do which come through block from.
func (f *function) ownBarrier(s *share, from int) (barriers []int) {
	var own []int
	in := make([]bool, len(f.g.Blocks))
	for _, n := range slices.Concat(s.cycles...) {
		in[n] = true
		for _, i := range f.g.Blocks[n].Insts {
			own = append(own, f.line(i.Addr))
		}
	}
	decides := s.decides()
	behind := f.reach(f.g.Blocks[decides].Succs)
	for n := range f.reach([]int{from}) {
		b := &f.g.Blocks[n]
		for _, i := range b.Insts {
			name, called := f.calls[i.Addr]
			switch {
			case strings.HasPrefix(name, "GOMP_barrier"):
				if f.explicit(i.Addr, own) {
					return nil
				}
				barriers = append(barriers, n)
			case divides(name):
				return nil // another construct comes first
			case strings.HasPrefix(name, "GOMP_atomic"): // a reduction
			case name == "omp_get_thread_num" && behind[n]:
				return nil
			case f.shared[n] && !in[n]:
				return nil // another loop comes first
			case called && !in[n] && behind[n] && f.post.Covers(n, decides):
				return nil // code of the user
			}
		}
		if b.Leaves && !divides(f.calls[b.Last().Addr]) && !f.noReturn(b) {
			return nil
		}
	}
	return barriers
}

// reach returns the blocks that control can come to from some, with these.
func (f *function) reach(from []int) map[int]bool {
	seen := map[int]bool{}
	for work := slices.Clone(from); len(work) > 0; {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		if !seen[n] {
			seen[n] = true
			work = append(work, f.g.Blocks[n].Succs...)
		}
	}
	return seen
}

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
