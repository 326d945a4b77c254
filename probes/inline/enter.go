package inline

import (
	"slices"

	"ompp-attach/probes/disasm"
	"ompp-attach/probes/disasm/taint"
)

// decides returns the block that decides whether a thread has a share.
func (s *share) decides() int {
	if s.guard >= 0 {
		return s.guard
	}
	return s.header
}

// enterToBarrier finds the points before a loop with a barrier. The loop is executed as often as
// its barrier, so each way to the barrier must have exactly one of these points.
func (f *function) enterToBarrier(copies []*share) []Point {
	s := copies[0]
	calls := f.sync.copies(f.ownBarrier(s, s.header)[0])
	first := s.guard
	if first < 0 {
		first = f.dom.Over(s.header)
	}
	// One point for all ways, if there is one.
	for d := first; d >= 0 && !f.foreign(d); d = f.dom.Over(d) {
		if f.ownBarrier(s, d) == nil {
			break
		}
		if s.level.acyclic(d) && !slices.ContainsFunc(calls, func(n int) bool { return !f.dom.Covers(d, n) }) {
			return []Point{f.near(d)}
		}
	}
	// Otherwise one point at each of several tests, and at copies of the barrier's call for threads
	// that are known to have no share.
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
	if f.alternatives(copies, calls) {
		return f.onePoint(from)
	}
	// Otherwise the barrier's calls count. A call that follows a point before the loop is the same
	// execution.
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

// cover adds points until each way to the calls that follow every execution of the loop has exactly
// one point. It returns nil if that is impossible. Ways beside the loop are taken by threads that
// are known to have no share. strict demands that no condition is evaluated on these ways, since
// the user may have written it.
func (f *function) cover(from, calls []int, strict bool) (points []Point) {
	behind := map[int]bool{}
	for _, n := range from {
		for k := range f.reach(f.g.Blocks[n].Succs) {
			behind[k] = true
		}
		points = append(points, f.near(n))
	}
	if slices.ContainsFunc(from, func(n int) bool { return behind[n] }) {
		return nil // two points on one way
	}
	leading := f.leading(calls)
	for n := range f.avoiding(from) {
		b := &f.g.Blocks[n]
		if behind[n] || !leading[n] {
			continue
		}
		if f.shared[n] {
			return nil // the call belongs to another loop
		}
		if strict && b.Last().Control == disasm.Jcc {
			return nil
		}
		enters := slices.ContainsFunc(b.Succs, func(k int) bool { return behind[k] })
		switch {
		case slices.Contains(calls, n): // only the call tells of the loop
			points = append(points, point(b.Last()))
		case enters && slices.ContainsFunc(b.Succs, func(k int) bool { return !behind[k] }):
			return nil
		case enters:
			points = append(points, f.near(n))
		}
	}
	for _, r := range f.g.Roots() {
		if behind[r] && !slices.Contains(from, r) && leading[r] {
			return nil
		}
	}
	return points
}

// alternatives reports whether one call is the barrier of this loop and of another loop that is
// executed instead. GCC merges such calls, as in the branches of an if. Then the call does not tell
// which loop it was.
func (f *function) alternatives(copies []*share, calls []int) bool {
	before, behind := f.leading(headers(copies)), f.reach(headers(copies))
	for n := range f.leading(calls) {
		if f.shared[n] && !before[n] && !behind[n] {
			return true
		}
	}
	return false
}

func headers(copies []*share) (hs []int) {
	for _, s := range copies {
		hs = append(hs, s.header)
	}
	return hs
}

// onePoint returns a point at each of some blocks, and none if one of them can come after another.
func (f *function) onePoint(from []int) (points []Point) {
	for _, n := range from {
		behind := f.reach(f.g.Blocks[n].Succs)
		if slices.ContainsFunc(from, func(k int) bool { return behind[k] }) {
			return nil
		}
		points = append(points, f.near(n))
	}
	return points
}

// guards returns all tests for an empty share of a loop: GCC may have made several of one.
func (f *function) guards(s *share) (gs []int) {
	leading := f.leading([]int{s.header})
	for n := range f.g.Blocks {
		i := f.g.Blocks[n].Last()
		if flags := f.flow.Flags[i.Addr]; i.Control != disasm.Jcc || flags&byThread == 0 || f.foreign(n) || !s.level.acyclic(n) {
			continue
		}
		if !slices.ContainsFunc(f.g.Blocks[n].Succs, func(k int) bool { return leading[k] }) {
			continue
		}
		if j := f.post.Over(n); j >= 0 && leading[j] {
			continue // its ways meet before the loop
		}
		gs = append(gs, n)
	}
	return gs
}

// foreign reports whether a block tests for the primary thread, as a master construct does.
func (f *function) foreign(n int) bool {
	i := f.g.Blocks[n].Last()
	return i.Control == disasm.Jcc && f.flow.Zero[i.Addr] == byThread
}

// avoiding returns the blocks that control can come to from the start of a segment without passing
// the blocks of without.
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

// enterNowait finds the points before a loop without a barrier. In each execution every thread
// passes exactly one of them.
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

// near returns the last cheap instruction of a block. If there is none, it returns the last one
// that may have a probe.
func (f *function) near(n int) Point {
	b := &f.g.Blocks[n]
	last := b.Last()
	for _, i := range slices.Backward(b.Insts) {
		if i.Emulated && i.Control != disasm.Nop {
			return point(i)
		}
		if last.Refused {
			last = i
		}
	}
	return point(last)
}

// testedFirst reports whether a loop decides at its beginning, also before the first iteration,
// whether the thread has work left. GCC does so at -O0.
func (f *function) testedFirst(header int) bool {
	b := &f.g.Blocks[header]
	return b.Last().Control == disasm.Jcc && f.flow.Flags[b.Last().Addr]&byThread != 0 && !slices.Contains(b.Succs, header)
}

// zeroTrip returns the test by which all threads skip a loop that is empty for the whole team. If
// there is none, it returns the test for an empty share. The former compares the number of
// iterations, on which the share depends.
func (f *function) zeroTrip(s *share) int {
	const bounds taint.Set = 1 << 2
	best := s.guard
	guard := f.g.Blocks[s.guard].Last().Addr
	join := f.post.Over(s.guard)
	for d := f.dom.Over(s.guard); d >= 0; d = f.dom.Over(d) {
		b := &f.g.Blocks[d]
		last := len(b.Insts) - 1
		if b.Last().Control != disasm.Jcc || !s.level.acyclic(d) || f.post.Over(d) != join || f.flow.Flags[b.Last().Addr]&byThread != 0 {
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
		flow := taint.Trace(f.g, func(i disasm.Inst) taint.Set {
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
