package regions

import (
	"cmp"
	"slices"

	"ompp-attach/event"
	"ompp-attach/symbols"
)

// unaligned places a construct by its call, if the construct's directive is not known.
func (b *builder) unaligned(r *Region, f *function, s *site) {
	file, line := s.place()
	r.File, r.Begin, r.BeginLast = file, line, line
	if s.hasIdent {
		r.Found |= ByIdent
		if s.flags&symbols.IdentSections != 0 {
			r.Construct = event.Sections
		}
	}
	if line == 0 {
		if s.hasIdent && s.flags&symbols.IdentBarrierImplicit != 0 {
			r.Implicit = true
		}
		return
	}
	r.Found |= ByLine
	gomp := s.runtime == event.Gomp
	switch s.construct {
	case event.Lock, event.NestLock:
		r.EndFirst, r.End = line, line
		return
	case event.Loop, event.Sections, event.Single, event.Ordered, event.Atomic:
		r.BeginNear = gomp
		if gomp && (s.construct == event.Single || s.construct == event.Ordered) {
			line = b.begin(f, s, file, line)
			r.Begin, r.BeginLast = line, line
		}
	case event.Barrier:
		r.Implicit = gomp && !b.isDirective(f, s) || s.flags&symbols.IdentBarrierImplicit != 0
		r.BeginNear = r.Implicit && gomp
		r.EndFirst, r.End = line, line
		return
	}
	r.End, r.EndNear = b.end(f, s, file, line), true
	r.EndFirst = r.End
}

// begin estimates the line of a construct, if GCC gave its call the line of the code before. The
// estimate is the line before the first line of the construct's body.
func (b *builder) begin(f *function, s *site, file string, line int) int {
	b.flow(f).ahead(s, func(frames []symbols.Frame) (directive, bool) {
		at, ok := atDepth(frames, s.frames)
		if !ok || at.File != file || at.Line == line {
			return directive{}, false
		}
		if at.Line < line || at.Line-line > 2 {
			line = max(1, at.Line-1)
		}
		return directive{}, true
	})
	return line
}

// flow returns the walker of a function.
func (b *builder) flow(f *function) *flow {
	if f.flow == nil {
		f.flow = newFlow(b.object, f)
	}
	return f.flow
}

// isDirective reports whether GCC made a call for a barrier directive. Such a call has its own row
// in the line table, with a line that no other code has. An implicit barrier has the line of the
// construct that it ends.
func (b *builder) isDirective(f *function, s *site) bool {
	if !s.own || len(s.frames) == 0 {
		return false
	}
	barriers := map[uint64]bool{}
	for _, t := range f.sites {
		barriers[t.Addr] = t.role == waits
	}
	for _, r := range f.rows(b.object) {
		if r.Line == s.frames[0].Line && r.File == s.frames[0].File && !barriers[r.Addr] {
			return false
		}
	}
	return true
}

// end estimates the last line of the construct that a call starts. It uses the lines of the code
// between this call and the calls that end or continue the construct, and the lines of the code
// after them.
func (b *builder) end(f *function, s *site, file string, line int) int {
	var closers []*site
	for _, t := range f.sites {
		if t.construct == s.construct && !t.Start && sameLock(s, t) {
			closers = append(closers, t)
		}
	}
	last := line
	inside := map[int]bool{}
	for _, k := range b.flow(f).between(s, closers) {
		if at, ok := atDepth(b.object.Frames(f.body[k].Addr), s.frames); ok && at.File == file {
			last = max(last, at.Line)
			inside[at.Line] = true
		}
	}
	if len(inside) == 0 {
		return line
	}
	next := 0
	for _, r := range f.rows(b.object) {
		if at, ok := atDepth(b.object.Frames(r.Addr), s.frames); ok && at.File == file && at.Line > last && (next == 0 || at.Line < next) {
			next = at.Line
		}
	}
	return closing(last, next)
}

// sameLock reports whether two calls may belong to one critical section.
func sameLock(a, b *site) bool {
	return a.lockName == "" || b.lockName == "" || a.lockName == b.lockName
}

// atDepth picks one of the inlined frames of an instruction. like are the frames of another
// instruction. The picked frame is of the same function as the innermost frame of like, and not of
// a callee or a caller.
func atDepth(frames, like []symbols.Frame) (symbols.Frame, bool) {
	n := len(frames) - len(like)
	if n < 0 || len(like) == 0 || frames[n].Declared != like[0].Declared {
		return symbols.Frame{}, false
	}
	return frames[n], true
}

// closing estimates the line that closes a construct. last is the line of the construct's last
// statement. next is the line of the statement after it (0: not known). Between the two stand
// closing braces, and perhaps blank lines and comments.
func closing(last, next int) int {
	switch gap := next - 1 - last; {
	case gap == 1, gap == 2:
		return last + 1
	case gap == 3:
		return last + 2
	case next == 0 || gap > 3:
		return last + 1
	}
	return last
}

// finish orders the regions by place: each region precedes the regions inside it. It also says how
// each region is measured.
func (t *Table) finish() {
	children := make([][]int, len(t.Regions))
	var roots []int
	for i, r := range t.Regions {
		if r.Parent < 0 {
			roots = append(roots, i)
		} else {
			children[r.Parent] = append(children[r.Parent], i)
		}
	}
	byPlace := func(a, b int) int {
		x, y := &t.Regions[a], &t.Regions[b]
		return cmp.Or(cmp.Compare(x.File, y.File), cmp.Compare(x.Begin, y.Begin), -cmp.Compare(x.End, y.End), cmp.Compare(x.First(), y.First()))
	}
	slices.SortStableFunc(roots, byPlace)
	var order []int // each region is followed by those inside it
	depth := make([]int, len(t.Regions))
	stack := slices.Clone(roots)
	slices.Reverse(stack)
	for len(stack) > 0 {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		order = append(order, i)
		slices.SortStableFunc(children[i], byPlace)
		for _, c := range slices.Backward(children[i]) {
			depth[c] = depth[i] + 1
			stack = append(stack, c)
		}
	}
	at := make([]int, len(order)) // new index by old
	sorted := make([]Region, len(order))
	for to, from := range order {
		at[from] = to
		sorted[to] = t.Regions[from]
		sorted[to].Depth = depth[from]
	}
	for i := range sorted {
		if p := sorted[i].Parent; p >= 0 {
			sorted[i].Parent = at[p]
		}
	}
	t.Regions = sorted
	for i := range t.Regions {
		r := &t.Regions[i]
		r.Measure, r.Why = measureOf(r)
	}
	t.index()
}

// First returns the lowest known address of a region's code. addr2line and gdb understand it.
func (r *Region) First() uint64 {
	switch {
	case r.Outlined != 0:
		return r.Outlined
	case r.At != 0:
		return r.At
	case len(r.Sites) > 0:
		return r.Sites[0].Addr
	}
	return r.Code
}
